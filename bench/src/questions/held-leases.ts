/** L5: what it costs to go on holding many leases. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ContestantName } from "../contestants/contestant.js";
import type { FigureName, Figures } from "../figures.js";
import type { CaseResult, Target } from "../result.js";
import { ContestantProcess } from "../rig/contestant-process.js";
import { interleave } from "../rig/interleave.js";
import { asked, limit, measured, type Question, type Setting } from "./question.js";

const TTL_MS = 2_000;
/** All leases are renewed some times within it. */
const LEAST_WATCH_MS = 2 * TTL_MS;
/** Just taken: what that leaves to do is no part of holding. */
const SETTLE_MS = 500;

interface Case {
  readonly id: string;
  readonly title: string;
  readonly leases: number;
  readonly contestants: readonly ContestantName[];
  readonly columns: readonly FigureName[];
}

const COSTS: readonly FigureName[] = [
  "requestsPerSecond",
  "commandsPerSecond",
  "clientCpuPercent",
  "serverCpuPercent",
  "worstStallMs",
  "worstOwnStallMs",
  "lost",
  "expired",
];

const CASES: readonly Case[] = [
  {
    id: "5000",
    title: "5,000 leases of 2 s",
    leases: 5_000,
    contestants: [
      "holdfast",
      "floor",
      "redlock5",
      "redis-semaphore",
      "redlock-universal",
      "sesamecare-redlock",
    ],
    columns: COSTS,
  },
  {
    id: "50000",
    title: "50,000 leases of 2 s",
    leases: 50_000,
    contestants: ["holdfast", "floor", "no-lock"],
    columns: [...COSTS, "takeMs"],
  },
];

const METHOD = `One process takes the leases, 250 at a time, and holds them; what is watched begins half a second later and lasts four times --seconds,
${LEAST_WATCH_MS / 1_000} s at least. By hand: one script for 1,000 names, a third of the ttl apart. redlock 4 has no renewal. A stall is the time
by which a timer of a millisecond was late; "own" is how much of it this process computed, as on a busy machine other
programs make stalls too: "no lock" shows those. Expired at the server: keys that ran out while they were held.`;

export const heldLeases: Question = {
  id: "l5",
  title: "L5: leases held",
  async ask(setting) {
    const cases: CaseResult[] = [];
    for (const each of CASES) {
      const { id, title, columns } = each;
      cases.push(
        await interleave({
          plan: { id, title, primary: "requestsPerSecond", better: "less", columns, floor: "floor" },
          contestants: asked(setting, each.contestants),
          rounds: setting.rounds,
          watcher: setting.watcher,
          warmUp: false,
          slice: (name) => slice(setting, name, each.leases),
        }),
      );
    }
    return { id: "l5", title: this.title, method: METHOD, cases, targets: targetsOf(cases) };
  },
};

/** A new process each time: nothing held before is left in its memory. */
async function slice(setting: Setting, name: ContestantName, leases: number): Promise<Figures> {
  await setting.server.flush();
  const holder = await ContestantProcess.start(name, setting.server.port);
  const ms = Math.max(LEAST_WATCH_MS, 4 * setting.sliceMs);
  try {
    const before = await setting.server.figures();
    const prefix = `bench:${name}`;
    const { tookMs } = await holder.do<"hold">({ task: "hold", names: leases, prefix, ttlMs: TTL_MS });
    await sleep(SETTLE_MS);
    const { result, server } = await setting.server.during(() => holder.do<"watch">({ task: "watch", ms }));
    const { lost } = await holder.do<"let-go">({ task: "let-go" });
    return {
      requestsPerSecond: (result.requests * 1_000) / ms,
      commandsPerSecond: (server.commands * 1_000) / ms,
      clientCpuPercent: (result.cpuMs / ms) * 100,
      serverCpuPercent: (server.cpuMs / ms) * 100,
      worstStallMs: result.worstStallMs,
      worstOwnStallMs: result.worstOwnStallMs,
      lost,
      expired: (await setting.server.figures()).expiredKeys - before.expiredKeys,
      takeMs: tookMs,
    };
  } finally {
    await holder.end();
  }
}

function targetsOf(cases: readonly CaseResult[]): Target[] {
  const few = measured(cases, "5000", "holdfast")?.figures;
  const many = measured(cases, "50000", "holdfast")?.figures;
  const requests = (found: number) => `${found.toFixed(1)} requests/s`;
  const gone = (held: Figures | undefined) => held && (held.lost ?? 0) + (held.expired ?? 0);
  const lost = (found: number) => `${found} lost`;
  return [
    limit("L5, 5,000 leases: at most 10 requests/s", few?.requestsPerSecond, 10, requests),
    limit("L5, 5,000 leases: none lost", gone(few), 0, lost),
    limit("L5, 50,000 leases: none lost", gone(many), 0, lost),
    limit(
      "L5, 50,000 leases: the event loop's worst stall under 20 ms",
      many?.worstStallMs,
      20,
      (ms) => `${ms.toFixed(1)} ms, of which ${(many?.worstOwnStallMs ?? 0).toFixed(1)} its own`,
    ),
  ];
}
