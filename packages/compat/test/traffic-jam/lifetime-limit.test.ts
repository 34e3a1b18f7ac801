/** What spec/traffic_jam_lifetime_limit_spec.rb asserts, without what needs time to pass. */

import { InvalidArgumentError } from "holdfast";
import { beforeEach, describe, expect, test } from "vitest";
import { LifetimeLimit, Limit } from "../../src/traffic-jam/index.ts";
import { onEachScene } from "./scene.ts";

describe("LifetimeLimit", () => {
  onEachScene((scene) => {
    let limit: LifetimeLimit;
    const make = (max: number): LifetimeLimit =>
      new LifetimeLimit("test", scene().value, { max, config: scene().config });

    beforeEach(() => {
      limit = make(3);
    });

    test("its period is -1, it takes none, and it is a Limit", () => {
      expect(limit.period).toBe(-1);
      expect(limit).toBeInstanceOf(Limit);
      const options = { max: 3, period: 60 };
      expect(() => new LifetimeLimit("test", "user1", options)).toThrow(InvalidArgumentError);
      expect(() => new LifetimeLimit("test", "user1", {} as never)).toThrow(InvalidArgumentError);
    });

    test("increment is true while the limit is not exceeded, false once it is", async () => {
      expect([await limit.increment(1), await limit.increment(2), await limit.increment(1)]).toEqual([
        true,
        true,
        false,
      ]);
    });

    test("an increment that is refused changes nothing", async () => {
      expect([await limit.increment(2), await limit.increment(2), await limit.increment(1)]).toEqual([
        true,
        false,
        true,
      ]);
    });

    test("an amount that is no whole number raises, before max is looked at", async () => {
      for (const each of [limit, make(0)])
        await expect(each.increment(1.5)).rejects.toThrow(InvalidArgumentError);
    });

    test("the script is sent once in full, and by its hash from then on", async () => {
      await scene().place.admin.script("FLUSH");
      const first = await scene().sent(() => limit.increment());
      // The second is that of the index of keys.
      expect(first.filter((name) => name === "EVAL").length).toBe(2);
      const again = await scene().sent(() => limit.increment());
      expect(again.filter((name) => name.startsWith("EVAL"))).toEqual(["EVALSHA"]);
    });

    test("max lowered below what is used: increment(0) is true, increment(1) false, and used is max", async () => {
      await make(4).increment(4);
      const smaller = make(2);
      expect([await smaller.increment(0), await smaller.increment(1)]).toEqual([true, false]);
      expect([await smaller.used(), await smaller.remaining()]).toEqual([2, 0]);
    });

    test("max 0 refuses, and asks no server", async () => {
      const never = make(0);
      const sent = await scene().commands(async () => {
        expect([await never.increment(), await never.increment(0), await never.decrement()]).toEqual([
          false,
          true,
          true,
        ]);
        expect(await never.used()).toBe(0);
      });
      expect(sent).toBe(0);
    });

    test("used is 0 before anything was used, then what was incremented, and at most max", async () => {
      expect(await limit.used()).toBe(0);
      await limit.increment(1);
      expect(await limit.used()).toBe(1);
      await limit.increment(2);
      expect(await make(2).used()).toBe(2);
    });

    test("its key has no end", async () => {
      await limit.increment(1);
      const key = (await scene().keys()).find((name) => name.includes(":limit:")) as string;
      expect(await scene().place.admin.pttl(key)).toBe(-1);
    });

    test("decrement gives back, exceeded and reset are as for a Limit", async () => {
      await limit.increment(3);
      await limit.decrement(2);
      expect([await limit.used(), await limit.remaining()]).toEqual([1, 2]);
      expect([await limit.exceeded(2), await limit.exceeded(3)]).toEqual([false, true]);
      await limit.reset();
      expect(await limit.used()).toBe(0);
    });
  });
});
