/** Whether the workloads draw everything that a program may call and give: a method or an option that no run has used was never tested there. */

import { planOf, runPlan, workloads } from "@holdfast/lab/sim";
import { expect, it } from "vitest";
import { Uses } from "./uses.js";

const MOST_SEEDS = 30;
const LONG_MS = 300_000;

/** Nothing of a run would show whether they work: conformance and the tests of their own do. */
const elsewhere: readonly RegExp[] = [
  // What an operator, a log or the library itself reads.
  /\.(toJSON|inspector|doctor|script|inspection|running)$/,
  /^(Inspector|RedisInspection)\.(?!forceRelease(Permits|RwLock)$)/,
  // What one server has and several have not: they throw.
  /^Redlock\.(adopt|semaphore|rwLock|limit|guard|record|once|election|queue|lanes|signal|event|latch|barrier)$/,
  // The iterators of streams end by their signal here.
  /^\.(return|throw)$/,
  // `holdfast/locks` for stores of one's own, and a second server.
  / of \[(label clock random|ttl maxHold localTurns lockDelay linger owner)\]$/,
  /^replica of /,
  // A name is handed over by its own lease.
  /^InnerLease\.handOver$/,
];

it("draws every method and option of every noun", { timeout: LONG_MS }, async () => {
  const uses = new Uses();
  const { holdfast, redlock } = await uses.library();
  const never = (): readonly string[] =>
    uses.never().filter((one) => !elsewhere.some((pattern) => pattern.test(one)));
  let seed = 0;
  do {
    seed += 1;
    for (const { name } of workloads) await runPlan(planOf(seed, name), { holdfast, redlock });
  } while (seed < MOST_SEEDS && never().length > 0);
  expect(never()).toEqual([]);
});
