/** RateLimiterRedis: points that all processes count together in Redis. */
import { Counts } from "./counts.js";
import { ExpiringMap } from "./expiring-map.js";
import type { CallOptions, Key } from "./limiter-calls.js";
import { wholePoints } from "./points.js";
import { inMs, RateLimiterAbstract } from "./rate-limiter-abstract.js";
import { isRateLimiter, type RateLimiterLike } from "./rate-limiter-compatible-abstract.js";
import { RateLimiterRes } from "./rate-limiter-res.js";
import { checkPorted, type IRateLimiterRedisOptions } from "./redis-options.js";

export class RateLimiterRedis extends RateLimiterAbstract {
  readonly #counts: Counts;
  /** The keys that this process refuses by itself. */
  readonly #blocked: ExpiringMap<true>;
  #insurance: RateLimiterLike | undefined;
  #blockOnConsumed = 0;
  #inMemoryBlockOnConsumed = 0;
  #inMemoryBlockDuration = 0;

  /**
   * @throws {Error} an option is missing or invalid @throws {NotPortedError} an option cannot be honoured
   * @throws {UnsupportedClientError} the client is of a library that holdfast does not support
   */
  constructor(options: IRateLimiterRedisOptions) {
    super(options);
    this.blockOnConsumed = options.blockOnConsumed;
    this.inMemoryBlockOnConsumed = options.inMemoryBlockOnConsumed;
    this.inMemoryBlockDuration = options.inMemoryBlockDuration;
    this.insuranceLimiter = options.insuranceLimiter;
    if (options.storeClient === undefined) throw new Error("storeClient is not set");
    checkPorted(options);
    this.#counts = new Counts(options.storeClient);
    this.#blocked = new ExpiringMap(this.#counts.clock);
  }

  get insuranceLimiter(): RateLimiterLike | undefined {
    return this.#insurance;
  }

  set insuranceLimiter(limiter: RateLimiterLike | undefined) {
    if (limiter !== undefined && !isRateLimiter(limiter))
      throw new Error(
        "insuranceLimiter must be instance of RateLimiterAbstract or RateLimiterCompatibleAbstract",
      );
    this.#insurance = limiter;
    if (!limiter) return;
    limiter.blockDuration = this.blockDuration;
    limiter.execEvenly = this.execEvenly;
  }

  get blockOnConsumed(): number {
    return this.#blockOnConsumed;
  }

  set blockOnConsumed(points: number | undefined) {
    this.#blockOnConsumed = this.#threshold("blockOnConsumed", points);
  }

  get inMemoryBlockOnConsumed(): number {
    return this.#inMemoryBlockOnConsumed;
  }

  set inMemoryBlockOnConsumed(points: number | undefined) {
    this.#inMemoryBlockOnConsumed = this.#threshold("inMemoryBlockOnConsumed", points);
  }

  get inMemoryBlockDuration(): number {
    return this.#inMemoryBlockDuration;
  }

  set inMemoryBlockDuration(seconds: number | undefined) {
    this.#inMemoryBlockDuration = Number(seconds ?? 0);
    if (this.#inMemoryBlockDuration > 0 && this.inMemoryBlockOnConsumed === 0)
      throw new Error("inMemoryBlockOnConsumed option must be set up");
  }

  get msInMemoryBlockDuration(): number {
    return this.inMemoryBlockDuration * 1_000;
  }

  override async consume(key: Key, points = 1, options: CallOptions = {}): Promise<RateLimiterRes> {
    const cost = wholePoints(points);
    return this.#insured(
      () => this.#consume(this.getKey(key), cost, options),
      (insurance) => insurance.consume(key, points, options),
    );
  }

  override async penalty(key: Key, points = 1, options: CallOptions = {}): Promise<RateLimiterRes> {
    const cost = wholePoints(points);
    return this.#insured(
      () => this.#add(this.getKey(key), cost, options, 0),
      (insurance) => insurance.penalty(key, points, options),
    );
  }

  override async reward(key: Key, points = 1, options: CallOptions = {}): Promise<RateLimiterRes> {
    const cost = wholePoints(points);
    return this.#insured(
      () => this.#add(this.getKey(key), -cost, options, 0),
      (insurance) => insurance.reward(key, points, options),
    );
  }

  override async get(key: Key, options: CallOptions = {}): Promise<RateLimiterRes | null> {
    return this.#insured(
      async () => {
        const count = await this.#counts.get(this.getKey(key));
        return count && this.resultOf(count.points, count.ttlMs, false);
      },
      (insurance) => insurance.get(key, options),
    );
  }

  override async set(
    key: Key,
    points: number,
    seconds = this.duration,
    options: CallOptions = {},
  ): Promise<RateLimiterRes> {
    const used = wholePoints(points);
    const duration = seconds >= 0 ? seconds : this.duration;
    return this.#insured(
      () => this.#set(key, used, duration),
      (insurance) => insurance.set(key, points, duration, options),
    );
  }

  override async block(key: Key, seconds: number, options: CallOptions = {}): Promise<RateLimiterRes> {
    return this.#insured(
      () => this.#set(key, this.#limit, seconds),
      (insurance) => insurance.block(key, seconds, options),
    );
  }

  override async delete(key: Key, options: CallOptions = {}): Promise<boolean> {
    return this.#insured(
      async () => {
        const isRemoved = await this.#counts.delete(this.getKey(key));
        this.#blocked.delete(this.getKey(key));
        return isRemoved;
      },
      (insurance) => insurance.delete(key, options),
    );
  }

  /** Forgets every key that this process refuses by itself. */
  deleteInMemoryBlockedAll(): void {
    this.#blocked.clear();
  }

  /** The count from which a key is blocked. */
  get #limit(): number {
    return this.#blockOnConsumed > this.points ? this.#blockOnConsumed : Math.floor(this.points) + 1;
  }

  async #consume(key: string, cost: number, options: CallOptions): Promise<RateLimiterRes> {
    const memoryFrom = this.inMemoryBlockOnConsumed;
    const blocked = memoryFrom > 0 ? this.#blocked.get(key) : null;
    if (blocked) return Promise.reject(new RateLimiterRes(0, blocked.leftMs));
    const result = await this.#add(key, cost, options, inMs(this.blockDuration));
    const isOver = result.consumedPoints > this.points;
    if (memoryFrom > 0 && result.consumedPoints >= memoryFrom) {
      const ownMs = this.msInMemoryBlockDuration;
      if (isOver || ownMs === 0) this.#blocked.set(key, true, ownMs > 0 ? ownMs : result.msBeforeNext);
      if (isOver && ownMs > 0) result.msBeforeNext = ownMs;
      if (!isOver && ownMs === 0) return result;
    }
    return isOver ? Promise.reject(result) : this.admit(result, this.#counts.clock);
  }

  async #add(key: string, points: number, options: CallOptions, blockMs: number): Promise<RateLimiterRes> {
    const adding = { lifeMs: this.lifeMs(options), limit: this.#limit, blockMs };
    const count = await this.#counts.add(key, points, adding);
    return this.resultOf(count.points, count.ttlMs, count.points === points);
  }

  async #set(key: Key, points: number, seconds: number): Promise<RateLimiterRes> {
    const lifeMs = inMs(seconds);
    await this.#counts.set(this.getKey(key), points, lifeMs);
    return new RateLimiterRes(0, lifeMs > 0 ? lifeMs : -1, points);
  }

  /** A refusal is an answer. Anything else means that Redis failed, and the insurance decides where there is one. */
  async #insured<Value>(
    work: () => Promise<Value>,
    instead: (insurance: RateLimiterLike) => Promise<Value>,
  ): Promise<Value> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof RateLimiterRes || !this.#insurance) throw error;
      return instead(this.#insurance);
    }
  }

  #threshold(option: string, points: number | undefined): number {
    const threshold = Math.trunc(Number(points ?? 0));
    if (threshold > 0 && this.points > threshold)
      throw new Error(`${option} option must be greater or equal "points" option`);
    return threshold;
  }
}
