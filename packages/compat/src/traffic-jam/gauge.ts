/** Gauge: the native limit underneath a limit of the gem. It follows the client of the configuration. */
import {
  type Holdfast,
  InvalidArgumentError,
  type LimitIndex,
  type LimitOptions,
  type Limit as NativeLimit,
  ServerError,
} from "holdfast";
import { checkText } from "../options.js";
import { sharedHoldfast } from "../shared-holdfast.js";
import type { Configuration } from "./configuration.js";
import { DecrementNotSupportedError, InvalidKeyError } from "./errors.js";
import type { Kind } from "./kinds.js";
import type { SingleLimit } from "./limiter.js";
import { hashOf, textOf } from "./value.js";

const INDEX = "traffic-jam";
/** The largest max of a limit. */
export const MOST = 1_000_000_000;
/** 366 days, in seconds. */
const LONGEST_PERIOD = 366 * 86_400;
const indexes = new WeakMap<Holdfast, Promise<LimitIndex>>();

/** @throws {InvalidArgumentError} `config.redis` is not set */
export function holdfastFor(config: Configuration): Holdfast {
  if (!config.redis)
    throw new InvalidArgumentError("redis", "is not set: call TrafficJam.configure() and set config.redis");
  return sharedHoldfast(config.redis, { prefix: config.keyPrefix }).holdfast;
}

/** The list of all limits that this prefix has used. */
export function indexFor(holdfast: Holdfast): Promise<LimitIndex> {
  const known = indexes.get(holdfast);
  if (known) return known;
  const index = holdfast.limits.index(INDEX);
  index.catch(() => indexes.delete(holdfast)); // the next call tries again
  indexes.set(holdfast, index);
  return index;
}

/** The outcome of a call to Redis. A key of another type is the gem's own error. */
export async function answerOf<Value>(asked: Promise<Value>): Promise<Value> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ServerError && error.serverCode === "WRONGTYPE") throw new InvalidKeyError(error);
    throw error;
  }
}

export interface Found {
  readonly holdfast: Holdfast;
  readonly native: NativeLimit;
  readonly target: string;
}

const gauges = new WeakMap<SingleLimit, Gauge>();

export class Gauge {
  readonly #config: () => Configuration;
  readonly #limit: SingleLimit;
  readonly #kind: Kind;
  readonly #text: string;
  readonly #options: LimitOptions;
  #found: Found | null = null;

  private constructor(limit: SingleLimit, kind: Kind, config: () => Configuration) {
    const { action, value, max, period } = limit;
    this.#config = config;
    this.#limit = limit;
    this.#kind = kind;
    this.#text = textOf(value);
    const { type } = kind;
    // Every increment asks Redis, as in the gem: a refusal is over as soon as somebody decrements or resets.
    const common = { max, cache: false };
    const perMs = (): number => Math.max(Math.ceil(inMs(period)), 1);
    this.#options = type === "lifetime" ? { ...common, type } : { ...common, type, per: perMs() };
    checkText("action", action);
    checkMax(max);
  }

  /** @throws {InvalidArgumentError} */
  static attach(limit: SingleLimit, kind: Kind, config: () => Configuration): void {
    gauges.set(limit, new Gauge(limit, kind, config));
  }

  /** @throws {InvalidArgumentError} */
  static of(limit: SingleLimit): Gauge {
    const gauge = gauges.get(limit);
    if (gauge) return gauge;
    throw new InvalidArgumentError(
      "limit",
      "must be a Limit, RollingLimit, GcraLimit, LifetimeLimit or LimitGroup",
    );
  }

  /** Whether this limit never counts anything. */
  get isIdle(): boolean {
    return this.#limit.max === 0 || this.#limit.period === 0;
  }

  /** Whether `amount` fits; null where only Redis knows. @throws {InvalidArgumentError} */
  decide(amount: number): boolean | null {
    const { max, period } = this.#limit;
    const decided = this.#kind.decide(amount, max, period);
    return decided === null && amount > MOST ? false : decided;
  }

  /** @throws {DecrementNotSupportedError} */
  checkGives(): void {
    if (!this.#kind.gives) throw new DecrementNotSupportedError(this.#limit);
  }

  /** The native limit, and its target. @throws {InvalidArgumentError} */
  find(): Found {
    const config = this.#config();
    const holdfast = holdfastFor(config);
    if (this.#found?.holdfast === holdfast) return this.#found;
    const native = holdfast.limit(this.#limit.action, this.#options);
    this.#found = { holdfast, native, target: hashOf(this.#text, config.hashLength) };
    return this.#found;
  }

  /** The time of the increment, for limits that use it. */
  momentOf(atMs: number | undefined): number | undefined {
    return this.#kind.heedsTime ? atMs : undefined;
  }
}

function checkMax(max: number): void {
  if (!Number.isInteger(max) || max < 0 || max > MOST)
    throw new InvalidArgumentError("max", `must be a whole number from 0 to ${MOST}, not ${String(max)}`);
}

/** In ms. 1.001 * 1000 is 1000.9999999999999: corrected before it is rounded up. */
function inMs(period: number): number {
  if (typeof period !== "number" || !(period >= 0 && period <= LONGEST_PERIOD))
    throw new InvalidArgumentError(
      "period",
      `must be 0 to ${LONGEST_PERIOD} seconds, which is 366 days, not ${String(period)}`,
    );
  return Number((period * 1_000).toFixed(6));
}
