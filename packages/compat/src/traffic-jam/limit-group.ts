/** LimitGroup: several limits, charged all or none, in one script. */
import { checkOptions } from "../options.js";
import { charge, refund, reset, usedOf } from "./charges.js";
import { LimitExceededError } from "./errors.js";
import { Gauge } from "./gauge.js";
import type { IncrementOptions, Limiter, SingleLimit } from "./limiter.js";

export type LimitGroupMember = SingleLimit | LimitGroup;

export interface LimitGroupOptions {
  /** Leaves out limits whose value is null or undefined. @default false */
  readonly ignoreNilValues?: boolean | undefined;
}

type Members =
  | readonly [members: readonly LimitGroupMember[], options?: LimitGroupOptions]
  | readonly LimitGroupMember[]
  | readonly [...members: LimitGroupMember[], options: LimitGroupOptions];

export class LimitGroup implements Limiter {
  readonly ignoreNilValues: boolean;
  readonly #members: LimitGroupMember[] = [];

  /** Limits and groups, one after the other or as an array; options may follow. @throws {InvalidArgumentError} */
  constructor(...args: Members) {
    const last = args.at(-1);
    const isOptions = typeof last === "object" && last !== null && !Array.isArray(last) && !isMember(last);
    const options = (isOptions ? last : {}) as LimitGroupOptions;
    checkOptions("options", options, ["ignoreNilValues"]);
    this.ignoreNilValues = options.ignoreNilValues ?? false;
    const members = (isOptions ? args.slice(0, -1) : args) as readonly (
      | LimitGroupMember
      | readonly LimitGroupMember[]
    )[];
    for (const member of members.flat()) this.add(member as LimitGroupMember);
  }

  /** The members that were added and not left out. */
  get limits(): readonly LimitGroupMember[] {
    return this.#members;
  }

  /** Adds a limit or a group. Returns this group. @throws {InvalidArgumentError} */
  add(member: LimitGroupMember): this {
    if (member instanceof LimitGroup) this.#members.push(member);
    else {
      Gauge.of(member); // throws where the member is no limit
      const isNil = member.value === null || member.value === undefined;
      if (!isNil || !this.ignoreNilValues) this.#members.push(member);
    }
    return this;
  }

  async increment(amount = 1, options: IncrementOptions = {}): Promise<boolean> {
    return (await charge(this.flatten(), amount, options)) === null;
  }

  async incrementOrThrow(amount = 1, options: IncrementOptions = {}): Promise<void> {
    const refusal = await charge(this.flatten(), amount, options);
    if (refusal) throw new LimitExceededError(refusal.limit, refusal.retryAfterMs);
  }

  async decrement(amount = 1, options: IncrementOptions = {}): Promise<boolean> {
    return refund(this.flatten(), amount, options);
  }

  async exceeded(amount = 1): Promise<boolean> {
    return (await this.limitExceeded(amount)) !== null;
  }

  async limitExceeded(amount = 1): Promise<SingleLimit | null> {
    const limits = this.flatten();
    const used = await usedOf(limits);
    return limits.find((limit, place) => (used[place] as number) + amount > limit.max) ?? null;
  }

  async remaining(): Promise<number | null> {
    const limits = this.flatten();
    if (limits.length === 0) return null;
    const used = await usedOf(limits);
    return Math.min(...limits.map((limit, place) => limit.max - (used[place] as number)));
  }

  async reset(): Promise<void> {
    await reset(this.flatten());
  }

  flatten(): SingleLimit[] {
    return this.#members.flatMap((member) => member.flatten());
  }
}

function isMember(value: object): boolean {
  return value instanceof LimitGroup || "action" in value;
}
