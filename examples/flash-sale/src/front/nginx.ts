/** nginx in front of the web servers. A keeper process owns it, so that it never outlives this one. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Unavailable } from "../failure.js";
import { freePort } from "./ports.js";

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

const VARIABLE = "HOLDFAST_NGINX";
/** Debian's nginx is not on every user's PATH. */
const SYSTEM_FOLDERS = ["/usr/sbin", "/usr/local/sbin"];
const INSTALL = `install the package "nginx" (1.19.5 or later)`;

/** HOLDFAST_NGINX names the program; set to nothing it says that there is none. */
function findNginx(): string | null {
  const named = process.env[VARIABLE];
  if (named !== undefined) return named && isProgram(named) ? named : null;
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), ...SYSTEM_FOLDERS];
  return folders.map((folder) => join(folder, "nginx")).find(isProgram) ?? null;
}

/** @throws {Unavailable} saying where it was looked for, and what to do. */
export function requireNginx(): string {
  const found = findNginx();
  if (found) return found;
  const named = process.env[VARIABLE];
  if (named === "")
    throw new Unavailable(`${VARIABLE} is empty, so there is no nginx: name it there, or unset it`);
  if (named !== undefined)
    throw new Unavailable(
      `no program at ${named}, where ${VARIABLE} says nginx is: correct it, or ${INSTALL}`,
    );
  const folders = SYSTEM_FOLDERS.join(" and ");
  throw new Unavailable(`no nginx on the PATH, nor in ${folders}: ${INSTALL}, or name it in ${VARIABLE}`);
}

/** The servers must listen already: a first failed request would take a server out for a second. */
export async function startNginx(setup: Omit<NginxSetup, "port">, port: number | null): Promise<Nginx> {
  const listenPort = port ?? (await freePort());
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
    const complaint = complaints.trim().split("\n", 1)[0] || "it says nothing";
    throw new Unavailable(`${setup.program} does not answer at ${url}: ${complaint}`);
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
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
