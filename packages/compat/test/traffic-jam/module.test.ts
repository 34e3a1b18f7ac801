/** What spec/traffic_jam_spec.rb asserts: the module, its configuration, and the reset of everything. */

import { HoldfastError, InvalidArgumentError } from "holdfast";
import { beforeEach, describe, expect, test, vi } from "vitest";
import trafficJam, {
  Configuration,
  closeHoldfasts,
  GcraLimit,
  holdfastOf,
  LifetimeLimit,
  Limit,
  LimitExceededError,
  LimitNotFoundError,
  RollingLimit,
  TrafficJam,
} from "../../src/traffic-jam/index.ts";
import { guidedUser } from "../guide.ts";
import { configOver, onEachScene } from "./scene.ts";

describe("TrafficJam", () => {
  test("has the gem's defaults, and is the default export", async () => {
    const fresh = new Configuration();
    expect([fresh.redis, fresh.keyPrefix, fresh.hashLength]).toEqual([null, "traffic_jam", 22]);
    vi.resetModules(); // another file may have configured it
    const untouched = await import("../../src/traffic-jam/index.ts");
    expect({ ...untouched.TrafficJam.config }).toEqual({ ...fresh });
    expect(trafficJam).toBe(TrafficJam);
  });

  test("a Configuration takes its settings as options", () => {
    const config = new Configuration({ keyPrefix: "hello", hashLength: 10 });
    expect([config.redis, config.keyPrefix, config.hashLength]).toEqual([null, "hello", 10]);
    expect(() => new Configuration({ prefix: "hello" } as never)).toThrow(InvalidArgumentError);
  });

  onEachScene((scene) => {
    let value: string;

    beforeEach(() => {
      value = scene().value;
      TrafficJam.configure((config) => {
        config.redis = scene().config.redis;
        config.keyPrefix = scene().config.keyPrefix;
        config.register("test", 3, 3_600);
      });
    });

    test("configure gives the one configuration, which config reads", () => {
      TrafficJam.configure((config) => expect(config).toBe(TrafficJam.config));
    });

    test("max, period and limits are those that were registered, last", () => {
      const { config } = TrafficJam;
      expect([config.max("test"), config.period("test")]).toEqual([3, 3_600]);
      expect(config.limits("test")).toEqual({ max: 3, period: 3_600 });
      config.register("test", 4, 60);
      expect(config.limits("test")).toEqual({ max: 4, period: 60 });
      for (const wrong of [
        ["", 1, 1],
        ["a", "1", 1],
        ["a", 1, undefined],
      ])
        expect(() => config.register(...(wrong as unknown as [string, number, number]))).toThrow(
          InvalidArgumentError,
        );
    });

    test("limit makes a Limit with what is registered", () => {
      const limit = TrafficJam.limit("test", value);
      expect(limit).toBeInstanceOf(Limit);
      expect(limit).not.toBeInstanceOf(RollingLimit);
      expect(limit).toMatchObject({ action: "test", value, max: 3, period: 3_600 });
    });

    test("an action that is not registered raises LimitNotFoundError, and sends nothing", async () => {
      const error = await TrafficJam.used("unknown", value).catch((reason: unknown) => reason);
      expect(() => TrafficJam.limit("unknown", value)).toThrow(LimitNotFoundError);
      expect(error).toBeInstanceOf(LimitNotFoundError);
      expect(error).toBeInstanceOf(HoldfastError);
      expect(error).toMatchObject({ code: "LIMIT_NOT_FOUND", action: "unknown" });
      for (const read of ["max", "period", "limits"] as const)
        expect(() => TrafficJam.config[read]("unknown")).toThrow(LimitNotFoundError);
      const sent = await scene().commands(async () => {
        for (const name of [
          "exceeded",
          "increment",
          "incrementOrThrow",
          "decrement",
          "reset",
          "used",
          "remaining",
        ] as const)
          await expect(TrafficJam[name]("unknown", value)).rejects.toThrow(LimitNotFoundError);
      });
      expect(sent).toBe(0);
    });

    test("each of its methods does what that of the limit does", async () => {
      expect(await TrafficJam.increment("test", value)).toBe(true);
      expect(await TrafficJam.increment("test", value, 1, { time: new Date() })).toBe(true);
      expect([await TrafficJam.used("test", value), await TrafficJam.remaining("test", value)]).toEqual([
        2, 1,
      ]);
      expect([await TrafficJam.exceeded("test", value), await TrafficJam.exceeded("test", value, 2)]).toEqual(
        [false, true],
      );
      expect(await TrafficJam.incrementOrThrow("test", value)).toBeUndefined();
      await expect(TrafficJam.incrementOrThrow("test", value)).rejects.toThrow(LimitExceededError);
      expect(await TrafficJam.decrement("test", value, 2)).toBe(true);
      expect(await TrafficJam.used("test", value)).toBe(1);
      expect(await TrafficJam.reset("test", value)).toBeUndefined();
      expect(await TrafficJam.used("test", value)).toBe(0);
    });

    const everyClass = (action: string): Limit[] => {
      const options = { max: 9, period: 3_600 };
      return [
        new Limit(action, value, options),
        new GcraLimit(action, value, options),
        new RollingLimit(action, value, options),
        new LifetimeLimit(action, value, { max: 9 }),
        new Limit(action, "another value", options),
      ];
    };
    const usedOf = (limits: readonly Limit[]) => Promise.all(limits.map((limit) => limit.used()));

    test("resetAll resets every limit of every class", async () => {
      const limits = [...everyClass("test"), ...everyClass("other")];
      await Promise.all(limits.map((limit) => limit.increment(2)));
      expect(await usedOf(limits)).toEqual(limits.map(() => 2));
      expect(await TrafficJam.resetAll()).toBeUndefined();
      expect(await usedOf(limits)).toEqual(limits.map(() => 0));
      expect((await scene().keys()).filter((key) => key.includes(":limit:"))).toEqual([]);
      await Promise.all(limits.map((limit) => limit.increment(2)));
      await TrafficJam.resetAll();
      expect(await usedOf(limits)).toEqual(limits.map(() => 0));
    });

    test("resetAll with an action resets those of that action only", async () => {
      const [mine, others] = [everyClass("test"), everyClass("tes")];
      await Promise.all([...mine, ...others].map((limit) => limit.increment(2)));
      await TrafficJam.resetAll({ action: "test" });
      expect(await usedOf(mine)).toEqual(mine.map(() => 0));
      expect(await usedOf(others)).toEqual(others.map(() => 2));
      await expect(TrafficJam.resetAll({ actions: "test" } as never)).rejects.toThrow(InvalidArgumentError);
    });

    test("resetAll looks into an index, never at all keys of the server, and also at what others charged", async () => {
      const config = configOver(scene().place.client(), scene().config.keyPrefix);
      const ofOther = new Limit("test", "of another process", { max: 9, period: 3_600, config });
      await ofOther.increment();
      const sent = await scene().sent(() => TrafficJam.resetAll());
      expect(sent).toEqual(["ZSCAN", "DEL"]);
      expect(await ofOther.used()).toBe(0);
    });

    test("the ACL line of the guide to Redis is enough, for its prefix", async () => {
      const { place, config } = scene();
      const line = guidedUser().replaceAll("holdfast:*", `${config.keyPrefix}:*`).split(/\s+/);
      await place.admin.call("ACL", "SETUSER", ...line);
      const { host, port } = place.admin.options;
      const ofApp = configOver(place.client(`redis://app:secret@${host}:${port}`), config.keyPrefix);
      TrafficJam.config.redis = ofApp.redis;
      await Promise.all(everyClass("test").map((limit) => limit.increment(2)));
      await everyClass("test")[2]?.decrement();
      expect(await usedOf(everyClass("test"))).toEqual([2, 2, 1, 2, 2]);
      await TrafficJam.resetAll();
      expect(await usedOf(everyClass("test"))).toEqual([0, 0, 0, 0, 0]);
    });

    test("without a client it says so", async () => {
      TrafficJam.config.redis = null;
      await expect(TrafficJam.increment("test", value)).rejects.toThrow(/config\.redis/);
      await expect(TrafficJam.resetAll()).rejects.toThrow(InvalidArgumentError);
    });

    test("hashLength says how much of a value's hash stands in its key", async () => {
      await TrafficJam.increment("test", value);
      TrafficJam.config.hashLength = 4;
      await TrafficJam.increment("test", value);
      const lengths = (await scene().keys())
        .map((key) => /\{([\w-]+)\}:limit:/.exec(key)?.[1]?.length)
        .filter((length) => length !== undefined);
      expect(lengths.sort()).toEqual([22, 4]);
      TrafficJam.config.hashLength = 44;
      await expect(TrafficJam.increment("test", value)).rejects.toThrow(/hashLength/);
      TrafficJam.config.hashLength = 22;
    });

    test("what a limit is for stands in no key: neither long nor odd values harm", async () => {
      for (const odd of ["}", "", "x".repeat(100_000), "\uD800", "{a}:b c"])
        expect(await TrafficJam.increment("test", odd)).toBe(true);
      const keys = await scene().keys();
      expect(keys.filter((key) => /^[\w-]+:\{[\w-]{22}\}:limit:rolling:test$/.test(key)).length).toBe(5);
    });

    test("it is built on one Holdfast for each client, which closeHoldfasts ends", async () => {
      const { redis, keyPrefix } = scene().config;
      if (!redis) throw new Error("no client");
      const hf = holdfastOf(redis, { prefix: keyPrefix });
      const native = hf.limit("test", { max: 3, per: "1h" });
      expect(native.policy.name).toBe("test");
      await TrafficJam.increment("test", value);
      await closeHoldfasts(redis);
      expect(await TrafficJam.used("test", value)).toBe(1);
      expect(holdfastOf(redis, { prefix: keyPrefix })).not.toBe(hf);
    });
  });
});
