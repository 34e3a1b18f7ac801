/** What spec/traffic_jam_gcra_limit_spec.rb asserts, without what needs time to pass. */

import { InvalidArgumentError } from "holdfast";
import { beforeEach, describe, expect, test } from "vitest";
import {
  DecrementNotSupportedError,
  GcraLimit,
  InvalidKeyError,
  Limit,
  LimitExceededError,
  SimpleLimit,
} from "../../src/traffic-jam/index.ts";
import { onEachScene } from "./scene.ts";

describe("GcraLimit", () => {
  onEachScene((scene) => {
    let limit: GcraLimit;
    const make = (max: number, period = 3_600): GcraLimit =>
      new GcraLimit("test", scene().value, { max, period, config: scene().config });

    beforeEach(() => {
      limit = make(3);
    });

    test("SimpleLimit is another name for it, and it is a Limit", () => {
      expect(SimpleLimit).toBe(GcraLimit);
      expect(limit).toBeInstanceOf(Limit);
    });

    test("increment is true while the limit is not exceeded", async () => {
      expect(await limit.increment(1)).toBe(true);
      expect(await limit.increment(2)).toBe(true);
    });

    test("increment is false once it is", async () => {
      expect(await limit.increment(4)).toBe(false);
      expect(await limit.increment(1)).toBe(true);
      expect(await limit.increment(2)).toBe(true);
      expect(await limit.increment(1)).toBe(false);
    });

    test("an increment that is refused changes nothing", async () => {
      expect(await limit.increment(2)).toBe(true);
      expect(await limit.increment(2)).toBe(false);
      expect(await limit.increment(1)).toBe(true);
    });

    test("an amount that is no whole number raises", async () => {
      await expect(limit.increment(1.5)).rejects.toThrow(InvalidArgumentError);
    });

    test("the script is sent once in full, and by its hash from then on", async () => {
      await scene().place.admin.script("FLUSH");
      const first = await scene().sent(() => limit.increment());
      // The second is that of the index of keys.
      expect(first.filter((name) => name === "EVAL").length).toBe(2);
      const again = await scene().sent(() => limit.increment());
      expect(again.filter((name) => name.startsWith("EVAL"))).toEqual(["EVALSHA"]);
    });

    test("the checks come in the gem's order, and need no server", async () => {
      const [never, some] = [make(0), limit];
      const sent = await scene().commands(async () => {
        expect([await never.increment(0), await some.increment(0)]).toEqual([true, true]);
        expect([await never.increment(-1), await never.increment(1.5)]).toEqual([false, false]);
        await expect(some.increment(-1)).rejects.toThrow(InvalidArgumentError);
        await expect(some.increment(-1.5)).rejects.toThrow(/negative/);
        await expect(some.increment(3.5)).rejects.toThrow(/whole/);
        expect(await some.increment(4)).toBe(false);
      });
      expect(sent).toBe(0);
    });

    test("used, remaining, exceeded and limitExceeded are as for a Limit", async () => {
      expect(await limit.used()).toBe(0);
      await limit.increment(2);
      expect([await limit.used(), await limit.remaining()]).toEqual([2, 1]);
      expect([await limit.exceeded(1), await limit.exceeded(2)]).toEqual([false, true]);
      expect(await limit.limitExceeded(2)).toBe(limit);
      await expect(limit.incrementOrThrow(2)).rejects.toThrow(LimitExceededError);
      await limit.reset();
      expect(await limit.used()).toBe(0);
    });

    test("max 0 has nothing used", async () => {
      expect([await make(0).used(), await make(0).remaining()]).toEqual([0, 0]);
    });

    test("time is ignored: an event of long ago counts in full", async () => {
      await limit.increment(2, { time: Date.now() - 3_600_000 });
      expect(await limit.used()).toBe(2);
    });

    test("decrement raises, and sends nothing", async () => {
      const sent = await scene().commands(async () => {
        const error = await limit.decrement().catch((reason: unknown) => reason);
        expect(error).toBeInstanceOf(DecrementNotSupportedError);
        expect(error).toMatchObject({ code: "DECREMENT_NOT_SUPPORTED", limit });
      });
      expect(sent).toBe(0);
    });

    test("a key that holds something else raises InvalidKeyError with the server's own error, and stays", async () => {
      await limit.increment();
      const key = (await scene().keys()).find((name) => name.includes(":limit:")) as string;
      await scene().place.admin.set(key, "");
      for (const call of [() => limit.increment(), () => limit.used(), () => limit.exceeded()]) {
        const error = await call().catch((reason: unknown) => reason);
        expect(error).toBeInstanceOf(InvalidKeyError);
        expect(error).toMatchObject({ code: "INVALID_KEY", cause: { serverCode: "WRONGTYPE" } });
      }
      expect(await scene().place.admin.get(key)).toBe("");
      await limit.reset();
      expect(await limit.increment(3)).toBe(true);
    });

    test("a key that lost its end is no reason to raise: the state has its times in itself", async () => {
      await limit.increment(2);
      const key = (await scene().keys()).find((name) => name.includes(":limit:")) as string;
      await scene().place.admin.persist(key);
      expect(await limit.used()).toBe(2);
      expect(await limit.increment(1)).toBe(true);
      expect(await scene().place.admin.pttl(key)).toBeGreaterThan(0);
    });
  });
});
