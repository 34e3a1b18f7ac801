/**
 * Lease: one caller's turn at a name.
 *
 * A lease is a promise with a deadline. A process that was paused can run on after its deadline, so
 * whatever it writes should carry `lease.fence`, and the store it writes to should refuse a smaller one.
 */
import { LeaseLostError, LeaseReleasedError, type LossReason } from "../errors.js";
import { publish } from "../telemetry/events.js";
import { type Clock, elapsedMs, type Instant } from "../time/clock.js";
import type { Hold } from "./hold.js";

/**
 * - `released`: the lease was live and this call, or an earlier one, ended it
 * - `lapsed`: it had already ended; somebody else may have held the name since
 * - `unknown`: no answer came; holdfast keeps trying, and the lease ends by itself within its ttl
 */
export type ReleaseResult = "released" | "lapsed" | "unknown";

export class Lease {
  /** The name that is held. */
  readonly name: string;
  /** The fencing token: larger than that of every earlier lease on this name. Give it to the resource. */
  readonly fence: bigint;
  /** Who holds, for resources that tell two holders of one token apart. */
  readonly id: string;
  readonly #hold: Hold;
  readonly #clock: Clock;
  readonly #since: Instant;
  readonly #maxHoldMs: number;
  readonly #giveBack: () => Promise<ReleaseResult>;
  #controller: AbortController | null = null;
  #loss: LeaseLostError | null = null;
  #released: Promise<ReleaseResult> | null = null;

  /** Made by the library only. */
  constructor(clock: Clock, hold: Hold, maxHoldMs: number, giveBack: () => Promise<ReleaseResult>) {
    this.name = hold.name;
    this.fence = hold.takeToken();
    this.id = hold.id;
    this.#hold = hold;
    this.#clock = clock;
    this.#since = clock.now();
    this.#maxHoldMs = maxHoldMs;
    this.#giveBack = giveBack;
  }

  /**
   * Aborts with a LeaseLostError when the lease is lost, before anybody else can hold the name. It is
   * comfort, not truth: after a stall of the event loop other callbacks may run before it fires. Call
   * `check()` before each side effect. It does not abort on release.
   */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      this.#noticeExpiry();
      if (this.#loss) this.#controller.abort(this.#loss);
    }
    return this.#controller.signal;
  }

  /** Whether the lease can be relied upon now: a synchronous look at the clocks, not at a flag. */
  get valid(): boolean {
    return this.remainingMs > 0;
  }

  /** Milliseconds until the lease runs out unless it is renewed; 0 when it is over. */
  get remainingMs(): number {
    if (this.#released || this.#loss) return 0;
    this.#noticeExpiry();
    if (this.#loss) return 0;
    return Math.min(this.#hold.remainingMs, this.#maxHoldMs - elapsedMs(this.#clock, this.#since));
  }

  /**
   * Throws unless the lease is valid. Costs two clock reads: call it before each side effect.
   * @throws {LeaseLostError} the lease is over
   * @throws {LeaseReleasedError} it was released before
   */
  check(): void {
    if (this.valid) return;
    if (this.#loss) throw this.#loss;
    throw new LeaseReleasedError(this.name, this.fence);
  }

  /**
   * Ends the lease; the next in line holds the name at once. Never rejects, and may be repeated: a
   * repeat gives the first call's result.
   */
  release(): Promise<ReleaseResult> {
    this.#released ??= this.#end();
    return this.#released;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release();
  }

  /** The library's word that the lease is over. */
  lose(reason: LossReason): void {
    if (this.#loss || this.#released) return;
    this.#loss = new LeaseLostError(this.name, this.fence, reason);
    publish("holdfast:lock:lost", () => ({
      lock: this.name,
      fence: this.fence,
      reason,
      heldMs: this.#heldMs,
    }));
    this.#controller?.abort(this.#loss);
  }

  get #heldMs(): number {
    return elapsedMs(this.#clock, this.#since);
  }

  /** The clock may know of the end before any timer could fire. */
  #noticeExpiry(): void {
    if (this.#loss || this.#released) return;
    if (this.#hold.remainingMs <= 0) this.lose("expired");
    else if (this.#heldMs >= this.#maxHoldMs) this.lose("max-hold");
  }

  async #end(): Promise<ReleaseResult> {
    this.#noticeExpiry();
    const heldMs = this.#heldMs;
    const result = await this.#giveBack();
    if (this.#loss) return "lapsed";
    if (result === "released") {
      publish("holdfast:lock:released", () => ({ lock: this.name, fence: this.fence, heldMs }));
    }
    return result;
  }
}
