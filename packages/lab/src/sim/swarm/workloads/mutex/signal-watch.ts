/** L6: the signal of a lease aborts when the lease is over, whatever its holder waits for, and not before. */
import { LeaseLostError } from "holdfast";
import type { Process } from "../../../process.js";
import { planned } from "../../scene.js";
import type { Belief } from "./belief.js";
import type { LockScene } from "./plan.js";

/** A signal may be late by this much. */
const promptMs = 20;
/** And by this where a clock was set, or stood still, while it lasted: that is looked for once a second. */
const lateMs = 1_100;
/** Clocks are compared to the millisecond. */
const earlyMs = 2;

/** The clocks of a process when a look was taken. */
interface Look {
  readonly monoMs: number;
  readonly wallMs: number;
  readonly setBackMs: number;
}

/** Watches until the lease is given back. */
export function watchSignal(scene: LockScene, belief: Belief): void {
  const { process, lease, caller } = belief;
  const { signal } = lease;
  belief.signal = signal;
  const sinceMs = process.monoMs;
  const maxHoldMs = scene.lives.get(planned(process.name))?.plan.maxHoldMs ?? Number.POSITIVE_INFINITY;
  let heldUpMs = process.heldUpMs;
  let look: Look & { readonly leftMs: number } = { leftMs: 0, monoMs: 0, wallMs: 0, setBackMs: 0 };
  // One that was asked for before its process stood still was under way meanwhile.
  const isOlder = process.nowMs - process.wokenMs < lateMs;
  const mayLateMs = isOlder ? lateMs : promptMs;
  const again = (inMs: number): void => {
    const about = { owner: process, kind: "other", quiet: false } as const;
    scene.world.events.add(process.nowMs + inMs, check, about);
  };
  const watch = (): void => {
    if (signal.aborted) return;
    heldUpMs = process.heldUpMs;
    const leftMs = lease.remainingMs;
    // Given back, or seen to be over this moment: a look makes it known.
    if (leftMs <= 0) return;
    look = { leftMs, monoMs: process.monoMs, wallMs: process.wallMs, setBackMs: process.setBackMs };
    again(leftMs / Math.min(1, process.rate) + mayLateMs + earlyMs);
  };
  const check = (): void => {
    if (signal.aborted || belief.isOver) return;
    if (process.heldUpMs > heldUpMs || process.nowMs - process.steppedMs < lateMs) {
      heldUpMs = process.heldUpMs;
      again(lateMs); // it has not looked since
      return;
    }
    // To ask is a look at the clock, and that may stall.
    if (lease.remainingMs > 0) watch();
    else if (
      process.heldUpMs === heldUpMs &&
      lateBy(signal.reason, process.monoMs - sinceMs - maxHoldMs) > mayLateMs
    )
      scene.fail("L6", `the signal of ${caller} did not say in time that its lease was over`);
  };
  signal.addEventListener("abort", () => {
    if (!(signal.reason instanceof LeaseLostError) || signal.reason.reason !== "expired") return;
    const leftMs = look.leftMs - agedSince(look, process);
    if (leftMs > earlyMs)
      scene.fail("L6", `the lease of ${caller} expired ${leftMs.toFixed(1)} ms before its time`);
    const overdueMs = Math.min(
      signal.reason.lateMs,
      process.nowMs - Math.max(process.steppedMs, process.wokenMs),
    );
    if (overdueMs > lateMs)
      scene.fail(
        "L6",
        `the signal of ${caller} said ${overdueMs.toFixed(1)} ms late that its lease was over`,
      );
  });
  watch();
}

/** By how much a lease may be older now, by the clock of its process that has gone further. */
function agedSince(look: Look, { monoMs, wallMs, setBackMs }: Process): number {
  // What goes ahead after a step back, in a step or in a suspension, counts in full for a lease that was renewed between.
  const wallAgedMs = wallMs - look.wallMs + (setBackMs - look.setBackMs);
  return Math.max(monoMs - look.monoMs, wallAgedMs);
}

/** A look at the lease made it known: for how long was that due? */
function lateBy(reason: unknown, overLimitMs: number): number {
  if (!(reason instanceof LeaseLostError)) return Number.POSITIVE_INFINITY;
  return reason.reason === "max-hold" ? overLimitMs : reason.lateMs;
}
