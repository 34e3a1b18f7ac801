/**
 * Presence: whether the inbox of this process is at the server that its requests go to. Scripts there take a process for gone when
 * nobody listens to its inbox. After a failover, or behind a balancer, requests and messages may go to two servers, and neither
 * connection breaks. So that server is asked every two seconds, while anybody waits.
 */
import { publish } from "../telemetry/events.js";
import type { Alarm, Schedule } from "../time/schedule.js";
import type { RedisPort } from "./port.js";

export interface PresenceParts {
  readonly port: Pick<RedisPort, "command" | "zeroListenersMeansGone">;
  readonly schedule: Schedule;
  readonly callTimeoutMs: number;
  readonly channel: string;
  /** Whether anybody waits for messages. While nobody does, no timer runs. */
  readonly isNeeded: () => boolean;
  /** The subscription is where the requests go, or nobody can tell; or it was there, and is at another server. */
  readonly turned: (isHere: boolean) => void;
  /** Makes another connection for messages. */
  readonly replace: () => void;
}

/** Sooner than a script takes a process for gone: deliveries/lua/_gone.lua, synchronizers/lua/_barrier.lua. */
const ASK_MS = 2_000;
/** Between two connections that lead elsewhere. A balancer may need several. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

export class Presence {
  readonly #parts: PresenceParts;
  /** Rises when a subscription comes or goes: an answer from before says nothing about the present one. */
  #epoch = 0;
  #isSubscribed = false;
  /** Connections that led elsewhere, one after the other. */
  #astray = 0;
  #askedMs = Number.NEGATIVE_INFINITY;
  #isAsking = false;
  #alarm: Alarm | null = null;

  constructor(parts: PresenceParts) {
    this.#parts = parts;
  }

  /** Whether the last answer said that the inbox is at another server. */
  get isAstray(): boolean {
    return this.#astray > 0;
  }

  /** A server has confirmed the subscription. */
  up(): void {
    this.#epoch += 1;
    this.#isSubscribed = true;
    // Once it was elsewhere, nobody is told before the server was asked.
    if (this.#astray > 0) {
      void this.#ask();
      return;
    }
    this.#askedMs = this.#parts.schedule.clock.now().monoMs;
    this.#parts.turned(true);
    this.needed();
  }

  down(): void {
    this.#epoch += 1;
    this.#isSubscribed = false;
    this.#parts.schedule.cancel(this.#alarm);
    this.#alarm = null;
  }

  /** Somebody may wait for messages from now on. */
  needed(): void {
    if (!this.#isSubscribed || this.#alarm || this.#isAsking || !this.#parts.port.zeroListenersMeansGone)
      return;
    if (this.#astray > 0) this.#ringIn(0, () => this.#parts.replace());
    else if (this.#silentMs < ASK_MS) this.#ringIn(ASK_MS - this.#silentMs, () => void this.#ask());
    // At once: those who wait again and again, each for a moment, would put a timer off for ever.
    else if (this.#parts.isNeeded()) void this.#ask();
  }

  /** Perhaps nobody waits any more. */
  rest(): void {
    if (!this.#alarm || this.#parts.isNeeded()) return;
    this.#parts.schedule.cancel(this.#alarm);
    this.#alarm = null;
  }

  get #silentMs(): number {
    return this.#parts.schedule.clock.now().monoMs - this.#askedMs;
  }

  #ringIn(delayMs: number, ring: () => void): void {
    if (!this.#parts.isNeeded()) return;
    this.#parts.schedule.cancel(this.#alarm);
    this.#alarm = this.#parts.schedule.after(delayMs, () => {
      this.#alarm = null;
      ring();
    });
  }

  async #ask(): Promise<void> {
    const { port, schedule, callTimeoutMs, channel } = this.#parts;
    if (this.#isAsking) return;
    this.#isAsking = true;
    const epoch = this.#epoch;
    this.#askedMs = schedule.clock.now().monoMs;
    // Whoever must not ask, or gets no answer, does not know.
    const reply = await port.command(["PUBSUB", "NUMSUB", channel], callTimeoutMs).catch(() => null);
    this.#isAsking = false;
    if (!this.#isSubscribed) return;
    if (this.#epoch !== epoch) {
      if (this.#astray > 0) void this.#ask();
      else this.needed();
      return;
    }
    if (Array.isArray(reply) && Number(reply[1]) === 0) this.#leave();
    else this.#stay();
  }

  #stay(): void {
    const wasAstray = this.#astray > 0;
    this.#astray = 0;
    this.#ringIn(ASK_MS, () => void this.#ask());
    if (wasAstray) this.#parts.turned(true);
  }

  #leave(): void {
    const { turned, replace } = this.#parts;
    this.#astray += 1;
    publish("holdfast:inbox:elsewhere", () => ({ connections: this.#astray }));
    if (this.#astray === 1) {
      turned(false);
      replace();
      return;
    }
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (this.#astray - 2), LONGEST_PAUSE_MS);
    this.#ringIn(pauseMs, replace);
  }
}
