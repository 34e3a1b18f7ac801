/** Limits: several at once, charged all or none. */
import { InvalidArgumentError } from "../errors.js";
import type { Part } from "../part.js";
import type { Desk } from "./desk.js";
import type { LimitTarget } from "./limit.js";
import type { GroupResult } from "./result.js";
import { checkCost } from "./terms.js";

/** One limit of a group; or a group in a group. */
export type LimitGroupPart = LimitTarget | LimitGroup;

export class LimitGroup {
  readonly #desk: Part<Desk>;
  readonly parts: readonly LimitTarget[];

  /** Made by `hf.limits.all(parts)`. */
  constructor(desk: Part<Desk>, parts: readonly LimitGroupPart[]) {
    this.#desk = desk;
    this.parts = parts.flatMap((part) => (part instanceof LimitGroup ? part.parts : [part]));
    const seen = new Set<string>();
    for (const { limit, target } of this.parts) {
      const name = JSON.stringify([limit.policy.type, limit.name, target]);
      if (seen.has(name))
        throw new InvalidArgumentError("parts", `has the limit '${limit.name}' for '${target}' twice`);
      seen.add(name);
    }
  }

  /**
   * Takes `cost` from every one, or nothing from any: one script, and nobody sees a part of it. Where no answer came,
   * all may have been charged. While Redis cannot be asked each limit's `outage` says yes or no.
   * @throws {ClosedError}
   * @throws {IndeterminateError} @throws {ServerError} only with a limit of `outage: "error"`
   */
  async take(cost = 1): Promise<GroupResult> {
    return this.#ask("all", cost);
  }

  /** What `take` would say now, without taking. */
  async peek(cost = 1): Promise<GroupResult> {
    return this.#ask("look", cost);
  }

  /** Gives back to every one, each for itself. */
  async refund(cost = 1): Promise<void> {
    await Promise.all(this.parts.map(({ limit, target }) => limit.refund(target, cost)));
  }

  async reset(): Promise<void> {
    await Promise.all(this.parts.map(({ limit, target }) => limit.reset(target)));
  }

  async #ask(how: "all" | "look", cost: number): Promise<GroupResult> {
    const charge = { cost: checkCost("cost", cost), atMs: null };
    const asked = this.parts.map(({ limit, target }) => ({
      terms: limit.terms,
      charge: { ...charge, target },
    }));
    return (this.#desk.value ?? (await this.#desk.load())).all(asked, how);
  }
}

export class Limits {
  readonly #desk: Part<Desk>;

  /** Made by `hf.limits`. */
  constructor(desk: Part<Desk>) {
    this.#desk = desk;
  }

  /** A group of limits, each with its target: `hf.limits.all([perSecond.of(user), perDay.of(user)])`. */
  all(parts: readonly LimitGroupPart[]): LimitGroup {
    return new LimitGroup(this.#desk, parts);
  }
}
