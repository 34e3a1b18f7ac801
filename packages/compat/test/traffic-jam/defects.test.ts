/**
 * Defects of traffic_jam 2b90aa5, each by its number in src/traffic-jam/README.md, and what is here instead. Those that
 * need time to pass are in the lab.
 */
import { describe, expect, test } from "vitest";
import {
  GcraLimit,
  LifetimeLimit,
  Limit,
  LimitGroup,
  RollingLimit,
  TrafficJam,
} from "../../src/traffic-jam/index.ts";
import { onEachScene } from "./scene.ts";

describe("defects of the gem", () => {
  onEachScene((scene) => {
    const options = (max: number, period = 3_600) => ({ max, period, config: scene().config });
    const limitKeys = async () => (await scene().keys()).filter((key) => key.includes(":limit:"));

    test("1: the state of a 1 h Limit lived for 3,600,000 s; it ends with the period", async () => {
      const { value, place } = scene();
      await new Limit("test", value, options(3)).increment(3);
      const [key] = await limitKeys();
      const leftMs = await place.admin.pttl(key as string);
      expect(leftMs).toBeGreaterThan(3_590_000);
      expect(leftMs).toBeLessThanOrEqual(3_600_010);
    });

    test("1: a refused increment does not lengthen it, and no class leaves a key without an end but LifetimeLimit", async () => {
      const { value, place } = scene();
      for (const limit of [
        new Limit("test", value, options(3, 60)),
        new GcraLimit("test", value, options(3, 60)),
        new RollingLimit("test", value, options(3, 60)),
      ]) {
        await limit.increment(2);
        await limit.increment(2);
        await limit.increment(0);
      }
      for (const key of await limitKeys()) {
        expect(await place.admin.pttl(key)).toBeGreaterThan(0);
        expect(await place.admin.pttl(key)).toBeLessThanOrEqual(61_000);
      }
    });

    test("2: the first increment of a LifetimeLimit was not checked: 10 of 3 is refused", async () => {
      const limit = new LifetimeLimit("test", scene().value, { max: 3, config: scene().config });
      expect(await limit.increment(10)).toBe(false);
      expect(await limit.used()).toBe(0);
    });

    test("2: a decrement of a LifetimeLimit from nothing stored -5, and 8 of 3 fitted: 3 fit", async () => {
      const limit = new LifetimeLimit("test", scene().value, { max: 3, config: scene().config });
      expect(await limit.decrement(5)).toBe(true);
      expect(await limit.increment(8)).toBe(false);
      expect([await limit.increment(3), await limit.increment(1)]).toEqual([true, false]);
    });

    test("3: every increment of a RollingLimit failed on Redis 7, for a print in its script", async () => {
      expect(await new RollingLimit("test", scene().value, options(3)).increment()).toBe(true);
    });

    test("3: a decrement of a RollingLimit left a negative second that outlived what it cancelled: nothing is left", async () => {
      const limit = new RollingLimit("test", scene().value, options(3));
      await limit.decrement(3);
      expect(await limitKeys()).toEqual([]);
      await limit.increment(3);
      await limit.decrement(3);
      expect(await limitKeys()).toEqual([]);
      expect([await limit.increment(6), await limit.increment(3), await limit.increment(1)]).toEqual([
        false,
        true,
        false,
      ]);
    });

    test("4: a decrement of a Limit below 0 was stored, and 5 of 3 fitted 1 ms earlier: 3 fit", async () => {
      const time = Date.now();
      const limit = new Limit("test", scene().value, options(3));
      await limit.decrement(2, { time });
      expect(await limitKeys()).toEqual([]);
      expect(await limit.increment(5, { time: time - 1 })).toBe(false);
      expect(await limit.increment(3, { time })).toBe(true);
      expect(await limit.increment(1, { time: time - 1 })).toBe(false);
      await limit.decrement(9, { time: time - 1 });
      expect(await limit.increment(5, { time: time - 1 })).toBe(false);
      expect(await limit.used()).toBe(0);
    });

    test("5: others saw what a group had charged and not yet given back: nobody sees anything of it", async () => {
      const { value } = scene();
      const [wide, narrow] = [new Limit("wide", value, options(100)), new Limit("narrow", value, options(1))];
      await narrow.increment();
      const group = new LimitGroup(wide, narrow);
      const calls = Array.from({ length: 40 }, async () => [await group.increment(), await wide.used()]);
      const looks = Array.from({ length: 40 }, async () => [false, await wide.used()]);
      expect(new Set((await Promise.all([...calls, ...looks])).map(String))).toEqual(new Set(["false,0"]));
    });

    test("5: a crash between the steps of a group kept what it had charged: it is one step", async () => {
      const { value } = scene();
      const group = new LimitGroup(new Limit("a", value, options(9)), new Limit("b", value, options(1)));
      await group.increment();
      const sent = await scene().sent(() => group.increment());
      expect(sent.filter((name) => name.startsWith("EVAL")).length).toBe(1);
      expect(sent.filter((name) => ["SET", "DEL", "LPUSH", "RPUSH"].includes(name))).toEqual([]);
    });

    test("5: a refused group with a GcraLimit raised NotImplementedError: it is false, and nothing is charged", async () => {
      const { value } = scene();
      const gcra = new GcraLimit("gcra", value, options(9));
      const group = new LimitGroup(
        gcra,
        new Limit("never", value, options(0)),
        new Limit("few", value, options(1)),
      );
      expect(await group.increment()).toBe(false);
      expect(await new LimitGroup(gcra, new Limit("few", value, options(1))).increment(2)).toBe(false);
      expect(await gcra.used()).toBe(0);
    });

    test("5: a group added to a group that ignores nil values raised NoMethodError: it is added", async () => {
      const { value } = scene();
      const inner = new LimitGroup(new Limit("inner", value, options(1)));
      const outer = new LimitGroup({ ignoreNilValues: true });
      outer.add(inner);
      expect(await outer.increment()).toBe(true);
      expect(await outer.increment()).toBe(false);
      expect(new LimitGroup([inner], { ignoreNilValues: true }).flatten()).toEqual(inner.flatten());
    });

    test("6: classes shared one key for the same action and value: each has its own, and counts for itself", async () => {
      const { value, config } = scene();
      const all = [
        new Limit("test", value, options(9)),
        new RollingLimit("test", value, options(9)),
        new LifetimeLimit("test", value, { max: 9, config }),
        new GcraLimit("test", value, options(9)),
      ];
      for (const [place, limit] of all.entries()) expect(await limit.increment(place + 1)).toBe(true);
      expect(await Promise.all(all.map((limit) => limit.used()))).toEqual([1, 2, 3, 4]);
      const types = (await limitKeys()).map((key) => key.split(":limit:")[1]?.split(":")[0]);
      expect(types).toEqual(["gcra", "lifetime", "rolling", "sliding"]);
    });

    test("6: resetAll of an action left out GcraLimits, and an action that only began alike was reset", async () => {
      const { value, config } = scene();
      const [mine, alike] = [new GcraLimit("s", value, options(9)), new Limit("s:t", value, options(9))];
      await Promise.all([mine.increment(), alike.increment()]);
      TrafficJam.configure((all) => {
        all.redis = config.redis;
        all.keyPrefix = config.keyPrefix;
      });
      await TrafficJam.resetAll({ action: "s" });
      expect([await mine.used(), await alike.used()]).toEqual([0, 1]);
    });

    test("7: any error of EVALSHA led to a second run by EVAL: an error is told after one", async () => {
      const limit = new Limit("test", scene().value, options(3));
      await limit.increment();
      const [key] = await limitKeys();
      await scene().place.admin.set(key as string, "something else");
      const sent = await scene().sent(() => limit.increment().catch(() => {}));
      expect(sent.filter((name) => name.startsWith("EVAL"))).toEqual(["EVALSHA"]);
      await expect(limit.increment()).rejects.toMatchObject({ code: "INVALID_KEY" });
    });

    test("7: a GcraLimit of more than one in each ms failed for a time of 0 ms: it counts in microseconds", async () => {
      const { value } = scene();
      const limit = new GcraLimit("test", value, options(1_000_000, 60));
      expect([await limit.increment(1), await limit.increment(999_999)]).toEqual([true, true]);
      expect(await limit.increment(900_000)).toBe(false);
      const instant = new GcraLimit("instant", value, options(3, 0));
      expect([await instant.increment(3), await instant.increment(4), await instant.used()]).toEqual([
        true,
        false,
        0,
      ]);
    });

    test("7: the clock of the client counted: one that is an hour ahead or behind changes nothing", async () => {
      const { place, value } = scene();
      const { client, clock } = place.clocked(`tj-${value}`);
      const [config, other] = [scene().config, options(3, 60)];
      config.redis = client;
      const limit = new Limit("test", value, other);
      expect(await limit.increment(3)).toBe(true);
      clock.stepWall(3_600_000);
      expect(await limit.increment(3)).toBe(false);
      clock.stepWall(-7_200_000);
      expect(await limit.increment(3)).toBe(false);
    });
  });
});
