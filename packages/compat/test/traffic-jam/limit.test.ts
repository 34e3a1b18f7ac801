/** What spec/traffic_jam_limit_spec.rb asserts, without what needs time to pass: that is in the lab. */

import { InvalidArgumentError } from "holdfast";
import { beforeEach, describe, expect, test } from "vitest";
import { Limit, LimitExceededError } from "../../src/traffic-jam/index.ts";
import { configOver, onEachScene } from "./scene.ts";

describe("Limit", () => {
  onEachScene((scene) => {
    let limit: Limit;
    const make = (max: number, period = 3_600): Limit =>
      new Limit("test", scene().value, { max, period, config: scene().config });

    beforeEach(() => {
      limit = make(3);
    });

    test("max and period must be given", () => {
      for (const options of [{ max: 3 }, { period: 60 }, {}])
        expect(() => new Limit("test", "user1", options as never)).toThrow(InvalidArgumentError);
    });

    test("what can never work is refused at once, by the name of the option", () => {
      const of = (options: object) => () => new Limit("test", "user1", options as never);
      for (const max of [1.5, -1, "3", Number.NaN, 2e9]) expect(of({ max, period: 1 })).toThrow(/^max /);
      for (const period of [-1, "1", Number.NaN, 1e9]) expect(of({ max: 1, period })).toThrow(/^period /);
      expect(of({ max: 1, period: 1, time: 1 })).toThrow(/^time /);
      expect(() => new Limit("", "user1", { max: 1, period: 1 })).toThrow(/^action /);
      expect(() => new Limit("test", (() => {}) as never, { max: 1, period: 1 })).toThrow(/^value /);
    });

    test("a time that is none raises, and so does an amount that is none", async () => {
      // The last is in seconds.
      for (const time of [Number.NaN, -1, "now", new Date("none"), Math.floor(Date.now() / 1_000)])
        await expect(limit.increment(1, { time: time as number })).rejects.toThrow(/^time /);
      await expect(limit.increment(1, { atMs: Date.now() } as never)).rejects.toThrow(
        /^atMs is not an option/,
      );
      await expect(limit.increment(Number.POSITIVE_INFINITY)).rejects.toThrow(/^amount /);
      expect([await limit.increment(2 ** 40), await limit.decrement(2 ** 40)]).toEqual([false, true]);
    });

    test("action, value, max and period can be read", () => {
      const { value } = scene();
      expect(limit).toMatchObject({ action: "test", value, max: 3, period: 3_600 });
    });

    test("increment is true while the limit is not exceeded", async () => {
      expect(await limit.increment(1)).toBe(true);
      expect(await limit.increment(2)).toBe(true);
    });

    test("increment is false once it is: 4 of 3, and 1 after 1 and 2", async () => {
      expect(await limit.increment(4)).toBe(false);
      expect(await limit.increment(1)).toBe(true);
      expect(await limit.increment(2)).toBe(true);
      expect(await limit.increment(1)).toBe(false);
    });

    test("an increment that is refused changes nothing: 2 fit, 2 do not, 1 does", async () => {
      expect(await limit.increment(2)).toBe(true);
      expect(await limit.increment(2)).toBe(false);
      expect(await limit.increment(1)).toBe(true);
    });

    test("an amount that is no whole number raises, and sends nothing", async () => {
      const sent = await scene().commands(async () => {
        await expect(limit.increment(1.5)).rejects.toThrow(InvalidArgumentError);
        await expect(limit.decrement(0.5)).rejects.toThrow(InvalidArgumentError);
        await expect(limit.increment(Number.NaN)).rejects.toThrow(InvalidArgumentError);
        await expect(limit.increment("2" as never)).rejects.toThrow(InvalidArgumentError);
      });
      expect(sent).toBe(0);
    });

    test("the script is sent once in full, and by its hash from then on", async () => {
      await scene().place.admin.script("FLUSH");
      const first = await scene().sent(() => limit.increment());
      // The second is that of the index of keys.
      expect(first.filter((name) => name === "EVAL").length).toBe(2);
      const again = await scene().sent(() => limit.increment());
      expect(again.filter((name) => name.startsWith("EVAL"))).toEqual(["EVALSHA"]);
    });

    test("incrementOrThrow resolves to nothing, or throws the error that has the limit", async () => {
      expect(await limit.incrementOrThrow(3)).toBeUndefined();
      const error = await limit.incrementOrThrow().catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(LimitExceededError);
      expect(error).toMatchObject({
        limit,
        code: "LIMIT_EXCEEDED",
        message: "Rate limit exceeded: test",
        name: "LimitExceededError",
      });
      expect((error as LimitExceededError).retryAfterMs).toBeGreaterThan(1_190_000);
      await expect(limit.incrementOrThrow(4)).rejects.toMatchObject({ retryAfterMs: null });
    });

    test("exceeded is whether so much would be too much, and takes nothing", async () => {
      await limit.increment(2);
      expect([await limit.exceeded(), await limit.exceeded(1), await limit.exceeded(2)]).toEqual([
        false,
        false,
        true,
      ]);
      expect(await limit.used()).toBe(2);
    });

    test("limitExceeded is the limit itself, or null", async () => {
      await limit.increment(3);
      expect(await limit.limitExceeded()).toBe(limit);
      expect(await limit.limitExceeded(0)).toBeNull();
    });

    test("used is 0 before anything was used, and what was incremented after", async () => {
      expect(await limit.used()).toBe(0);
      await limit.increment(1);
      await limit.increment(1);
      expect(await limit.used()).toBe(2);
    });

    test("remaining is max without what is used", async () => {
      expect(await limit.remaining()).toBe(3);
      await limit.increment(2);
      expect(await limit.remaining()).toBe(1);
    });

    test("reset makes used 0, and all fits again", async () => {
      await limit.increment(3);
      expect(await limit.reset()).toBeUndefined();
      expect(await limit.used()).toBe(0);
      expect(await limit.increment(3)).toBe(true);
    });

    test("decrement gives back", async () => {
      await limit.increment(2);
      expect(await limit.decrement(1)).toBe(true);
      expect(await limit.used()).toBe(1);
      expect(await limit.increment(-1)).toBe(true);
      expect(await limit.used()).toBe(0);
    });

    test("decrement never shows less than 0, and gives no extra allowance: -2, then 4 of 3 is refused", async () => {
      await limit.decrement(2);
      expect(await limit.used()).toBe(0);
      expect(await limit.increment(4)).toBe(false);
      expect(await limit.used()).toBe(0);
      expect(await limit.increment(3)).toBe(true);
    });

    test("max 0 refuses every increment, whatever its amount, and asks no server", async () => {
      const never = make(0);
      const sent = await scene().commands(async () => {
        expect([await never.increment(), await never.increment(1.5)]).toEqual([false, false]);
        expect([await never.increment(0), await never.increment(-1), await never.decrement()]).toEqual([
          true,
          true,
          true,
        ]);
        expect([await never.used(), await never.remaining(), await never.exceeded()]).toEqual([0, 0, true]);
        await expect(never.incrementOrThrow()).rejects.toMatchObject({ limit: never, retryAfterMs: null });
      });
      expect(sent).toBe(0);
    });

    test("used is capped when max shrinks from 3 to 2", async () => {
      await limit.increment(3);
      const smaller = make(2);
      expect([await smaller.used(), await smaller.remaining()]).toEqual([2, 0]);
      expect(await smaller.increment(0)).toBe(true);
      expect(await limit.used()).toBe(2);
    });

    test("every increment asks: what another process gives back or resets counts at once", async () => {
      const { place, config, value } = scene();
      const other = new Limit("test", value, {
        max: 3,
        period: 3_600,
        config: configOver(place.client(), config.keyPrefix),
      });
      await limit.increment(3);
      expect(await limit.increment()).toBe(false);
      await other.decrement();
      expect([await limit.increment(), await limit.increment()]).toEqual([true, false]);
      await other.reset();
      expect(await limit.increment(3)).toBe(true);
      expect(await make(9).increment(6)).toBe(true);
    });

    test("flatten is the limit alone", () => {
      expect(limit.flatten()).toEqual([limit]);
      expect(limit.flatten()[0]).toBe(limit);
    });

    test("values of the same text are the same, and another action is another limit", async () => {
      const { config, value } = scene();
      const number = new Limit("numbers", 7, { max: 3, period: 60, config });
      await number.increment(3);
      expect(await new Limit("numbers", "7", { max: 3, period: 60, config }).used()).toBe(3);
      expect(await new Limit("numbers", 8n, { max: 3, period: 60, config }).used()).toBe(0);
      expect(await new Limit("other", value, { max: 3, period: 60, config }).used()).toBe(0);
    });

    test("a value may say by what it is told apart", async () => {
      const { config } = scene();
      const user = (id: number, name: string) => ({ name, toRateLimitValue: () => id });
      const limitOf = (value: object) => new Limit("users", value, { max: 3, period: 60, config });
      await limitOf(user(1, "Ann")).increment(2);
      expect(await limitOf(user(1, "Anna")).used()).toBe(2);
      expect(await limitOf(user(2, "Ann")).used()).toBe(0);
      expect(() => limitOf({ id: 1 })).toThrow(/toRateLimitValue/);
      expect(await limitOf(new URL("http://a/")).increment()).toBe(true);
    });
  });
});
