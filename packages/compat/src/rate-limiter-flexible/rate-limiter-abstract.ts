/** RateLimiterAbstract: the settings that every limiter has, checked as the original checks them, and its calls. */
import type { Clock } from "holdfast";
import { type CallOptions, type Key, LimiterCalls } from "./limiter-calls.js";
import { RateLimiterRes } from "./rate-limiter-res.js";

export interface IRateLimiterOptions {
  /** Points that may be consumed in each duration. 0 or less admits nothing. */
  points: number;
  /** Seconds from the first consumed point until the count starts again; fractions count. 0: it never does. */
  duration: number;
  /** Before every key, with a colon. The empty text leaves keys as they are. @default "rlflx" */
  keyPrefix?: string;
  /** Seconds for which the call blocks a key that brings it over its points. @default 0, none */
  blockDuration?: number;
  /** Whether calls are delayed, so that they are spread over the duration. @default false */
  execEvenly?: boolean;
  /** Shortest delay of `execEvenly`, in ms. @default the duration, divided by the points */
  execEvenlyMinDelayMs?: number;
  /** Of a limiter over Redis: it decides when Redis fails, and takes over `blockDuration` and `execEvenly`. */
  insuranceLimiter?: LimiterCalls;
}

const DEFAULT_PREFIX = "rlflx";

export class RateLimiterAbstract extends LimiterCalls {
  #points = 0;
  #duration = 0;
  #blockDuration = 0;
  #execEvenly = false;
  #execEvenlyMinDelayMs: number | undefined;
  #keyPrefix = DEFAULT_PREFIX;

  /** @throws {Error} an option is missing or invalid */
  constructor(options: IRateLimiterOptions) {
    super();
    const { points, duration, blockDuration, execEvenly, execEvenlyMinDelayMs, keyPrefix } =
      options ?? ({} as IRateLimiterOptions);
    this.points = points;
    this.duration = duration;
    this.blockDuration = blockDuration;
    this.execEvenly = execEvenly;
    this.#execEvenlyMinDelayMs = execEvenlyMinDelayMs;
    this.keyPrefix = keyPrefix;
  }

  get points(): number {
    return this.#points;
  }

  set points(points: number) {
    if (!Number.isFinite(points)) throw new Error("points must be set and must be a finite number");
    this.#points = points;
  }

  get duration(): number {
    return this.#duration;
  }

  set duration(seconds: number) {
    if (!Number.isFinite(seconds) || seconds < 0)
      throw new Error("duration must be set and must be a finite, non-negative number");
    this.#duration = seconds;
  }

  get msDuration(): number {
    return this.duration * 1_000;
  }

  override get blockDuration(): number {
    return this.#blockDuration;
  }

  override set blockDuration(seconds: number | undefined) {
    this.#blockDuration = seconds ?? 0;
  }

  get msBlockDuration(): number {
    return this.blockDuration * 1_000;
  }

  override get execEvenly(): boolean {
    return this.#execEvenly;
  }

  override set execEvenly(value: boolean | undefined) {
    this.#execEvenly = Boolean(value);
  }

  get execEvenlyMinDelayMs(): number {
    const evenMs = this.points > 0 ? Math.ceil(this.msDuration / this.points) : 0;
    return this.#execEvenlyMinDelayMs ?? evenMs;
  }

  set execEvenlyMinDelayMs(ms: number | undefined) {
    this.#execEvenlyMinDelayMs = ms;
  }

  override get keyPrefix(): string {
    return this.#keyPrefix;
  }

  override set keyPrefix(prefix: string | undefined) {
    const given = prefix === undefined ? DEFAULT_PREFIX : prefix;
    if (typeof given !== "string") throw new Error("keyPrefix must be string");
    this.#keyPrefix = given;
  }

  /** The key as it is stored. */
  getKey(key: Key): string {
    return this.keyPrefix === "" ? String(key) : `${this.keyPrefix}:${key}`;
  }

  /** A stored key without its prefix. */
  parseKey(storedKey: string): string {
    return this.keyPrefix === "" ? storedKey : storedKey.slice(this.keyPrefix.length + 1);
  }

  /** Milliseconds until a key expires that a call with these options makes; 0: it does not. */
  protected lifeMs(options: CallOptions): number {
    const { customDuration } = options ?? {}; // null from a program without types
    return inMs(customDuration !== undefined && customDuration >= 0 ? customDuration : this.duration);
  }

  /** The result of a call that left the key with this count. */
  protected resultOf(consumed: number, msBeforeNext: number, isFirst: boolean): RateLimiterRes {
    return new RateLimiterRes(Math.max(this.points - consumed, 0), msBeforeNext, consumed, isFirst);
  }

  /** Resolves to an admitted call's result, with `execEvenly` after the delay that spreads such calls over the rest of the duration. */
  protected async admit(result: RateLimiterRes, clock: Clock): Promise<RateLimiterRes> {
    const { msBeforeNext, remainingPoints, consumedPoints, isFirstInDuration } = result;
    if (!this.execEvenly || this.points <= 0 || msBeforeNext <= 0 || isFirstInDuration) return result;
    const shareMs = Math.ceil(msBeforeNext / (remainingPoints + 2));
    const leastMs = this.execEvenlyMinDelayMs;
    const delayMs = shareMs < leastMs ? consumedPoints * leastMs : shareMs;
    await new Promise<void>((resolve) => void clock.setTimer(resolve, delayMs));
    result.msBeforeNext = Math.max(msBeforeNext - delayMs, 0);
    return result;
  }
}

/** Whole milliseconds of a time in seconds; at least one, unless the time is 0. */
export function inMs(seconds: number): number {
  return seconds > 0 ? Math.max(Math.round(seconds * 1_000), 1) : 0;
}
