/** What processes that only stand there ask of one server, by their number. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ContestantName } from "../contestants/contestant.js";
import type { FigureName, Figures } from "../figures.js";
import type { CaseResult, Target } from "../result.js";
import { ContestantProcess } from "../rig/contestant-process.js";
import { interleave } from "../rig/interleave.js";
import { sum } from "../rig/statistics.js";
import { asked, limit, measured, type Question, type Setting } from "./question.js";

/** Locks that are held, or waited for, in all processes together. */
const NAMES = 1_000;
const PROCESSES = [1, 10, 100] as const;
/** The default of holdfast. */
const TTL_MS = 30_000;
/** Leases are renewed, and waiters give signs of life, a third of the ttl apart. */
const WATCHED_SHARE = 0.4;
/** Idle consumers ask about once a second. */
const LEAST_WATCH_MS = 4_000;
/** What taking, asking and starting leaves to do is no part of standing. */
const SETTLE_MS = 1_500;
/** More at once only wait for the processor, which is that of the server as well. */
const STARTED_AT_ONCE = 8;
const HELPER_TTL_MS = 43_200_000;

type Processes = readonly ContestantProcess[];

interface Stand {
  readonly id: string;
  readonly title: string;
  /** Of a lease or a place in line; nothing has to last. */
  readonly ttlMs: number;
  begin(processes: Processes): Promise<void>;
}

/** So many processes that stand there. */
interface Standing {
  readonly stand: Stand;
  readonly count: number;
}

const STANDS: readonly Stand[] = [
  {
    ...{ id: "held", title: `${grouped(NAMES)} locks held`, ttlMs: TTL_MS },
    async begin(processes) {
      await each(processes, (process, place) =>
        process.do<"hold">({
          ...{ task: "hold", names: NAMES / processes.length, ttlMs: TTL_MS },
          prefix: `bench:held:${place}`,
        }),
      );
    },
  },
  {
    ...{ id: "waiting", title: `${grouped(NAMES)} callers in line`, ttlMs: TTL_MS },
    async begin(processes) {
      const names = Array.from({ length: NAMES }, (_, place) => `bench:taken:${place}`);
      await each(processes, (process, place) => {
        const own = names.filter((_, at) => at % processes.length === place);
        return process.do<"stand">({ task: "stand", names: own });
      });
    },
  },
  {
    ...{ id: "idle", title: "an idle consumer in each process", ttlMs: 0 },
    async begin(processes) {
      await each(processes, async (process) => {
        await process.do<"consume">({ task: "consume", queue: "bench:idle", concurrency: 1, messages: 0 });
        await process.do<"run">({ task: "run" });
      });
    },
  },
];

const COLUMNS: readonly FigureName[] = [
  "requestsPerSecond",
  "commandsPerSecond",
  "clientCpuPercent",
  "serverCpuPercent",
  "memoryEach",
];

const METHOD = `${grouped(NAMES)} locks are held by all processes together, or ${grouped(NAMES)} callers wait for locks that one more process holds, or each process has a
consumer of one queue, which stays empty. All have the default ttl of ${TTL_MS / 1_000} s. What is watched begins ${SETTLE_MS / 1_000} s later and lasts four times
--seconds, at least ${LEAST_WATCH_MS / 1_000} s, and ${WATCHED_SHARE} of the ttl. Requests and CPU are of all processes together, less the one that helps; memory is
what the server has allocated for each lock, caller or process, without the buffers of its clients. One round: the counts are those of every
round, within the chance of when a renewal is due.`;

export const standing: Question = {
  id: "standing",
  title: "Processes that only stand there",
  async ask(setting) {
    const cases: CaseResult[] = [];
    for (const stand of STANDS) {
      for (const count of PROCESSES) {
        const title = `${stand.title}, ${count === 1 ? "1 process" : `${count} processes`}`;
        const id = `${stand.id}-${count}`;
        cases.push(
          await interleave({
            plan: { id, title, primary: "requestsPerSecond", better: "less", columns: COLUMNS, floor: null },
            contestants: asked(setting, ["holdfast"]),
            rounds: 1,
            warmUp: false,
            watcher: setting.watcher,
            slice: (name) => slice(setting, name, { stand, count }),
          }),
        );
      }
    }
    return { id: "standing", title: this.title, method: METHOD, cases, targets: targetsOf(cases) };
  },
};

/** New processes each time: nothing that one did before is left in it. */
async function slice(setting: Setting, name: ContestantName, { stand, count }: Standing): Promise<Figures> {
  await setting.server.flush();
  const started: ContestantProcess[] = [];
  try {
    const [helper, ...processes] = await startAll(setting, { name, count: count + 1 }, started);
    await helper?.do<"hold">({ task: "hold", names: NAMES, prefix: "bench:taken", ttlMs: HELPER_TTL_MS });
    // A first look at the process: its connection, and the scripts of the server, are there before they are counted.
    await each(processes, (process) => process.do<"watch">({ task: "watch", ms: 1, stalls: false }));
    const bytesBefore = await setting.server.memoryBytes();
    await stand.begin(processes);
    await sleep(SETTLE_MS);
    const bytes = (await setting.server.memoryBytes()) - bytesBefore;
    const ms = Math.max(LEAST_WATCH_MS, WATCHED_SHARE * stand.ttlMs, 4 * setting.sliceMs);
    const { result: reports, server } = await setting.server.during(() =>
      Promise.all(processes.map((process) => process.do<"watch">({ task: "watch", ms, stalls: false }))),
    );
    return {
      requestsPerSecond: (sum(reports.map(({ requests }) => requests)) * 1_000) / ms,
      commandsPerSecond: (server.commands * 1_000) / ms,
      clientCpuPercent: (sum(reports.map(({ cpuMs }) => cpuMs)) / ms) * 100,
      serverCpuPercent: (server.cpuMs / ms) * 100,
      // What connections take would hide it in many processes, and in those that have no name.
      ...(count === 1 && stand.ttlMs > 0 && { memoryEach: bytes / NAMES }),
    };
  } finally {
    await Promise.all(started.map((process) => process.end()));
  }
}

/** @param started to be ended whatever happens */
async function startAll(
  setting: Setting,
  { name, count }: { readonly name: ContestantName; readonly count: number },
  started: ContestantProcess[],
): Promise<ContestantProcess[]> {
  while (started.length < count) {
    const next = Math.min(STARTED_AT_ONCE, count - started.length);
    const starting = Array.from({ length: next }, async () => {
      started.push(await ContestantProcess.start(name, setting.server.port));
    });
    // Each is known before any failure is told: who ends them all must not miss one.
    await Promise.allSettled(starting);
    await Promise.all(starting);
  }
  return started;
}

async function each(
  processes: Processes,
  work: (process: ContestantProcess, place: number) => Promise<unknown>,
): Promise<void> {
  await Promise.all(processes.map(work));
}

function grouped(count: number): string {
  return count.toLocaleString("en-US");
}

function targetsOf(cases: readonly CaseResult[]): Target[] {
  const requests = (found: number) => `${found.toFixed(1)} requests/s`;
  const of = (id: string) => measured(cases, id, "holdfast")?.figures.requestsPerSecond;
  return [
    limit("1,000 locks of 30 s in one process: at most 1 request/s", of("held-1"), 1, requests),
    limit("1,000 callers in line in one process: at most 3 requests/s", of("waiting-1"), 3, requests),
    limit("100 idle consumers: at most 200 requests/s", of("idle-100"), 200, requests),
  ];
}
