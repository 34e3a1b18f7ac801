/** The gem's limits. Those that count in another way are Limits too, as there. */
import { InvalidArgumentError } from "holdfast";
import { checkOptions } from "../options.js";
import { charge, refund, reset, usedOf } from "./charges.js";
import { type Configuration, configOfAll } from "./configuration.js";
import { LimitExceededError } from "./errors.js";
import { Gauge } from "./gauge.js";
import { bucket, gcra, type Kind, lifetime, rolling } from "./kinds.js";
import type { IncrementOptions, SingleLimit } from "./limiter.js";
import type { RateLimitValue } from "./value.js";

export interface LimitOptions {
  /** The largest amount in each `period`, a whole number; 0 admits nothing. */
  readonly max: number;
  /** Seconds; rounded up to whole milliseconds. 0 applies `max` to each call by itself, without Redis. */
  readonly period: number;
  /** The configuration. @default that of TrafficJam */
  readonly config?: Configuration | undefined;
}

export type LifetimeLimitOptions = Omit<LimitOptions, "period">;

/** A bucket that regenerates evenly: in any `period` less than twice `max` is counted. */
export class Limit implements SingleLimit {
  readonly action: string;
  readonly value: RateLimitValue;
  readonly max: number;
  readonly period: number;

  /** @throws {InvalidArgumentError} */
  constructor(action: string, value: RateLimitValue, options: LimitOptions);
  /** For the classes below. */
  constructor(action: string, value: RateLimitValue, options: LimitOptions, kind: Kind);
  constructor(action: string, value: RateLimitValue, options: LimitOptions, kind: Kind = bucket) {
    checkOptions("options", options, ["max", "period", "config"]);
    const { max, period, config } = options;
    if (max === undefined) throw new InvalidArgumentError("max", "is missing");
    if (period === undefined) throw new InvalidArgumentError("period", "is missing");
    this.action = action;
    this.value = value;
    this.max = max;
    this.period = period;
    Gauge.attach(this, kind, () => config ?? configOfAll);
  }

  async increment(amount = 1, options: IncrementOptions = {}): Promise<boolean> {
    return (await charge([this], amount, options)) === null;
  }

  async incrementOrThrow(amount = 1, options: IncrementOptions = {}): Promise<void> {
    const refusal = await charge([this], amount, options);
    if (refusal) throw new LimitExceededError(this, refusal.retryAfterMs);
  }

  async decrement(amount = 1, options: IncrementOptions = {}): Promise<boolean> {
    return refund([this], amount, options);
  }

  async exceeded(amount = 1): Promise<boolean> {
    return (await this.used()) + amount > this.max;
  }

  async limitExceeded(amount = 1): Promise<this | null> {
    return (await this.exceeded(amount)) ? this : null;
  }

  async used(): Promise<number> {
    const [used] = await usedOf([this]);
    return used as number;
  }

  async remaining(): Promise<number> {
    return this.max - (await this.used());
  }

  async reset(): Promise<void> {
    await reset([this]);
  }

  flatten(): SingleLimit[] {
    return [this];
  }
}

/** Counts as a Limit does. `time` is ignored, and it cannot be decremented. */
export class GcraLimit extends Limit {
  constructor(action: string, value: RateLimitValue, options: LimitOptions) {
    super(action, value, options, gcra);
  }
}

/** In any `period` at most `max` is counted. Keeps an entry for each increment of the last `period`. `time` is ignored. */
export class RollingLimit extends Limit {
  constructor(action: string, value: RateLimitValue, options: LimitOptions) {
    super(action, value, options, rolling);
  }
}

/** A count that never expires, unless it is reset. Its `period` is -1. `time` is ignored. */
export class LifetimeLimit extends Limit {
  constructor(action: string, value: RateLimitValue, options: LifetimeLimitOptions) {
    checkOptions("options", options, ["max", "config"]);
    super(action, value, { ...options, period: -1 }, lifetime);
  }
}
