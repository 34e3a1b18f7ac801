/**
 * TimedLeases: leases that one caller acquired together and that end together, at a time that the caller may move.
 *
 * Holdfast renews a lease for as long as it is held. The locks of the originals end by themselves unless
 * their holder extends them. Here the leases are renewed underneath, and released when the time is up.
 */
import { setMaxListeners } from "node:events";
import {
  type Clock,
  elapsedMs,
  type Instant,
  type Lease,
  LeaseLostError,
  type ReleaseResult,
} from "holdfast";

const SHORTEST_TTL_MS = 100;
const LONGEST_TTL_MS = 2 ** 31 - 1;

/** The nearest ttl that Holdfast accepts. TimedLeases end earlier than that, or are renewed for longer, as the caller asked. */
export function ttlFor(lengthMs: number): number {
  return Math.min(Math.max(lengthMs, SHORTEST_TTL_MS), LONGEST_TTL_MS);
}

export class TimedLeases {
  readonly leases: readonly Lease[];
  readonly #clock: Clock;
  readonly #controller = new AbortController();
  #since: Instant;
  #lengthMs: number;
  #cancelTimer: () => void = () => {};
  #released: Promise<ReleaseResult> | null = null;
  #tellOver: () => void = () => {};

  /** @param lengthMs time until the leases are released; Infinity is never */
  constructor(clock: Clock, leases: readonly Lease[], lengthMs: number) {
    this.#clock = clock;
    this.leases = leases;
    this.#since = clock.now();
    this.#lengthMs = lengthMs;
    setMaxListeners(0, this.signal); // each object that shares them listens
    for (const { signal } of leases) {
      const lose = (): void => this.#abort(signal.reason);
      if (signal.aborted) lose();
      else signal.addEventListener("abort", lose, { once: true });
    }
    this.#arm();
  }

  /** Aborts with a LeaseLostError when a lease is lost or the time is up, not on release. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether every lease is valid now, by the clocks. */
  get live(): boolean {
    if (this.#released || this.#controller.signal.aborted) return false;
    return this.#leftMs > 0 && this.leases.every((lease) => lease.valid);
  }

  /** Milliseconds for which the store keeps the leases if they are not renewed. */
  get remainingMs(): number {
    return this.live ? Math.min(this.#leftMs, ...this.leases.map((lease) => lease.remainingMs)) : 0;
  }

  /**
   * Called when the leases are released, lost or over; at once, when they are already. There is one: a caller that extends for as
   * long as it works would otherwise leave one behind each time.
   */
  set onOver(listener: () => void) {
    this.#tellOver = listener;
    if (this.#released || this.signal.aborted) listener();
  }

  /** Moves the end to `lengthMs` from now, unless it is later already. Returns false when the end is past. */
  prolong(lengthMs: number): boolean {
    return this.extend(Math.max(lengthMs, this.#leftMs));
  }

  /** Moves the end to `lengthMs` from now. Returns false, and moves nothing, when the end is past. */
  extend(lengthMs: number): boolean {
    if (!this.live) return false;
    this.#since = this.#clock.now();
    this.#lengthMs = lengthMs;
    this.#arm();
    return true;
  }

  /** Releases the leases. Resolves to `lapsed` when one of them, or the time, had ended before. May be called again. */
  release(): Promise<ReleaseResult> {
    if (!this.#released) {
      this.#cancelTimer();
      this.#released = this.#giveBack(!this.live);
      this.#tellOver();
    }
    return this.#released;
  }

  #abort(reason: unknown): void {
    // A Holdfast that is closed has given its leases back: nothing is left to be released later.
    if (reason instanceof LeaseLostError && reason.reason === "closed") this.#cancelTimer();
    this.#tellOver();
    this.#controller.abort(reason);
  }

  get #leftMs(): number {
    return this.#lengthMs - elapsedMs(this.#clock, this.#since);
  }

  #arm(): void {
    this.#cancelTimer();
    this.#cancelTimer = () => {};
    if (this.#lengthMs === Number.POSITIVE_INFINITY) return;
    this.#cancelTimer = this.#clock.setTimer(() => this.#end(), Math.max(this.#leftMs, 0));
  }

  #end(): void {
    if (this.#leftMs > 0) {
      this.#arm();
      return;
    }
    void this.release(); // never rejects
    const [first] = this.leases;
    if (first) this.#abort(new LeaseLostError(first.name, first.fence, "expired"));
  }

  async #giveBack(late: boolean): Promise<ReleaseResult> {
    const results = await Promise.all(this.leases.map((lease) => lease.release()));
    if (results.includes("unknown")) return "unknown";
    return late || results.includes("lapsed") ? "lapsed" : "released";
  }
}
