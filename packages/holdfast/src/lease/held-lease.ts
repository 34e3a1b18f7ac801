/**
 * HeldLease: the implementation of a lease, one caller's turn on a hold. lease.ts has the promises to the caller.
 */
import { fromCaller, LeaseLostError, LeaseReleasedError, type LossReason, tellCaller } from "../errors.js";
import { INSPECT, type InspectArguments } from "../shown.js";
import { type CallerContext, callerContext, publish } from "../telemetry/events.js";
import { agedMs, type Clock, elapsedMs, type Instant, leaseLeftMs } from "../time/clock.js";
import type { LeaseHandle } from "./handle.js";
import type { Hold } from "./hold.js";
import { type Lease, type LeaseJson, leaseJson, type ReleaseResult, showLease } from "./lease.js";

/** The two ends of a lease by its holder. */
export interface LeaseEnds {
  /** Called once, by the release. It reports the result to its argument, at once or later. */
  giveBack(told: (result: ReleaseResult) => void, now: Instant): void;
  /** Ends the hold, and so the lease: the clock says that it is over, and no timer has fired yet. */
  lose(reason: LossReason): void;
  /** Ends the lease with the reason `transferred`, unless it rejects. */
  handOver(lease: HeldLease): Promise<LeaseHandle>;
}

export class HeldLease implements Lease {
  readonly name: string;
  readonly fence: bigint;
  readonly id: string;
  readonly #hold: Hold;
  readonly #clock: Clock;
  readonly since: Instant;
  readonly #maxHoldMs: number;
  readonly #ends: LeaseEnds;
  /** Of its caller. */
  readonly context: CallerContext;
  #controller: AbortController | null = null;
  #loss: LeaseLostError | null = null;
  #released: Promise<ReleaseResult> | null = null;

  constructor(
    clock: Clock,
    hold: Hold,
    maxHoldMs: number,
    ends: LeaseEnds,
    since = clock.now(),
    context = leaseContext(),
  ) {
    this.name = hold.name;
    this.fence = hold.takeToken();
    this.id = hold.id;
    this.#hold = hold;
    this.#clock = clock;
    this.since = since;
    this.#maxHoldMs = maxHoldMs;
    this.#ends = ends;
    this.context = context;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      this.#noticeExpiry();
      if (this.#loss) this.#controller.abort(this.#loss);
    }
    return this.#controller.signal;
  }

  get valid(): boolean {
    return this.remainingMs > 0;
  }

  get remainingMs(): number {
    if (this.#released || this.#loss) return 0;
    // The clock is read once. With two reads and a stall between them, no time would be left, but no loss be noticed.
    const now = this.#clock.now();
    this.#noticeExpiry(now);
    if (this.#loss) return 0;
    return Math.min(this.#hold.leftMs(now), this.#maxHoldMs - agedMs(now, this.since));
  }

  check(): void {
    if (this.valid) return;
    if (this.#loss) throw fromCaller(this.#loss, this.check);
    throw new LeaseReleasedError(this.name, this.fence);
  }

  release(): Promise<ReleaseResult> {
    // A listener of the signal may call release() again, from within either of these two.
    const now = this.#clock.now();
    this.#noticeExpiry(now);
    if (!this.#released) {
      let settle: (result: ReleaseResult) => void = () => {};
      this.#released = new Promise((resolve) => {
        settle = resolve;
      });
      this.#ends.giveBack((result) => this.#ended(result, settle), now);
    }
    return this.#released;
  }

  async handOver(): Promise<LeaseHandle> {
    this.check();
    return tellCaller(this.#ends.handOver(this));
  }

  toJSON(): LeaseJson {
    return leaseJson(this);
  }

  [INSPECT](...inspecting: InspectArguments): string {
    return showLease(this, inspecting);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release();
  }

  /** @param since when its caller came @param local whether the turn was passed on inside this process */
  tellAcquired(since: Instant, local: boolean): void {
    publish(
      "holdfast:lock:acquired",
      () => ({ ...this.#about, waitedMs: Math.round(elapsedMs(this.#clock, since)), local }),
      this.context,
    );
  }

  /** Ends the lease for a reason other than its release. */
  lose(reason: LossReason): void {
    if (this.#loss || this.#released) return;
    const lateMs = reason === "expired" ? this.#lateMs : 0;
    this.#loss = withoutStack(() => new LeaseLostError(this.name, this.fence, reason, lateMs));
    if (reason === "transferred")
      publish(
        "holdfast:lock:handed-out",
        () => ({ ...this.#about, heldMs: Math.round(this.#heldMs) }),
        this.context,
      );
    else
      publish(
        "holdfast:lock:lost",
        () => ({ ...this.#about, reason, lateMs, heldMs: this.#heldMs }),
        this.context,
      );
    this.#controller?.abort(this.#loss);
  }

  get #about() {
    return { lock: this.name, noun: this.#hold.noun, fence: this.fence };
  }

  get #heldMs(): number {
    return elapsedMs(this.#clock, this.since);
  }

  get #lateMs(): number {
    const { sentAt, ttlMs } = this.#hold;
    return Math.max(0, Math.round(-leaseLeftMs(this.#clock.now(), sentAt, ttlMs)));
  }

  /** Notices an end by the clock for which no timer has fired yet. A clock that goes back revives neither the lease nor its renewals. */
  #noticeExpiry(now = this.#clock.now()): void {
    if (this.#loss || this.#released) return;
    if (this.#hold.leftMs(now) <= 0) this.#ends.lose("expired");
    else if (agedMs(now, this.since) >= this.#maxHoldMs) this.#ends.lose("max-hold");
  }

  #ended(result: ReleaseResult, settle: (result: ReleaseResult) => void): void {
    if (this.#loss) {
      settle("lapsed");
      return;
    }
    if (result === "released") {
      publish(
        "holdfast:lock:released",
        () => ({ ...this.#about, heldMs: Math.round(this.#heldMs) }),
        this.context,
      );
    }
    settle(result);
  }
}

/** What the events of a lease need, taken where its caller asks for it. */
export function leaseContext(): CallerContext {
  return (
    callerContext("holdfast:lock:acquired") ??
    callerContext("holdfast:lock:waiting") ??
    callerContext("holdfast:lock:handed-out") ??
    callerContext("holdfast:lock:lost") ??
    callerContext("holdfast:lock:released")
  );
}

/**
 * Makes an error without a stack. A loss by the clock has no useful stack, and thousands of leases may end at once. The last of
 * their signals must not wait for the stacks of the others.
 */
function withoutStack<Made extends Error>(make: () => Made): Made {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return make();
  } finally {
    Error.stackTraceLimit = limit;
  }
}
