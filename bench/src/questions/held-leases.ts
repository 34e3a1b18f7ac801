/** L5: what it costs to go on holding many leases. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ContestantName } from "../contestants/contestant.js";
import type { FigureName, Figures } from "../figures.js";
import type { CaseResult, Target } from "../result.js";
import { ContestantProcess } from "../rig/contestant-process.js";
import { interleave } from "../rig/interleave.js";
import { asked, limit, measured, type Question, type Setting } from "./question.js";

const LEAST_WATCH_MS = 4_000;
/** Of the ttl: leases are renewed a third of it apart, so that each is at least once. */
const WATCHED_SHARE = 0.4;
/** A round takes long, and its figures hardly differ from round to round. */
const MOST_ROUNDS = 3;
/** Just taken: what that leaves to do is no part of holding. */
const SETTLE_MS = 500;

interface Case {
  readonly id: string;
  readonly title: string;
  readonly leases: number;
  readonly ttlMs: number;
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
    ttlMs: 2_000,
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
  many("50000", "50,000 leases of 2 s", 2_000),
  many("50000-default", "50,000 leases of 30 s, the default of holdfast", 30_000),
];

function many(id: string, title: string, ttlMs: number): Case {
  const contestants: readonly ContestantName[] = ["holdfast", "floor", "no-lock"];
  return { id, title, leases: 50_000, ttlMs, contestants, columns: [...COSTS, "takeMs"] };
}

const METHOD = `One process takes the leases, 250 at a time, and holds them; what is watched begins half a second later and lasts four times --seconds,
and at least ${LEAST_WATCH_MS / 1_000} s and ${WATCHED_SHARE} of the ttl; there are ${MOST_ROUNDS} rounds at most. By hand: one script for 1,000 names, a third of the ttl apart. redlock 4 has no renewal. A stall is the time
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
          rounds: Math.min(MOST_ROUNDS, setting.rounds),
          watcher: setting.watcher,
          warmUp: false,
          slice: (name) => slice(setting, name, each),
        }),
      );
    }
    return { id: "l5", title: this.title, method: METHOD, cases, targets: targetsOf(cases) };
  },
};

/** A new process each time: nothing held before is left in its memory. */
async function slice(setting: Setting, name: ContestantName, { leases, ttlMs }: Case): Promise<Figures> {
  await setting.server.flush();
  const holder = await ContestantProcess.start(name, setting.server.port);
  const ms = Math.max(LEAST_WATCH_MS, WATCHED_SHARE * ttlMs, 4 * setting.sliceMs);
  try {
    const before = await setting.server.figures();
    const prefix = `bench:${name}`;
    const { tookMs } = await holder.do<"hold">({ task: "hold", names: leases, prefix, ttlMs });
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
  const figuresOf = (id: string) => measured(cases, id, "holdfast")?.figures;
  const gone = (held: Figures | undefined) => held && (held.lost ?? 0) + (held.expired ?? 0);
  const lost = (found: number) => `${found} lost`;
  const few = figuresOf("5000");
  const requests = (found: number) => `${found.toFixed(1)} requests/s`;
  return [
    limit("L5, 5,000 leases: at most 10 requests/s", few?.requestsPerSecond, 10, requests),
    limit("L5, 5,000 leases: none lost", gone(few), 0, lost),
    ...[
      { what: "50,000 leases of 2 s", held: figuresOf("50000") },
      { what: "50,000 leases of 30 s", held: figuresOf("50000-default") },
    ].flatMap(({ what, held }) => [
      limit(`L5, ${what}: none lost`, gone(held), 0, lost),
      limit(
        `L5, ${what}: the event loop's worst stall under 20 ms`,
        held?.worstStallMs,
        20,
        (ms) => `${ms.toFixed(1)} ms, its own at most ${(held?.worstOwnStallMs ?? 0).toFixed(1)}`,
      ),
    ]),
  ];
}
