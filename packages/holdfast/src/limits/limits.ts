/** Limits: several at once, charged all or none. */
import { checkWord } from "../arguments.js";
import { InvalidArgumentError } from "../errors.js";
import { Limit, type LimitTarget } from "./limit.js";
import type { LimitIndex } from "./limit-index.js";
import type { Charge, Limiter } from "./limiter.js";
import type { GroupResult } from "./result.js";
import { checkCost, type LimitSettings } from "./settings.js";
import { types } from "./types.js";

/** One limit of a group; or a group in a group. */
export type LimitGroupPart = LimitTarget | LimitGroup;

export class LimitGroup {
  readonly #limiter: Limiter;
  readonly #isAcross: boolean;
  readonly parts: readonly LimitTarget[];

  /** Made by `hf.limits.all(parts)` and `hf.limits.across(parts)`. */
  constructor(limiter: Limiter, parts: readonly LimitGroupPart[], isAcross = false) {
    this.#limiter = limiter;
    this.#isAcross = isAcross;
    this.parts = partsOf(limiter, parts);
    // Few are in a group, and a group is made for each request: compared, not kept in a table.
    for (const [place, part] of this.parts.entries())
      if (this.parts.findIndex((other) => isSame(other, part)) < place)
        throw new InvalidArgumentError(
          "parts",
          `has the limit '${part.limit.name}' for '${part.target}' twice`,
        );
  }

  /**
   * Takes `cost` from every one, or nothing from any: one script, and nobody sees a part of it (`across`: see there).
   * Where no answer came, all may have been charged. While Redis cannot be asked each limit's `outage` says yes or no.
   * @throws {ClosedError}
   * @throws {IndeterminateError} @throws {ServerError} only with a limit of `outage: "error"`
   */
  async take(cost = 1): Promise<GroupResult> {
    return await this.#ask("take", cost);
  }

  /** What `take` would say now, without taking. */
  async peek(cost = 1): Promise<GroupResult> {
    return await this.#ask("look", cost);
  }

  /** Gives back to every one, each by itself. Rejects with what went wrong, whatever `outage` says. */
  async refund(cost = 1): Promise<GroupResult> {
    return await this.#limiter.refundAll(this.#asked(cost));
  }

  /**
   * Gives back a part of what `take` took, to where it was taken: what this process admitted by itself while Redis was
   * away (`outage: "local"`) to its own share. Rejects with what went wrong, whatever `outage` says.
   * @param took what `take` answered
   * @param costs so much of each part, in their order
   */
  async giveBack(took: GroupResult, costs: readonly number[]): Promise<void> {
    await this.#limiter.giveBack(this.parts, took, costs);
  }

  async reset(): Promise<void> {
    await Promise.all(this.parts.map(({ limit, target }) => limit.reset(target)));
  }

  async #ask(how: "take" | "look", cost: number): Promise<GroupResult> {
    const limiter = this.#limiter;
    const asked = this.#asked(cost);
    return how === "take" && this.#isAcross ? await limiter.across(asked) : await limiter.all(asked, how);
  }

  #asked(costOfAll: number): { readonly settings: LimitSettings; readonly charge: Charge }[] {
    const ofAll = checkCost("cost", costOfAll);
    return this.parts.map(({ limit, target, cost = ofAll, atMs = null }) => ({
      settings: limit.settings,
      charge: { target, cost, atMs },
    }));
  }
}

/** Checked, and those of groups in it. */
function partsOf(limiter: Limiter, parts: unknown): LimitTarget[] {
  if (!Array.isArray(parts)) throw new InvalidArgumentError("parts", "must be an array of limit.of(target)");
  return parts.flatMap((part: LimitGroupPart, place) => {
    if (part instanceof LimitGroup) return partsOf(limiter, part.parts);
    const { limit, target, cost, atMs } = (part ?? {}) as LimitTarget;
    if (!(limit instanceof Limit))
      throw new InvalidArgumentError(`parts[${place}]`, "must be limit.of(target), or a group");
    if (limit.isOf(limiter)) return limit.of(target, { cost, atMs });
    throw new InvalidArgumentError(`parts[${place}]`, describeForeign(limit));
  });
}

function describeForeign({ name }: Limit): string {
  return `is the limit '${name}' of another Holdfast, which counts it: make both with one`;
}

function isSame(one: LimitTarget, other: LimitTarget): boolean {
  const [{ name, policy }, its] = [one.limit, other.limit];
  return one.target === other.target && name === its.name && policy.type === its.policy.type;
}

export class Limits {
  readonly #limiter: Limiter;

  /** Made by `hf.limits`. */
  constructor(limiter: Limiter) {
    this.#limiter = limiter;
  }

  /** Whether this Holdfast made it. */
  has(limit: Limit): boolean {
    return limit.isOf(this.#limiter);
  }

  /** A list of limits that can be reset together. */
  async index(name: string): Promise<LimitIndex> {
    checkWord("name", name);
    return this.#limiter.index(name, (parts) => partsOf(this.#limiter, parts));
  }

  /** A group of limits, each with its target: `hf.limits.all([perSecond.of(user), perDay.of(user)])`. */
  all(parts: readonly LimitGroupPart[]): LimitGroup {
    return new LimitGroup(this.#limiter, parts);
  }

  /**
   * A group of limits whose targets a cluster keeps in different slots, where no script reaches all: each is charged by
   * itself, and given back where another refuses. Others may see a part of it meanwhile. Of a process that dies between
   * the two a part stays charged until it has run out, as every charge does: so none of type `lifetime`.
   * @throws {InvalidArgumentError}
   */
  across(parts: readonly LimitGroupPart[]): LimitGroup {
    const group = new LimitGroup(this.#limiter, parts, true);
    const endless = group.parts.find(({ limit }) => types[limit.policy.type].frees === "never");
    if (!endless) return group;
    const problem = `has '${endless.limit.name}' of type "${endless.limit.policy.type}", which does not run out: use all()`;
    throw new InvalidArgumentError("parts", problem);
  }
}
