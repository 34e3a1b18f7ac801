/** Answers: what a call says must be so, and comes neither late nor early on the clock of whoever called. */
import { HoldfastError, type Lease, LeaseReleasedError, type ReleaseResult } from "holdfast";
import type { Process } from "../process.js";
import type { Belief } from "./beliefs.js";
import { holderAt, namedAt, planned, type Scene } from "./scene.js";

/** Slower than this on its own clock, besides the time in which the process stood still, a call breaks P3. */
const slackMs = 60;
/** Clocks are compared to the millisecond, and timers are. */
const earlyMs = 2;

/** A call under way. */
export class Timed {
  readonly #scene: Scene;
  readonly #process: Process;
  readonly #what: string;
  readonly #timeoutMs: number;
  readonly #since: {
    readonly monoMs: number;
    readonly heldUpMs: number;
    readonly heldUpMonoMs: number;
    readonly atMs: number;
    readonly heard: number;
  };
  /** When its caller had enough of it. */
  #abortedMs: number | null = null;

  /** @param timeoutMs how long the call may take on the caller's clock */
  constructor(scene: Scene, process: Process, what: string, timeoutMs: number) {
    this.#scene = scene;
    this.#process = process;
    this.#what = what;
    this.#timeoutMs = timeoutMs;
    const { monoMs, heldUpMs, heldUpMonoMs, nowMs: atMs } = process;
    this.#since = { monoMs, heldUpMs, heldUpMonoMs, atMs, heard: scene.link(process).heard };
  }

  aborted(): void {
    this.#abortedMs = this.#tookMs();
  }

  /** P3: a call settles in its time, whatever the server does. Call it when it has. */
  settled(): void {
    const tookMs = this.#tookMs();
    const timeoutMs = Math.min(this.#timeoutMs, this.#abortedMs ?? Number.POSITIVE_INFINITY);
    if (tookMs > timeoutMs + slackMs) this.#fail(`took ${tookMs.toFixed(1)} ms, of ${timeoutMs} at most`);
  }

  /** Nor does it say before that its time was over. Call it where it says so. */
  timedOut(): void {
    const wasDisturbed =
      this.#process.heldUpMs > this.#since.heldUpMs || this.#process.steppedMs >= this.#since.atMs;
    const tookMs = this.#tookMs();
    if (!wasDisturbed && tookMs < this.#timeoutMs - earlyMs)
      this.#fail(`gave up after ${tookMs.toFixed(1)} ms, of ${this.#timeoutMs}`);
    // Others of its own process may be who holds it.
    const isAlone = this.#scene.lives.get(planned(this.#process.name))?.plan.callers === 1;
    if (isAlone && this.#scene.link(this.#process).heard === this.#since.heard)
      this.#fail("says that it is held, and has heard nothing of the node");
  }

  /** Without the time in which the process stood still. */
  #tookMs(): number {
    const { heldUpMonoMs, monoMs } = this.#process;
    return monoMs - this.#since.monoMs - (heldUpMonoMs - this.#since.heldUpMonoMs);
  }

  #fail(message: string): void {
    this.#scene.fail("P3", `${this.#what} by ${this.#process.name} ${message}`);
  }
}

/** L6: a hold that has a limit ends there, renewed or not. */
export function judgeLimit(
  scene: Scene,
  { caller, process, lease }: Belief,
  since: { monoMs: number },
): void {
  const { maxHoldMs = null } = scene.lives.get(planned(process.name))?.plan ?? {};
  const heldMs = process.monoMs - since.monoMs;
  if (maxHoldMs !== null && heldMs > maxHoldMs + earlyMs && lease.valid)
    scene.fail("L6", `${caller} holds for ${heldMs.toFixed(1)} ms, of ${maxHoldMs}, and its lease is valid`);
}

/** L3: whoever has seen a token is given a larger one. */
export function judgeFloor(scene: Scene, caller: string, lease: Lease, floor: bigint | undefined): void {
  if (floor !== undefined && lease.fence <= floor)
    scene.fail("L3", `${caller} asked for more than ${floor}, and was granted ${lease.fence}`);
}

/** L8: what check() says of a lease that was given back. */
export function judgeOver(scene: Scene, { caller, lease, lock }: Belief, result: ReleaseResult): void {
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

/** Looks at whom the node names, now and when the release is answered. Returns what to call with the answer. */
export function watchRelease(
  scene: Scene,
  { caller, process, lease, lock, isLost }: Belief,
): (result: ReleaseResult) => void {
  const named = canLook(scene, process) ? (namedAt(scene.node, lock)?.id ?? null) : undefined;
  const { callers = 1, localTurns = 1 } = scene.lives.get(planned(process.name))?.plan ?? {};
  // Another caller of this process may have been passed the same grant.
  const isPassedOn = callers > 1 && localTurns > 1;
  return (result) => {
    // A lease that ran out is given back behind the answer, unless its holder wants a delay.
    if (result !== "released") return;
    if (isLost) scene.fail("L8", `${caller} had lost "${lock}", and was told that it released it`);
    if (scene.mayAnyOverlap()) return;
    if (named !== undefined && named !== lease.id && !isPassedOn)
      scene.fail("L8", `${caller} released "${lock}", which ${named ?? "nobody"} held at the node`);
    const holder = canLook(scene, process) ? holderAt(scene.node, lock) : null;
    if (holder?.id === lease.id && !isPassedOn) {
      const message = `${caller} released "${lock}", and the node keeps it for another ${holder.leftMs} ms`;
      scene.fail("L9", message);
    }
  };
}

/** Process and node are at the same moment. */
function canLook({ node }: Scene, process: Process): boolean {
  return process.isAwake && node.isUp && node.valkey.clock.busyMs === 0;
}
