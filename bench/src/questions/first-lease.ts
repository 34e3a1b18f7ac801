/** How long a new process takes to its first lease, and what a library does when it is only imported. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { againstFolder, isBefore } from "../contestants/before.js";
import type { ContestantName } from "../contestants/contestant.js";
import { PEERS } from "../contestants/roster.js";
import type { Figures } from "../figures.js";
import type { CaseResult, Target } from "../result.js";
import { interleave } from "../rig/interleave.js";
import { asked, limit, measured, type Question } from "./question.js";

const FOLDER = fileURLToPath(new URL("../..", import.meta.url));
const PROCESS_TIMEOUT_MS = 60_000;
const run = promisify(execFile);

/** The package, and the least that takes a lock with the `library` and gives back how to release it. */
interface Program {
  readonly specifier: string;
  readonly acquire: string;
}

const PROGRAMS: Readonly<Partial<Record<ContestantName, Program>>> = {
  holdfast: {
    specifier: "holdfast",
    acquire: `const hf = new library.Holdfast(client);
      const lease = await hf.mutex("name").acquire();
      return async () => { await lease.release(); await hf.close(); };`,
  },
  redlock4: {
    specifier: "redlock4",
    acquire: `const lock = await new library.default([client]).lock("name", 10000); return () => lock.unlock();`,
  },
  redlock5: {
    specifier: "redlock5",
    acquire: `const lock = await new library.default([client]).acquire(["name"], 10000); return () => lock.release();`,
  },
  "redis-semaphore": {
    specifier: "redis-semaphore",
    acquire: `const mutex = new library.Mutex(client, "name"); await mutex.acquire(); return () => mutex.release();`,
  },
  "redlock-universal": {
    specifier: "redlock-universal",
    acquire: `const lock = library.createLock({ adapter: new library.IoredisAdapter(client), key: "name" });
      const handle = await lock.acquire(); return () => lock.release(handle);`,
  },
  "sesamecare-redlock": {
    specifier: "@sesamecare-oss/redlock",
    acquire: `const lock = await new library.Redlock([client]).acquire(["name"], 10000); return () => lock.release();`,
  },
};

const METHOD = `A new process for each slice. Its ioredis client is connected before the clock starts, so that neither the client's
files nor the connection count. Then the library is imported, made with the client, and takes a free name: the time to
the first lease is the time of these three. On import: timers and sockets that exist after it and did not before.`;

export const firstLease: Question = {
  id: "first-lease",
  title: "The first lease of a process",
  async ask(setting) {
    const result = await interleave({
      plan: {
        id: "mutex",
        title: "import, make, acquire a free name",
        primary: "firstLeaseMs",
        better: "less",
        columns: ["firstLeaseMs", "importMs", "timers", "sockets"],
        floor: null,
      },
      contestants: asked(setting, ["holdfast", ...PEERS]),
      rounds: setting.rounds,
      watcher: setting.watcher,
      slice: (name) => measure(name, setting.server.port),
    });
    return {
      id: "first-lease",
      title: this.title,
      method: METHOD,
      cases: [result],
      targets: targetsOf([result]),
    };
  },
};

async function measure(name: ContestantName, port: number): Promise<Figures> {
  // Whatever is imported is found from the folder of its process.
  const [own, cwd] = isBefore(name) ? (["holdfast", againstFolder()] as const) : [name, FOLDER];
  const program = PROGRAMS[own];
  if (!program) throw new Error(`${name} has no program for a first lease`);
  const text = `
    import { Redis } from "ioredis";
    const client = new Redis({ port: ${port} });
    await client.ping();
    const acquire = async (library) => { ${program.acquire} };
    const resources = process.getActiveResourcesInfo();
    const startMs = performance.now();
    const library = await import(${JSON.stringify(program.specifier)});
    const importedMs = performance.now();
    const started = process.getActiveResourcesInfo();
    const resumedMs = performance.now();
    const release = await acquire(library);
    const leasedMs = performance.now();
    for (const resource of resources) if (started.includes(resource)) started.splice(started.indexOf(resource), 1);
    await release();
    client.disconnect();
    const importMs = importedMs - startMs;
    console.log(JSON.stringify({ importMs, firstLeaseMs: importMs + leasedMs - resumedMs, started }));`;
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", text], {
    cwd,
    timeout: PROCESS_TIMEOUT_MS,
  });
  const { importMs, firstLeaseMs, started } = JSON.parse(stdout) as {
    importMs: number;
    firstLeaseMs: number;
    started: string[];
  };
  const timers = started.filter((resource) => /^(Timeout|Immediate)$/.test(resource)).length;
  const sockets = started.filter((resource) => /TCP|UDP|Pipe|TLS/.test(resource)).length;
  return { importMs, firstLeaseMs, timers, sockets };
}

function targetsOf(cases: readonly CaseResult[]): Target[] {
  const own = measured(cases, "mutex", "holdfast")?.figures;
  const started = own && (own.timers ?? 0) + (own.sockets ?? 0);
  return [
    limit("First lease: within 16 ms", own?.firstLeaseMs, 16, (ms) => `${ms.toFixed(1)} ms`),
    limit("First lease: the import starts nothing", started, 0, (count) => `${count} timers and sockets`),
  ];
}
