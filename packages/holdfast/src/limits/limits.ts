/** Limits: `hf.limits`, for several limits at once. */
import { checkWord, refuseSurplus } from "../arguments.js";
import { InvalidArgumentError } from "../errors.js";
import type { Limit } from "./limit.js";
import { flattenParts, LimitGroup, type LimitGroupPart } from "./limit-group.js";
import type { LimitIndex } from "./limit-index.js";
import type { Limiter } from "./limiter.js";
import { types } from "./types.js";

export class Limits {
  readonly #limiter: Limiter;

  /** Made by `hf.limits`. */
  constructor(limiter: Limiter) {
    this.#limiter = limiter;
  }

  /** Whether the limit was made by this Holdfast. */
  has(limit: Limit): boolean {
    return limit.isOf(this.#limiter);
  }

  /** Opens a list of limits that can be reset together. */
  async index(name: string): Promise<LimitIndex> {
    checkWord("name", name);
    return this.#limiter.index(name, (parts) => flattenParts(this.#limiter, parts));
  }

  /** Makes a group of limits, each with its target: `hf.limits.all([perSecond.of(user), perDay.of(user)])`. */
  all(parts: readonly LimitGroupPart[]): LimitGroup {
    return new LimitGroup(this.#limiter, parts);
  }

  /**
   * Makes a group of limits whose targets a cluster keeps in different slots, where no script reaches all of them. Each
   * part is charged by itself, and given back when another part refuses; meanwhile other callers may see it charged. When
   * the process dies between the two, the charge stays until it has run out, as every charge does. So no part may be of
   * type `lifetime`, which does not run out.
   * @throws {InvalidArgumentError}
   */
  across(parts: readonly LimitGroupPart[]): LimitGroup {
    const group = new LimitGroup(this.#limiter, parts, true);
    const endless = group.parts.find(({ limit }) => types[limit.policy.type].frees === "never");
    if (!endless) return group;
    const { name, policy } = endless.limit;
    throw new InvalidArgumentError(
      "parts",
      `has '${name}' of type "${policy.type}", which does not run out: use all()`,
    );
  }
}

refuseSurplus(Limits, { has: 1, index: 1, all: 1, across: 1 });
