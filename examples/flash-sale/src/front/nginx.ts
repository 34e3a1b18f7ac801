/** nginx in front of the web servers. A keeper process owns it, so that it never outlives this one. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants } from "node:fs";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

export interface NginxSetup {
  readonly program: string;
  readonly port: number;
  readonly serverPorts: readonly number[];
}

export interface Nginx {
  readonly url: string;
  stop(): Promise<void>;
}

/** nginx takes well under a second; this is for a machine with its hands full. */
const START_MS = 10_000;
const PROBE_MS = 20;

/** HOLDFAST_NGINX names the program; set to nothing it says that there is none. Debian's is not on every user's PATH. */
export function findNginx(): string | null {
  const named = process.env["HOLDFAST_NGINX"];
  if (named !== undefined) return named && isProgram(named) ? named : null;
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/usr/local/sbin"];
  return folders.map((folder) => join(folder, "nginx")).find(isProgram) ?? null;
}

/** The servers must listen already: a first failed request would take a server out for a second. */
export async function startNginx(setup: Omit<NginxSetup, "port">, port: number): Promise<Nginx> {
  const listenPort = port || (await freePort());
  const keeperFile = fileURLToPath(new URL("./nginx-keeper.js", import.meta.url));
  const keeper = fork(keeperFile, [], { execArgv: [], stdio: ["ignore", "ignore", "pipe", "ipc"] });
  let complaints = "";
  keeper.stderr?.on("data", (chunk) => {
    complaints = `${complaints}${chunk}`.slice(-2_000);
  });
  const gone = once(keeper, "exit");
  keeper.send({ ...setup, port: listenPort } satisfies NginxSetup);
  const url = `http://127.0.0.1:${listenPort}`;
  if (!(await answers(url, keeper))) {
    keeper.kill();
    await gone;
    throw new Error(`nginx does not answer at ${url}\n${complaints.trim()}`);
  }
  return {
    url,
    stop: async () => {
      if (keeper.connected) keeper.disconnect();
      await gone;
    },
  };
}

async function answers(url: string, keeper: ChildProcess): Promise<boolean> {
  const deadline = AbortSignal.timeout(START_MS);
  while (keeper.exitCode === null && !deadline.aborted) {
    const status = await fetch(`${url}/healthz`, { signal: deadline }).then(
      (response) => response.status,
      () => 0,
    );
    if (status === 204) return true;
    await sleep(PROBE_MS);
  }
  return false;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  if (address === null || typeof address === "string") throw new Error("no free port");
  return address.port;
}
