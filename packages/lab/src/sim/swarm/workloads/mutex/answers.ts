/** Answers: what a call says must be so. */
import { HoldfastError, type Lease, LeaseReleasedError, type ReleaseResult } from "holdfast";
import { planned } from "../../scene.js";
import type { Belief } from "./belief.js";
import type { LockScene } from "./plan.js";

/** Clocks are compared to the millisecond, and timers are. */
const earlyMs = 2;

/** L6: a hold that has a limit ends there, renewed or not. */
export function judgeLimit(
  scene: LockScene,
  { caller, process, lease }: Belief,
  since: { monoMs: number },
): void {
  const { maxHoldMs = null } = scene.lives.get(planned(process.name))?.plan ?? {};
  const heldMs = process.monoMs - since.monoMs;
  if (maxHoldMs !== null && heldMs > maxHoldMs + earlyMs && lease.valid)
    scene.fail("L6", `${caller} holds for ${heldMs.toFixed(1)} ms, of ${maxHoldMs}, and its lease is valid`);
}

/** L3: whoever has seen a token is given a larger one. */
export function judgeFloor(scene: LockScene, caller: string, lease: Lease, floor: bigint | undefined): void {
  if (floor !== undefined && lease.fence <= floor)
    scene.fail("L3", `${caller} asked for more than ${floor}, and was granted ${lease.fence}`);
}

/** L8: what check() says of a lease that was given back. */
export function judgeOver(scene: LockScene, { caller, lease, lock }: Belief, result: ReleaseResult): void {
  try {
    lease.check();
  } catch (error) {
    const isToldApart =
      result === "released" ? error instanceof LeaseReleasedError : error instanceof HoldfastError;
    if (!isToldApart)
      scene.fail("L8", `${caller} gave "${lock}" back (${result}), and its check() threw ${String(error)}`);
    return;
  }
  scene.fail("L8", `${caller} gave "${lock}" back, and its check() says that it holds`);
}
