/** LimitGroup: several limits, each with its target, that are charged together or not at all. */
import { refuseSurplus } from "../arguments.js";
import { InvalidArgumentError } from "../errors.js";
import type { Charge } from "./charges.js";
import { Limit, type LimitTarget } from "./limit.js";
import type { Limiter } from "./limiter.js";
import type { GroupResult } from "./result.js";
import { checkCost } from "./settings.js";

/** A limit with its target, or a group within a group. */
export type LimitGroupPart = LimitTarget | LimitGroup;

export class LimitGroup {
  readonly #limiter: Limiter;
  readonly #isAcross: boolean;
  readonly parts: readonly LimitTarget[];

  /** Made by `hf.limits.all(parts)` and `hf.limits.across(parts)`. */
  constructor(limiter: Limiter, parts: readonly LimitGroupPart[], isAcross = false) {
    this.#limiter = limiter;
    this.#isAcross = isAcross;
    this.parts = flattenParts(limiter, parts);
    // A group is small, and made for each request: comparing is cheaper than a table.
    for (const [place, part] of this.parts.entries())
      if (this.parts.findIndex((other) => isSame(other, part)) < place)
        throw new InvalidArgumentError(
          "parts",
          `has the limit '${part.limit.name}' for '${part.target}' twice`,
        );
  }

  /**
   * Takes `cost` from every part, or nothing from any, in one script: no other caller sees a part of it. For a group of
   * `across` see there. Where the answer was lost, all parts may have been charged. While Redis cannot be asked, the
   * `outage` of each limit decides for its part.
   * @throws {ClosedError}
   * @throws {IndeterminateError} @throws {ServerError} only with a limit of `outage: "error"`
   */
  async take(cost = 1): Promise<GroupResult> {
    const charges = this.#charges(cost);
    return await (this.#isAcross ? this.#limiter.across(charges) : this.#limiter.all(charges, "take"));
  }

  /** Says what `take` would answer now, and takes nothing. */
  async peek(cost = 1): Promise<GroupResult> {
    const charges = this.#charges(cost);
    return await (this.#isAcross ? this.#limiter.peekAcross(charges) : this.#limiter.all(charges, "look"));
  }

  /** Gives `cost` back to every part, each by itself. Rejects when one could not be given back, whatever `outage` says. */
  async refund(cost = 1): Promise<GroupResult> {
    return await this.#limiter.refundAll(this.#charges(cost));
  }

  /**
   * Gives back a part of what `take` took, to where it was taken: to Redis, or to the share of this process for a part
   * that it admitted by itself while Redis was away (`outage: "local"`). Rejects as `refund` does.
   * @param took the answer of `take`
   * @param costs the cost to give back to each part, in their order
   */
  async giveBack(took: GroupResult, costs: readonly number[]): Promise<void> {
    const charges = this.parts.map(({ limit, target }, place) =>
      this.#limiter.charge(limit.settings, target, checkCost("costs", costs[place] ?? 0), took.atMs),
    );
    await this.#limiter.giveBack(charges, took);
  }

  async reset(): Promise<void> {
    await Promise.all(this.parts.map(({ limit, target }) => limit.reset(target)));
  }

  #charges(costOfAll: number): Charge[] {
    const ofAll = checkCost("cost", costOfAll);
    return this.parts.map(({ limit, target, cost = ofAll, atMs = null }) =>
      this.#limiter.charge(limit.settings, target, cost, atMs),
    );
  }
}

refuseSurplus(LimitGroup, { take: 1, peek: 1, refund: 1, giveBack: 2, reset: 0 });

/** Checks the parts, and puts those of inner groups in the place of the group. @throws {InvalidArgumentError} */
export function flattenParts(limiter: Limiter, parts: unknown): LimitTarget[] {
  if (!Array.isArray(parts)) throw new InvalidArgumentError("parts", "must be an array of limit.of(target)");
  return parts.flatMap((part: LimitGroupPart, place) => {
    if (part instanceof LimitGroup) return flattenParts(limiter, part.parts);
    const { limit, target, cost, atMs } = (part ?? {}) as LimitTarget;
    if (!(limit instanceof Limit))
      throw new InvalidArgumentError(`parts[${place}]`, "must be limit.of(target), or a group");
    if (limit.isOf(limiter)) return limit.of(target, { cost, atMs });
    throw new InvalidArgumentError(
      `parts[${place}]`,
      `is the limit '${limit.name}' of another Holdfast, which counts it: make both with one`,
    );
  });
}

function isSame(one: LimitTarget, other: LimitTarget): boolean {
  const [{ name, policy }, its] = [one.limit, other.limit];
  return one.target === other.target && name === its.name && policy.type === its.policy.type;
}
