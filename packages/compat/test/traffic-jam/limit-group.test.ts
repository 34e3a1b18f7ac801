/** What spec/traffic_jam_limit_group_spec.rb asserts, and what a group of one script is. */

import { InvalidArgumentError } from "holdfast";
import { beforeEach, describe, expect, test } from "vitest";
import {
  Configuration,
  DecrementNotSupportedError,
  GcraLimit,
  LifetimeLimit,
  Limit,
  LimitExceededError,
  LimitGroup,
  RollingLimit,
} from "../../src/traffic-jam/index.ts";
import { onEachScene } from "./scene.ts";

describe("LimitGroup", () => {
  onEachScene((scene) => {
    let few: Limit;
    let many: Limit;
    let group: LimitGroup;
    const make = (action: string, max: number, value: string | null = scene().value, period = 3_600): Limit =>
      new Limit(action, value, { max, period, config: scene().config });

    beforeEach(() => {
      few = make("few", 2);
      many = make("many", 3);
      group = new LimitGroup(few, many);
    });

    test("takes limits one after the other, or as an array, or none", async () => {
      expect(group.flatten()).toEqual([few, many]);
      expect(new LimitGroup([few, many]).flatten()).toEqual([few, many]);
      expect(new LimitGroup([few, many], { ignoreNilValues: true }).flatten()).toEqual([few, many]);
      expect(new LimitGroup(few, many, { ignoreNilValues: true }).flatten()).toEqual([few, many]);
      expect(new LimitGroup({ ignoreNilValues: true }).limits).toEqual([]);
      expect(() => new LimitGroup(few, { ignoreNil: true } as never)).toThrow(InvalidArgumentError);
      for (const wrong of [[{ action: "a" }], null, "few", { action: "a" }])
        expect(() => new LimitGroup(wrong as never)).toThrow(InvalidArgumentError);
    });

    test("an empty group lets everything pass: remaining is null", async () => {
      const empty = new LimitGroup();
      expect([await empty.increment(5), await empty.decrement(), await empty.exceeded(5)]).toEqual([
        true,
        true,
        false,
      ]);
      expect([await empty.remaining(), await empty.limitExceeded()]).toEqual([null, null]);
      await empty.incrementOrThrow();
      await empty.reset();
    });

    test("increment counts for every limit", async () => {
      expect(await group.increment(1)).toBe(true);
      expect([await few.used(), await many.used()]).toEqual([1, 1]);
    });

    test("a group that is refused leaves every member at 0, whichever refused", async () => {
      expect(await group.increment(3)).toBe(false);
      expect([await few.used(), await many.used()]).toEqual([0, 0]);
      expect(await new LimitGroup(many, few).increment(3)).toBe(false);
      expect([await few.used(), await many.used()]).toEqual([0, 0]);
    });

    test("incrementOrThrow raises, and leaves every member at 0", async () => {
      await expect(group.incrementOrThrow(3)).rejects.toThrow(LimitExceededError);
      expect([await few.used(), await many.used()]).toEqual([0, 0]);
      expect(await group.incrementOrThrow(2)).toBeUndefined();
      expect([await few.used(), await many.used()]).toEqual([2, 2]);
    });

    test("the error names the limit, the first that refused, also out of a nested group", async () => {
      const outer = new LimitGroup(make("plenty", 100), new LimitGroup(new LimitGroup(many, few)));
      await expect(outer.incrementOrThrow(3)).rejects.toMatchObject({ limit: few });
      await expect(outer.incrementOrThrow(4)).rejects.toMatchObject({ limit: many });
      expect(await outer.limitExceeded(3)).toBe(few);
      expect(await outer.limitExceeded(4)).toBe(many);
    });

    test("the first that refused is named also where a later one needs no server to refuse", async () => {
      const never = make("never", 0);
      await few.increment(2);
      await expect(new LimitGroup(many, few, never).incrementOrThrow()).rejects.toMatchObject({ limit: few });
      await expect(new LimitGroup(many, never, few).incrementOrThrow()).rejects.toMatchObject({
        limit: never,
      });
      expect(await many.used()).toBe(0);
    });

    test("remaining is that of the limit with the least", async () => {
      expect(await group.remaining()).toBe(2);
      await many.increment(2);
      expect(await group.remaining()).toBe(1);
    });

    test("exceeded is whether any would be", async () => {
      expect([await group.exceeded(2), await group.exceeded(3)]).toEqual([false, true]);
      expect([await group.limitExceeded(2), await group.limitExceeded(3)]).toEqual([null, few]);
    });

    test("decrement gives back to every limit, reset resets them", async () => {
      await group.increment(2);
      expect(await group.decrement(1)).toBe(true);
      expect([await few.used(), await many.used()]).toEqual([1, 1]);
      expect(await group.increment(-1)).toBe(true);
      expect([await few.used(), await many.used()]).toEqual([0, 0]);
      await group.increment(2);
      expect(await group.reset()).toBeUndefined();
      expect([await few.used(), await many.used()]).toEqual([0, 0]);
    });

    test("add adds a limit, or a group; groups nest, and flatten has the limits in their order", async () => {
      const [a, b, c] = [make("a", 1), make("b", 1), make("c", 1)];
      const inner = new LimitGroup(a);
      const outer = new LimitGroup(inner, c);
      inner.add(b);
      expect(outer.add(new LimitGroup(few))).toBe(outer);
      expect(outer.flatten()).toEqual([a, b, c, few]);
      expect(outer.limits.length).toBe(3);
      expect(await outer.increment()).toBe(true);
      expect(await b.used()).toBe(1);
    });

    test("with ignoreNilValues limits whose value is null or undefined are left out, at first and later", async () => {
      const nobody = make("nobody", 0, null);
      expect(await new LimitGroup(few, nobody).increment()).toBe(false);
      const lenient = new LimitGroup([nobody, few], { ignoreNilValues: true });
      lenient.add(new Limit("nobody", undefined, { max: 0, period: 1 })).add(many);
      expect(lenient.flatten()).toEqual([few, many]);
      expect(await lenient.increment()).toBe(true);
    });

    test("a limit that is in a group twice is charged twice, as in the gem", async () => {
      const twice = new LimitGroup(many, new LimitGroup(make("many", 3)), few);
      expect(await twice.increment()).toBe(true);
      expect([await many.used(), await few.used()]).toEqual([2, 1]);
      expect(await twice.increment()).toBe(false);
      expect([await many.used(), await few.used()]).toEqual([2, 1]);
      await twice.decrement();
      expect([await many.used(), await few.used()]).toEqual([0, 0]);
      await expect(new LimitGroup(many, make("many", 30)).increment()).rejects.toThrow(
        /name the actions apart/,
      );
    });

    test("members of every class are charged and given back together; a GcraLimit cannot be given back", async () => {
      const options = { max: 3, period: 3_600, config: scene().config };
      const rolling = new RollingLimit("rolling", scene().value, options);
      const lifetime = new LifetimeLimit("lifetime", scene().value, { max: 3, config: scene().config });
      const gcra = new GcraLimit("gcra", scene().value, options);
      const cap = new RollingLimit("cap", scene().value, { ...options, period: 0 });
      const all = new LimitGroup(rolling, lifetime, gcra, cap, many);
      expect(await all.increment(2)).toBe(true);
      expect(await all.increment(2)).toBe(false);
      expect(await Promise.all(all.flatten().map((limit) => limit.used()))).toEqual([2, 2, 2, 0, 2]);
      await expect(all.decrement(1)).rejects.toThrow(DecrementNotSupportedError);
      await expect(all.increment(-1)).rejects.toThrow(InvalidArgumentError);
      expect(await Promise.all(all.flatten().map((limit) => limit.used()))).toEqual([2, 2, 2, 0, 2]);
      expect(await new LimitGroup(rolling, lifetime, many).decrement(1)).toBe(true);
      expect(await Promise.all(all.flatten().map((limit) => limit.used()))).toEqual([1, 1, 2, 0, 1]);
    });

    test("an increment of a group is one script, and so is each look at it", async () => {
      const nested = new LimitGroup(group, new LimitGroup(make("third", 9, "another value")));
      await nested.increment();
      for (const call of [
        () => nested.increment(),
        () => nested.decrement(),
        () => nested.remaining(),
        () => nested.exceeded(),
        () => nested.limitExceeded(),
        () => nested.increment(9),
      ]) {
        const sent = await scene().sent(call);
        expect(sent.filter((name) => name.startsWith("EVAL"))).toEqual(["EVALSHA"]);
      }
    });

    test("limits of two clients or key prefixes cannot be one group", async () => {
      const config = new Configuration();
      config.redis = scene().config.redis;
      const other = new Limit("other", "x", { max: 3, period: 60, config });
      await expect(new LimitGroup(few, other).increment()).rejects.toThrow(/one client/);
      expect(await few.used()).toBe(0);
    });
  });
});
