/** RateLimiterQueue: calls that wait in this process, first come first served, until the limiter admits them. */
import { type Clock, systemClock } from "holdfast";
import type { BurstyRateLimiter } from "./bursty-rate-limiter.js";
import type { RateLimiterAbstract } from "./rate-limiter-abstract.js";
import type { RateLimiterLike } from "./rate-limiter-compatible-abstract.js";
import { RateLimiterQueueError } from "./rate-limiter-queue-error.js";
import type { RateLimiterRes } from "./rate-limiter-res.js";

export interface IRateLimiterQueueOpts {
  /** The most calls that wait for one key. @default 4294967295 */
  maxQueueSize?: number;
}

type QueuedLimiter = Pick<RateLimiterAbstract, "consume" | "get" | "points">;

interface Waiting {
  readonly tokens: number;
  /** Unix time in seconds; 0: it waits without end. */
  readonly expiresUnixAt: number;
  readonly resolve: (remaining: number) => void;
  readonly reject: (error: unknown) => void;
}

const DEFAULT_KEY = "limiter";
const DEFAULT_MOST = 4_294_967_295;
/** A key that never expires may be deleted or rewarded, so its line tries again at times. */
const ENDLESS_RETRY_MS = 1_000;

export class RateLimiterQueue {
  readonly #limiter: QueuedLimiter;
  readonly #most: number;
  readonly #clock: Clock;
  readonly #lines = new Map<string | number, Line>();

  constructor(
    limiter: RateLimiterLike | BurstyRateLimiter,
    { maxQueueSize = DEFAULT_MOST }: IRateLimiterQueueOpts = {},
    clock: Clock = systemClock,
  ) {
    this.#limiter = limiter as QueuedLimiter;
    this.#most = maxQueueSize;
    this.#clock = clock;
  }

  /** All points of the limiter, where nothing is counted or the store fails. */
  async getTokensRemaining(key: string | number = DEFAULT_KEY): Promise<number> {
    const result = await this.#limiter.get(key).catch(() => null);
    return result ? result.remainingPoints : this.#limiter.points;
  }

  /**
   * Consumes the tokens when the limiter admits them and everybody who came before has got theirs. Resolves to the remaining tokens.
   * @param expiresUnixAt Unix time in seconds, after which a call that still waits is rejected
   * @throws {RateLimiterQueueError} more than the limiter ever admits; too many calls wait; the time is over
   */
  async removeTokens(tokens: number, key: string | number = DEFAULT_KEY, expiresUnixAt = 0): Promise<number> {
    const { points } = this.#limiter;
    if (tokens > points)
      throw new RateLimiterQueueError(
        `Requested tokens ${tokens} exceeds maximum ${points} tokens per interval`,
      );
    const line = this.#lines.get(key) ?? new Line(this.#limiter, key, this.#most, this.#clock);
    this.#lines.set(key, line);
    line.users += 1;
    try {
      return await line.take(tokens, expiresUnixAt);
    } finally {
      line.users -= 1;
      if (line.users === 0) this.#lines.delete(key);
    }
  }
}

/** The calls for one key. */
class Line {
  users = 0;
  readonly #limiter: QueuedLimiter;
  readonly #key: string | number;
  readonly #most: number;
  readonly #clock: Clock;
  #waiting: Waiting[] = [];
  /** Whether any call that ever waited here has a time of its own. */
  #mayExpire = false;
  /** Whether a timer runs, or a call to the limiter for the first in line is under way. */
  #isServed = false;

  constructor(limiter: QueuedLimiter, key: string | number, most: number, clock: Clock) {
    this.#limiter = limiter;
    this.#key = key;
    this.#most = most;
    this.#clock = clock;
  }

  async take(tokens: number, expiresUnixAt: number): Promise<number> {
    if (this.#waiting.length > 0) return this.#wait(tokens, expiresUnixAt);
    try {
      return (await this.#limiter.consume(this.#key, tokens)).remainingPoints;
    } catch (refusal) {
      if (refusal instanceof Error) throw refusal;
      const waited = this.#wait(tokens, expiresUnixAt);
      if (!this.#isServed) this.#serveLater(refusal as RateLimiterRes);
      return waited;
    }
  }

  #wait(tokens: number, expiresUnixAt: number): Promise<number> {
    if (this.#waiting.length >= this.#most)
      return Promise.reject(
        new RateLimiterQueueError(`Number of requests reached it's maximum ${this.#most}`),
      );
    return new Promise((resolve, reject) => {
      this.#waiting.push({ tokens, expiresUnixAt, resolve, reject });
      this.#mayExpire ||= expiresUnixAt > 0;
    });
  }

  #serveLater({ msBeforeNext }: RateLimiterRes): void {
    this.#isServed = true;
    const delayMs = msBeforeNext < 0 ? ENDLESS_RETRY_MS : Math.max(msBeforeNext, 1);
    this.#clock.setTimer(() => void this.#serve(), delayMs);
  }

  async #serve(): Promise<void> {
    for (;;) {
      this.#dropExpired();
      const first = this.#waiting[0];
      if (!first) break;
      try {
        const { remainingPoints } = await this.#limiter.consume(this.#key, first.tokens);
        first.resolve(remainingPoints);
      } catch (refusal) {
        if (!(refusal instanceof Error)) return this.#serveLater(refusal as RateLimiterRes);
        first.reject(refusal);
      }
      this.#waiting.shift();
    }
    this.#isServed = false;
  }

  #dropExpired(): void {
    if (!this.#mayExpire) return;
    const nowS = this.#clock.now().wallMs / 1_000;
    const isOver = ({ expiresUnixAt }: Waiting): boolean => expiresUnixAt > 0 && nowS >= expiresUnixAt;
    for (const { reject } of this.#waiting.filter(isOver))
      reject(new RateLimiterQueueError("The request to remove tokens expired before it could be fulfilled"));
    this.#waiting = this.#waiting.filter((each) => !isOver(each));
  }
}
