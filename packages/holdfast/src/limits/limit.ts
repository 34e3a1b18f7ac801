/** Limit: how often something may be done for each target, counted in Redis for all processes together. */
import { checkOptions, checkWord, refuseSurplus } from "../arguments.js";
import { fromCaller } from "../errors.js";
import type { Charge } from "./charges.js";
import type { Limiter } from "./limiter.js";
import { type Cell, type LimitResult, type Reservation, toCell } from "./result.js";
import {
  checkCost,
  type LimitOptions,
  type LimitPolicy,
  type LimitSettings,
  parseLimitOptions,
} from "./settings.js";

export interface TakeOptions {
  /**
   * When the charge happened, in milliseconds since 1970 by the server's clock. A time in the future counts as now. Only
   * for `rolling` and `gcra`, which do not count what has regenerated since. In a refund, for every type: when the cost
   * was taken.
   * @default now
   */
  readonly atMs?: number | undefined;
}

/** A limit and the target that is charged: the parts that a group is made of. */
export interface LimitTarget {
  readonly limit: Limit;
  readonly target: string;
  /** The cost of this part. @default the cost that the group is called with */
  readonly cost?: number | undefined;
  readonly atMs?: number | undefined;
}

export interface PartOptions extends TakeOptions {
  /** The cost of this part. @default the cost that the group is called with */
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

  /** Whether the limiter counts this limit. */
  isOf(limiter: Limiter): boolean {
    return this.#limiter === limiter;
  }

  /** The checked options, for groups and indexes. */
  get settings(): LimitSettings {
    return this.#settings;
  }

  /** Makes a part of a group: `hf.limits.all([requests.of(user), bytes.of(user, { cost: 512 })])`. */
  of(target: string, options: PartOptions = {}): LimitTarget {
    checkOptions("options", options, ["cost", "atMs"]);
    const { cost, atMs } = options;
    if (cost !== undefined) checkCost("cost", cost);
    return { limit: this, target: checkWord("target", target), cost, atMs };
  }

  /**
   * Takes `cost` for `target`, or nothing. Where the answer was lost, `outage` decides, and the cost may have been taken
   * all the same.
   * @throws {InvalidArgumentError} @throws {ClosedError}
   * @throws {IndeterminateError} @throws {ServerError} only with `outage: "error"`
   */
  async take(target: string, cost = 1, options?: TakeOptions): Promise<LimitResult> {
    const answer = this.#limiter.take(this.#charge(target, checkCost("cost", cost), options));
    if (!(answer instanceof Promise)) return answer;
    // Not by tellCaller(), which would cost another promise for each charge.
    try {
      return await answer;
    } catch (error) {
      throw fromCaller(error, fromCaller);
    }
  }

  /**
   * Takes as `take` does, and answers as redis-cell's `CL.THROTTLE` does: whether it was refused, the burst, what
   * remains, the seconds until a retry, and the seconds until nothing is used. A retry of -1 means that the cost was
   * taken, or that it never fits. Rejects as `take` does.
   */
  async cell(target: string, cost = 1): Promise<Cell> {
    return toCell(this.#settings.burst, await this.take(target, cost));
  }

  /** Says what `take` would answer now, and takes nothing. Rejects as `take` does. */
  async peek(target: string, cost = 1): Promise<LimitResult> {
    return await this.#limiter.peek(this.#charge(target, checkCost("cost", cost)));
  }

  /** Gives `cost` back, at most what is used. Rejects when it could not be given back, whatever `outage` says. */
  async refund(target: string, cost = 1, options?: TakeOptions): Promise<LimitResult> {
    return await this.#limiter.refund(this.#charge(target, checkCost("cost", cost), options));
  }

  /** Takes `cost` now. `settle(actual)` corrects it once the real cost is known. Rejects as `take` does. */
  async reserve(target: string, cost = 1): Promise<Reservation> {
    return await this.#limiter.reserve(this.#charge(target, checkCost("cost", cost)));
  }

  /** Sets the amount used, capped at what fits. Rejects as `refund` does. */
  async set(target: string, used: number): Promise<LimitResult> {
    return await this.#limiter.set(this.#charge(target, checkCost("used", used)));
  }

  /** Sets the amount used to nothing. Rejects as `refund` does. */
  async reset(target: string): Promise<void> {
    await this.#limiter.reset(this.#charge(target, 0));
  }

  /** @throws {InvalidArgumentError} */
  #charge(target: string, cost: number, options?: TakeOptions): Charge {
    checkWord("target", target);
    if (options !== undefined) checkOptions("options", options, ["atMs"]);
    return this.#limiter.charge(this.#settings, target, cost, options?.atMs ?? null);
  }
}

refuseSurplus(Limit, { isOf: 1, of: 2, take: 3, cell: 2, peek: 2, refund: 3, reserve: 2, set: 2, reset: 1 });
