/** Acquire and release, over and over, by several callers, for a given time. */
import { setTimeout as sleep } from "node:timers/promises";
import { requestsSent } from "../contestants/client.js";
import type { Contestant } from "../contestants/contestant.js";
import { collectYoung } from "./garbage.js";
import type { CyclesReport, CyclesTask } from "./messages.js";
import type { Work } from "./open-section.js";
import { openSection } from "./section.js";

const MANY = 1_000;

interface Tally {
  readonly perCaller: number[];
  /** When each turn began, by performance.now(). Null: nobody wants to know. */
  readonly turns: number[] | null;
  cycles: number;
  gaveUp: number;
  longestWaitMs: number;
  lastError: string | null;
}

export async function cycles(contestant: Contestant, task: CyclesTask, port: number): Promise<CyclesReport> {
  const section = await openSection(task.section, port);
  const tally: Tally = {
    perCaller: Array.from({ length: task.callers }, () => 0),
    turns: task.notesTurns ? [] : null,
    cycles: 0,
    gaveUp: 0,
    longestWaitMs: 0,
    lastError: null,
  };
  const names = namesOf(task);
  const counted = async () =>
    task.section.kind === "own" ? ((await contestant.count?.(names[0]?.[0] ?? "")) ?? Number.NaN) : 0;
  const from = await counted();
  collectYoung();
  await sleep(Math.max(0, Number(BigInt(task.startAtNs) - process.hrtime.bigint()) / 1e6));
  const requestsBefore = requestsSent();
  const cpuBefore = process.cpuUsage();
  const endsAt = performance.now() + task.ms;
  const { work } = section;
  const { writePercent = 100 } = task;
  await Promise.all(
    names.map((own, caller) => callOn({ contestant, own, caller, endsAt, work, writePercent, tally })),
  );
  const cpu = process.cpuUsage(cpuBefore);
  await section.close();
  const { turns, ...counts } = tally;
  // Both clocks are the machine's own, one of them counted from the start of this process.
  const startedAtMs = Number(process.hrtime.bigint()) / 1e6 - performance.now();
  return {
    ...counts,
    turnsAtMs: (turns ?? []).map((atMs) => startedAtMs + atMs),
    cpuMs: (cpu.user + cpu.system) / 1_000,
    requests: requestsSent() - requestsBefore,
    overlaps: section.overlaps(),
    counted: { from, to: await counted() },
    lostUpdates: section.lostUpdates(tally.cycles),
  };
}

function namesOf({ callers, names, prefix }: CyclesTask): string[][] {
  const many = names === "many" ? MANY : 1;
  return Array.from({ length: callers }, (_, caller) =>
    Array.from({ length: many }, (_, index) =>
      names === "hot" ? `${prefix}:hot` : `${prefix}:${caller}:${index}`,
    ),
  );
}

interface Caller {
  readonly contestant: Contestant;
  readonly own: readonly string[];
  readonly caller: number;
  readonly endsAt: number;
  readonly work: Work;
  readonly writePercent: number;
  readonly tally: Tally;
}

/** The caller calls a library that gives up again at once, as its user would; the wait goes on meanwhile. */
async function callOn({ contestant, own, caller, endsAt, work, writePercent, tally }: Caller): Promise<void> {
  let index = 0;
  let turn = caller;
  let waitsSince = performance.now();
  while (waitsSince < endsAt) {
    const name = own[index] as string;
    index = (index + 1) % own.length;
    turn += 1;
    const isWrite = (turn * writePercent) % 100 < writePercent;
    let held: unknown;
    for (;;) {
      try {
        held = await contestant.acquire(name, caller, isWrite);
        break;
      } catch (error) {
        tally.gaveUp += 1;
        tally.lastError = String(error);
        if (performance.now() < endsAt) continue;
        tally.longestWaitMs = Math.max(tally.longestWaitMs, performance.now() - waitsSince);
        return;
      }
    }
    const grantedAtMs = performance.now();
    tally.turns?.push(grantedAtMs);
    const waitedMs = grantedAtMs - waitsSince;
    if (waitedMs > tally.longestWaitMs) tally.longestWaitMs = waitedMs;
    if (work) await work(caller, isWrite);
    await contestant.release(held);
    tally.cycles += 1;
    waitsSince = performance.now();
    if (waitsSince <= endsAt) (tally.perCaller[caller] as number) += 1;
  }
}
