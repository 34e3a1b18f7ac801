/** Child processes that take part in cases. They run the compiled library, as users do. */
import { fork } from "node:child_process";
import { once } from "node:events";
import type { Contender } from "@holdfast/conformance";

interface Answer {
  readonly order: number;
  readonly value?: unknown;
  readonly error?: string;
}

const program = new URL("./contender.mjs", import.meta.url);

/** @param caFile The authority that a process trusts which has no more than a rediss:// URL. */
export async function spawnContender(url: string, prefix: string, caFile?: string): Promise<Contender> {
  const child = fork(program, [url, prefix], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    execArgv: [],
    env: { ...process.env, ...(caFile ? { NODE_EXTRA_CA_CERTS: caFile } : {}) },
  });
  const exited = once(child, "exit");
  const open = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  let orders = 0;
  child.on("message", ({ order, value, error }: Answer) => {
    const caller = open.get(order);
    open.delete(order);
    if (error === undefined) caller?.resolve(value);
    else caller?.reject(new Error(`in the contender: ${error}`));
  });
  child.on("exit", () => {
    for (const { reject } of open.values()) reject(new Error("the contender is gone"));
  });
  const ask = (verb: string, terms: object = {}): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const order = ++orders;
      open.set(order, { resolve, reject });
      child.send({ order, verb, ...terms }, (error) => error && reject(error));
    });
  await ask("start");
  return {
    async acquire(terms) {
      const fence = await ask("acquire", terms);
      return fence === null ? null : BigInt(String(fence));
    },
    release: async () => String(await ask("release")),
    count: async (terms) => void (await ask("count", terms)),
    holds: async () => (await ask("holds")) === true,
    freeze: async () => void child.kill("SIGSTOP"),
    thaw: async () => void child.kill("SIGCONT"),
    async exit() {
      child.send({ order: 0, verb: "exit" });
      await exited;
    },
    async kill() {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill("SIGKILL");
        await exited;
      }
    },
  };
}
