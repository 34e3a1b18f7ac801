/**
 * ServerClock: what this process knows of the server's clock, from the answers that tell it anyway. Tokens lean on that
 * clock when the server loses its data, so the process publishes an event about each doubt.
 */
import { publish } from "../../../telemetry/events.js";
import { agedMs, type Clock, type Instant } from "../../../time/clock.js";

interface Reading {
  readonly serverUs: number;
  /** The server read its clock after this, and at most `timeoutMs` after it. */
  readonly sentAt: Instant;
}

/** What is less is the drift of clocks, or their adjustment. */
const WORTH_TELLING_MS = 1_000;

/** A reading that is younger than this is fresh. */
const FRESH_MS = 1_000;

/** Clocks drift: an old measurement is given up for a new one after one or two of these. */
const WINDOW_MS = 5_000;

export class ServerClock {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  #last: Reading | null = null;
  /** The smallest differences between the server's clock at a request's arrival and this process's when it was sent: now, and before. */
  #offsetUs = Number.POSITIVE_INFINITY;
  #olderOffsetUs = Number.POSITIVE_INFINITY;
  /** When the present window began. */
  #windowMs = Number.NEGATIVE_INFINITY;

  /** @param timeoutMs of the calls that bring readings */
  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
  }

  /** Whether the clock was read a moment ago. */
  get isFresh(): boolean {
    return this.#last !== null && this.#clock.now().monoMs - this.#last.sentAt.monoMs < FRESH_MS;
  }

  /** @param serverUs by the server's clock; 0: it was not asked */
  read(serverUs: number, sentAt: Instant): void {
    if (serverUs === 0) return;
    const reading = { serverUs, sentAt };
    const last = this.#last;
    this.#last = reading;
    this.#measure(reading);
    if (!last) return;
    const serverMs = (reading.serverUs - last.serverUs) / 1_000;
    // One clock of this process may have been stepped or stopped. The other one shows the true time that passed.
    const monoMs = sentAt.monoMs - last.sentAt.monoMs;
    const wallMs = sentAt.wallMs - last.sentAt.wallMs;
    const aheadMs = serverMs - Math.max(monoMs, wallMs);
    const behindMs = serverMs - Math.min(monoMs, wallMs);
    const jumpMs = aheadMs > 0 ? aheadMs : Math.min(behindMs, 0);
    if (Math.abs(jumpMs) < WORTH_TELLING_MS + this.#timeoutMs) return;
    publish("holdfast:server:clock-jump", () => ({ jumpMs: Math.round(jumpMs) }));
  }

  /**
   * What the server's clock will say when a request that is sent now arrives, in µs, if it travels as fast as the fastest of late. Null:
   * the server has not told its clock yet.
   */
  arrivalUs(now: Instant): number | null {
    const offsetUs = Math.min(this.#offsetUs, this.#olderOffsetUs);
    return offsetUs === Number.POSITIVE_INFINITY ? null : now.monoMs * 1_000 + offsetUs;
  }

  #measure({ serverUs, sentAt: { monoMs } }: Reading): void {
    if (monoMs - this.#windowMs >= WINDOW_MS) {
      this.#olderOffsetUs = this.#offsetUs;
      this.#offsetUs = Number.POSITIVE_INFINITY;
      this.#windowMs = monoMs;
    }
    this.#offsetUs = Math.min(this.#offsetUs, serverUs - monoMs * 1_000);
  }

  /** To be called for every grant. */
  granted(lock: string, fence: bigint): void {
    const last = this.#last;
    // Nearly every token is the clock's time at the grant.
    if (!last || Number(fence) <= last.serverUs) return;
    const nowUs = last.serverUs + agedMs(this.#clock.now(), last.sentAt) * 1_000;
    const aheadMs = (Number(fence) - nowUs) / 1_000;
    if (aheadMs < WORTH_TELLING_MS) return;
    publish("holdfast:lock:token-ahead", () => ({ lock, fence, aheadMs: Math.round(aheadMs) }));
  }
}
