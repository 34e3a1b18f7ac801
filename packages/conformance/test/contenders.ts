/** Child processes that take part in cases. They run the compiled library, as users do. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  type Contender,
  type ContenderBody,
  type ContenderHands,
  contenderOf,
  launchModule,
  within,
} from "@holdfast/conformance";

interface Answer {
  readonly order: number;
  readonly value?: unknown;
  readonly error?: string;
}

const program = new URL("./contender.mjs", import.meta.url);

/** How long one that is dismissed may take to close what it has opened. */
const LEAVE_TIMEOUT_MS = 2_000;

/**
 * Those of one server. To start one costs more than all that it does in a case, so those that a case leaves alive
 * go on in the next one: in the same process, with another client and another Holdfast.
 */
export class Contenders {
  readonly #caFile: string | undefined;
  readonly #idle: ContenderProcess[] = [];

  /** @param caFile The authority that a process trusts which has no more than a rediss:// URL. */
  constructor(caFile?: string) {
    this.#caFile = caFile;
  }

  /** @param urls of one server, or of all nodes of a Redlock */
  async spawn(urls: readonly string[], prefix: string): Promise<Contender> {
    const contender = this.#idle.pop() ?? new ContenderProcess(this.#caFile, (one) => this.#idle.push(one));
    await contender.start(urls, prefix);
    return contenderOf(contender);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#idle.map((contender) => contender.kill()));
  }
}

class ContenderProcess implements ContenderBody {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  readonly #onIdle: (self: ContenderProcess) => void;
  readonly #open = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  #orders = 0;
  #frozen = false;

  constructor(caFile: string | undefined, onIdle: (self: ContenderProcess) => void) {
    this.#onIdle = onIdle;
    this.#child = launchModule(program, [], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      serialization: "advanced",
      execArgv: [],
      env: { ...process.env, ...(caFile ? { NODE_EXTRA_CA_CERTS: caFile } : {}) },
    });
    this.#exited = once(this.#child, "exit");
    this.#child.on("message", ({ order, value, error }: Answer) => {
      const caller = this.#open.get(order);
      this.#open.delete(order);
      if (error === undefined) caller?.resolve(value);
      else caller?.reject(new Error(`in the contender: ${error}`));
    });
    this.#child.on("exit", () => {
      for (const { reject } of this.#open.values()) reject(new Error("the contender is gone"));
    });
  }

  async start(urls: readonly string[], prefix: string): Promise<void> {
    await this.#ask("start", { urls, prefix });
  }

  async perform<Argument, Result>(
    work: (hands: ContenderHands, argument: Argument) => Promise<Result> | Result,
    argument: Argument,
  ): Promise<Result> {
    return (await this.#ask("perform", { work: String(work), argument })) as Result;
  }

  async freeze(): Promise<void> {
    this.#frozen = true;
    this.#child.kill("SIGSTOP");
  }

  async thaw(): Promise<void> {
    this.#frozen = false;
    this.#child.kill("SIGCONT");
  }

  async exit(): Promise<void> {
    this.#child.send({ order: 0, verb: "exit" });
    await this.#exited;
  }

  async kill(): Promise<void> {
    if (!this.#lives) return;
    this.#child.kill("SIGKILL");
    await this.#exited;
  }

  async dismiss(): Promise<void> {
    if (!this.#lives) return;
    try {
      if (this.#frozen) throw new Error("it cannot leave");
      await within(this.#ask("leave"), "the contender leaves", LEAVE_TIMEOUT_MS);
      this.#onIdle(this);
    } catch {
      await this.kill();
    }
  }

  get #lives(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  #ask(verb: string, terms: object = {}): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const order = ++this.#orders;
      this.#open.set(order, { resolve, reject });
      this.#child.send({ order, verb, ...terms }, (error) => error && reject(error));
    });
  }
}
