/** L5 of every moment, not only of the last: a lease ends for its holder before it ends at the node. */
import type { Lease } from "holdfast";
import type { Process } from "../../../process.js";
import { planned } from "../../scene.js";
import type { LockScene } from "./plan.js";

/** What is allowed for clocks at different rates: 1 % of the ttl, and 2 ms. */
const driftShare = 0.01;
const driftMs = 2;
/** The server counts whole milliseconds, from and to. */
const wholeMs = 1.5;

interface Holding {
  readonly caller: string;
  readonly process: Process;
  readonly lease: Lease;
}

/** @param keptMs for how long the node will keep it from now on */
export function judgeDeadline(scene: LockScene, { caller, process, lease }: Holding, keptMs: number): void {
  const leftMs = lease.remainingMs;
  const plan = scene.lives.get(planned(process.name))?.plan;
  // A look at the clock may stall, and the node goes on.
  if (!plan || !process.isAwake || leftMs <= 0) return;
  const allowedMs = plan.ttlMs * driftShare + driftMs;
  const aheadMs = keptMs - plan.lockDelayMs - leftMs;
  const atLeastMs = (isUneven(scene, plan.name, plan.ttlMs) ? 0 : allowedMs) - wholeMs;
  if (aheadMs < atLeastMs)
    scene.fail("L5", `the lease of ${caller} ends ${aheadMs.toFixed(1)} ms before that of the node`);
}

/** Its clock, or the node's, had another rate while the lease lasted. */
function isUneven({ plan, world: { nowMs } }: LockScene, name: string, ttlMs: number): boolean {
  return plan.faults.some(
    ({ kind, target, atMs, forMs }) =>
      (kind === "clock rate" || (kind === "rate of a process" && target === name)) &&
      atMs <= nowMs &&
      nowMs <= atMs + forMs + ttlMs,
  );
}
