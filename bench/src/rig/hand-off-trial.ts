/** One slice of hand-offs between two processes: names go back and forth, and each time it is measured how long that took. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Figures } from "../figures.js";
import type { ContestantProcess } from "./contestant-process.js";
import { quantile, sum } from "./statistics.js";

/** Names that go back and forth at the same time, mostly waiting: a polling peer takes a fifth of a second for one. */
export const LANES = 4;
/** Drawn for each hand-off, so that no interval of polling is met at the same point every time. */
export const HOLD_MS = { least: 20, most: 320 };

export async function handOffSlice(processes: readonly ContestantProcess[], ms: number): Promise<Figures> {
  const [one, other] = processes;
  if (!one || !other) throw new Error("a hand-off needs two processes");
  const endsAt = performance.now() + ms;
  const perLane = await Promise.all(
    Array.from({ length: LANES }, (_, lane) => passOn(one, other, lane, endsAt)),
  );
  return {
    ...latencies(perLane.flatMap((lane) => lane.tookMs)),
    gaveUp: sum(perLane.map((lane) => lane.gaveUp)),
  };
}

export function latencies(tookMs: readonly number[]): Figures {
  return {
    p50Ms: quantile(tookMs, 0.5),
    p99Ms: quantile(tookMs, 0.99),
    worstMs: Math.max(...tookMs),
    samples: tookMs.length,
  };
}

/** From one time of `process.hrtime` to another, of any processes of this machine. */
export function betweenMs(fromNs: string, toNs: string): number {
  return Number(BigInt(toNs) - BigInt(fromNs)) / 1e6;
}

async function passOn(
  one: ContestantProcess,
  other: ContestantProcess,
  lane: number,
  endsAt: number,
): Promise<{ readonly tookMs: number[]; readonly gaveUp: number }> {
  const name = `bench:${one.name}:lane:${lane}`;
  const tookMs: number[] = [];
  let gaveUp = 0;
  let [holder, waiter] = [one, other];
  await holder.do<"acquire">({ task: "acquire", name, lane });
  do {
    const acquired = waiter.do<"acquire">({ task: "acquire", name, lane });
    await sleep(HOLD_MS.least + Math.random() * (HOLD_MS.most - HOLD_MS.least));
    const { releasedAtNs } = await holder.do<"release">({ task: "release", lane });
    const report = await acquired;
    tookMs.push(betweenMs(releasedAtNs, report.acquiredAtNs));
    gaveUp += report.gaveUp;
    [holder, waiter] = [waiter, holder];
  } while (performance.now() < endsAt);
  await holder.do<"release">({ task: "release", lane });
  return { tookMs, gaveUp };
}
