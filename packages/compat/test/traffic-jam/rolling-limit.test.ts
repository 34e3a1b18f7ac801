/** What spec/traffic_jam_rolling_limit_spec.rb asserts, without what needs time to pass. */

import { InvalidArgumentError } from "holdfast";
import { beforeEach, describe, expect, test } from "vitest";
import { Limit, RollingLimit } from "../../src/traffic-jam/index.ts";
import { onEachScene } from "./scene.ts";

describe("RollingLimit", () => {
  onEachScene((scene) => {
    let limit: RollingLimit;
    const make = (max: number, period = 3_600): RollingLimit =>
      new RollingLimit("test", scene().value, { max, period, config: scene().config });

    beforeEach(() => {
      limit = make(3);
    });

    test("is a Limit", () => {
      expect(limit).toBeInstanceOf(Limit);
    });

    test("increment is true while the limit is not exceeded, false once it is", async () => {
      expect([await limit.increment(4), await limit.increment(1), await limit.increment(2)]).toEqual([
        false,
        true,
        true,
      ]);
      expect(await limit.increment(1)).toBe(false);
    });

    test("an increment that is refused changes nothing", async () => {
      expect([await limit.increment(2), await limit.increment(2), await limit.increment(1)]).toEqual([
        true,
        false,
        true,
      ]);
    });

    test("an amount that is no whole number raises, before max and period are looked at", async () => {
      for (const each of [limit, make(0), make(3, 0)])
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

    test("used is 0 before anything was used, then what was incremented, and at most max", async () => {
      expect(await limit.used()).toBe(0);
      await limit.increment(1);
      expect(await limit.used()).toBe(1);
      await limit.increment(2);
      expect(await make(2).used()).toBe(2);
    });

    test("max lowered from 4 to 2: refused now, and used is capped", async () => {
      await make(4).increment(4);
      const smaller = make(2);
      expect(await smaller.increment(1)).toBe(false);
      expect([await smaller.used(), await smaller.remaining()]).toEqual([2, 0]);
    });

    test("max 0 refuses, and asks no server", async () => {
      const never = make(0);
      const sent = await scene().commands(async () => {
        expect([await never.increment(), await never.increment(0), await never.increment(-1)]).toEqual([
          false,
          true,
          true,
        ]);
        expect([await never.used(), await never.remaining()]).toEqual([0, 0]);
      });
      expect(sent).toBe(0);
    });

    test("period 0 is a cap for each call: 3, 3 pass, 4 is refused, no script runs, used is 0", async () => {
      const cap = make(3, 0);
      const sent = await scene().commands(async () => {
        expect([await cap.increment(3), await cap.increment(3), await cap.increment(4)]).toEqual([
          true,
          true,
          false,
        ]);
        expect([await cap.used(), await cap.remaining()]).toEqual([0, 3]);
        expect([await cap.exceeded(3), await cap.exceeded(4)]).toEqual([false, true]);
        expect([await cap.decrement(2), await cap.increment(0)]).toEqual([true, true]);
      });
      expect(sent).toBe(0);
    });

    test("0 passes and more than max is refused, and neither asks the server", async () => {
      await limit.increment(3);
      const sent = await scene().commands(async () => {
        expect([await limit.increment(0), await limit.increment(4)]).toEqual([true, false]);
      });
      expect(sent).toBe(0);
    });

    test("decrement gives back, and never shows less than 0", async () => {
      await limit.increment(3);
      expect(await limit.decrement(2)).toBe(true);
      expect(await limit.used()).toBe(1);
      await limit.decrement(5);
      expect(await limit.used()).toBe(0);
      expect([await limit.increment(4), await limit.increment(3)]).toEqual([false, true]);
    });

    test("exceeded, limitExceeded, incrementOrThrow and reset are as for a Limit", async () => {
      await limit.increment(2);
      expect([await limit.exceeded(1), await limit.exceeded(2)]).toEqual([false, true]);
      expect(await limit.limitExceeded(2)).toBe(limit);
      await expect(limit.incrementOrThrow(2)).rejects.toMatchObject({ limit });
      await limit.reset();
      expect(await limit.used()).toBe(0);
    });

    test("time is ignored: an event of long ago counts in full, from now on", async () => {
      await limit.increment(3, { time: new Date(Date.now() - 7_200_000) });
      expect(await limit.used()).toBe(3);
    });
  });
});
