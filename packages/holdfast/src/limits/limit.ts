/** Limit: how often something may be done for each target, counted in Redis for all processes together. */

import { checkOptions, checkWord } from "../arguments.js";
import type { Limiter } from "./limiter.js";
import type { Cell, LimitResult, Reservation } from "./result.js";
import {
  checkCost,
  type LimitOptions,
  type LimitPolicy,
  type LimitSettings,
  parseLimitOptions,
} from "./settings.js";

export interface TakeOptions {
  /**
   * When it happened, in ms since 1970 by the server's clock, for `rolling` and `gcra`: what has regenerated since is
   * not counted. Later than now is now. For a refund of any type: when it was taken. @default now
   */
  readonly atMs?: number | undefined;
}

/** A limit and whom it is for: what a group is made of. */
export interface LimitTarget {
  readonly limit: Limit;
  readonly target: string;
  /** Instead of what the group is asked for. */
  readonly cost?: number | undefined;
  readonly atMs?: number | undefined;
}

export interface PartOptions extends TakeOptions {
  /** What it is charged in a group, instead of what the group is asked for. */
  readonly cost?: number | undefined;
}

export class Limit {
  readonly name: string;
  readonly #settings: LimitSettings;
  readonly #limiter: Limiter;

  /** Made by `hf.limit(name, options)`. */
  constructor(limiter: Limiter, name: string, options: LimitOptions) {
    this.name = checkWord("name", name);
    this.#settings = parseLimitOptions(name, options);
    this.#limiter = limiter;
  }

  get policy(): LimitPolicy {
    return this.#settings.policy;
  }

  /** For groups: whether it is counted there. */
  isOf(limiter: Limiter): boolean {
    return this.#limiter === limiter;
  }

  /** For groups, and whatever else needs both. */
  get settings(): LimitSettings {
    return this.#settings;
  }

  /** A part of a group: `hf.limits.all([requests.of(user), bytes.of(user, { cost: 512 })])`. */
  of(target: string, options: PartOptions = {}): LimitTarget {
    checkOptions("options", options, ["cost", "atMs"]);
    const { cost, atMs } = options;
    if (cost !== undefined) checkCost("cost", cost);
    return { limit: this, target: checkWord("target", target), cost, atMs };
  }

  /**
   * Takes `cost` for `target`, or nothing. Where no answer came (`outage`), it may have been taken all the same.
   * @throws {InvalidArgumentError} @throws {ClosedError}
   * @throws {IndeterminateError} @throws {ServerError} only with `outage: "error"`
   */
  async take(target: string, cost = 1, options?: TakeOptions): Promise<LimitResult> {
    const charge = {
      target: checkWord("target", target),
      cost: checkCost("cost", cost),
      atMs: readMoment(options),
    };
    const answer = this.#limiter.take(this.#settings, charge);
    return answer instanceof Promise ? await answer : answer; // awaited: an error names who called
  }

  /**
   * `take`, answered as redis-cell does: limited, limit, remaining, and the seconds until a retry and until nothing is
   * used. As there, -1 is the retry of what was taken, and of what never fits. Errors as for `take`.
   */
  async cell(target: string, cost = 1): Promise<Cell> {
    const result = await this.take(target, cost);
    return this.#limiter.cell(this.#settings, result);
  }

  /** What `take` would say now, without taking. Errors as for `take`. */
  async peek(target: string, cost = 1): Promise<LimitResult> {
    const charge = { target: checkWord("target", target), cost: checkCost("cost", cost), atMs: null };
    return await this.#limiter.peek(this.#settings, charge);
  }

  /** Gives back what was taken, never more than is used. Rejects with what went wrong, whatever `outage` says. */
  async refund(target: string, cost = 1, options?: TakeOptions): Promise<LimitResult> {
    const charge = {
      target: checkWord("target", target),
      cost: checkCost("cost", cost),
      atMs: readMoment(options),
    };
    return await this.#limiter.refund(this.#settings, charge);
  }

  /** Takes `cost` now, and learns later how much it was: see Reservation. Errors as for `take`. */
  async reserve(target: string, cost = 1): Promise<Reservation> {
    const charge = { target: checkWord("target", target), cost: checkCost("cost", cost), atMs: null };
    return await this.#limiter.reserve(this.#settings, charge);
  }

  /** From now on so much is used, at most what fits. Errors as for `refund`. */
  async set(target: string, used: number): Promise<LimitResult> {
    const charge = { target: checkWord("target", target), cost: checkCost("used", used), atMs: null };
    return await this.#limiter.set(this.#settings, charge);
  }

  /** From now on nothing is used. Errors as for `refund`. */
  async reset(target: string): Promise<void> {
    await this.#limiter.reset(this.#settings, checkWord("target", target));
  }
}

function readMoment(options: TakeOptions | undefined): number | null {
  if (options === undefined) return null;
  checkOptions("options", options, ["atMs"]);
  return options.atMs ?? null;
}
