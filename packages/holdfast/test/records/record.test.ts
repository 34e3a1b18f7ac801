/** hf.record(): versions, fences, both at once, ends, and records that somebody else has written to. */
import { needing, UNHURRIED, until } from "@holdfast/conformance";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ConflictError, Holdfast, InvalidArgumentError, StaleTokenError } from "../../src/index.js";
import { SERVERS, type Server } from "./servers.js";

const KEY = "holdfast:{it}:record:it";
const DAY_MS = 86_400_000;
const holder = (fence: bigint, id = "a") => ({ fence, id });

describe.each(SERVERS)("on %s", (_, needs, start) => {
  needing(describe, ...needs)("a record", () => {
    let server: Server;
    let redis: Redis;
    let hf: Holdfast;

    beforeAll(async () => {
      server = await start();
      redis = new Redis(server.port);
    });
    afterAll(async () => {
      redis?.disconnect();
      await server?.stop();
    });
    beforeEach(async () => {
      await redis.flushall();
      hf = new Holdfast(redis, UNHURRIED);
    });
    afterEach(async () => {
      await hf.close();
    });

    const nowUs = async (): Promise<bigint> => {
      const [seconds = 0, micros = 0] = await redis.time();
      return BigInt(seconds) * 1_000_000n + BigInt(micros);
    };

    test("keeps JSON and bytes, each write with a larger version, from the server's clock", async () => {
      const record = hf.record("it");
      expect(await record.get()).toBeNull();
      let last = await nowUs();
      for (const value of [
        1,
        "",
        "\0{}",
        null,
        true,
        [1, [2]],
        { a: { b: null } },
        new Uint8Array([0, 255]),
      ]) {
        const { version } = await record.put(value);
        expect(version).toBeGreaterThan(last);
        expect(await record.get()).toEqual({ value, version, fence: 0n });
        last = version;
      }
      expect(last).toBeLessThanOrEqual(await nowUs());
      expect(await redis.pttl(KEY)).toBe(-1);
    });

    test("is written on a version only, and the conflict has what is there", async () => {
      const record = hf.record("it");
      const { version } = await record.put({ of: "a" }, { version: 0n });
      const next = await record.put({ of: "b" }, { version });
      const there = { code: "CONFLICT", record: "it", version: next.version, value: { of: "b" } };
      await expect(record.put("late", { version })).rejects.toMatchObject({ ...there, expected: version });
      await expect(record.put("first", { version: 0n })).rejects.toMatchObject({ ...there, expected: 0n });
      await expect(record.delete({ version })).rejects.toBeInstanceOf(ConflictError);
      expect(await record.get()).toMatchObject({ value: { of: "b" }, version: next.version });
    });

    test("has no version that repeats, also after a delete, and when the clock was behind", async () => {
      const record = hf.record("it");
      const first = await record.put(1);
      expect(await record.delete({ version: first.version })).toBe(true);
      expect([await record.delete(), await record.get()]).toEqual([false, null]);
      await expect(record.put(2, { version: first.version })).rejects.toMatchObject({
        version: 0n,
        value: null,
      });
      const second = await record.put(2, { version: 0n });
      expect(second.version).toBeGreaterThan(first.version);
      const ahead = (await nowUs()) + 3_600_000_000n;
      await redis.hset(KEY, "version", String(ahead));
      expect((await record.put(3)).version).toBe(ahead + 1n);
      await record.delete();
      expect(Number(await redis.hget(KEY, "version"))).toBe(Number(ahead + 2n));
      expect(await redis.pttl(KEY)).toBeGreaterThan(DAY_MS + 3_500_000);
      expect((await record.put(4)).version).toBe(ahead + 3n);
    });

    test("has no version that repeats when `keep` ends before the clock has passed it", async () => {
      const record = hf.record("it", { keep: 100 });
      await record.put("from before the clock was set back");
      const ahead = (await nowUs()) + 3_600_000_000n;
      await redis.hset(KEY, "version", String(ahead));
      const writes = [() => record.put(1), () => record.put(2, { fence: holder(5n) }), () => record.put(3)];
      for (const [place, write] of writes.entries()) {
        expect((await write()).version).toBe(ahead + BigInt(place) + 1n);
        await record.get({ fence: holder(5n) });
        await until("the value is over", async () => (await record.get()) === null);
        expect(await redis.pttl(KEY)).toBeGreaterThan(3_500_000);
      }
    });

    test("refuses overtaken holders, before it looks at the version, and a conflict does not raise the fence", async () => {
      const record = hf.record("it");
      expect(await record.get({ fence: holder(5n) })).toBeNull();
      const { version } = await record.put("by 5", { fence: holder(5n), version: 0n });
      expect(await record.get({ fence: holder(7n) })).toEqual({ value: "by 5", version, fence: 7n });
      const stale = { code: "STALE_TOKEN", resource: "it", token: 5n, seen: 7n };
      for (const call of [
        record.put("x", { fence: holder(5n) }),
        record.put("x", { fence: holder(5n), version: 1n }),
        record.put("x", { fence: holder(5n), version }),
        record.delete({ fence: holder(5n) }),
        record.get({ fence: holder(5n) }),
      ])
        await expect(call).rejects.toMatchObject(stale);
      await expect(record.put("x", { fence: holder(7n, "b") })).rejects.toBeInstanceOf(StaleTokenError);
      await expect(record.put("x", { fence: holder(9n), version: 1n })).rejects.toBeInstanceOf(ConflictError);
      expect(await record.get()).toEqual({ value: "by 5", version, fence: 7n });
      await record.put("without a fence", { version });
      expect(await record.get()).toMatchObject({ value: "without a fence", fence: 7n });
    });

    test("keeps its fence when it is deleted, for good, and what has no fence for a day", async () => {
      const record = hf.record("it");
      await record.put(1);
      await record.delete();
      const left = await redis.pttl(KEY);
      expect(left).toBeGreaterThan(DAY_MS - 60_000);
      expect(left).toBeLessThanOrEqual(DAY_MS);
      await record.put(2, { fence: holder(3n) });
      expect(await redis.pttl(KEY)).toBe(-1);
      await record.delete({ fence: holder(4n) });
      expect(await redis.pttl(KEY)).toBe(-1);
      await expect(record.put(3, { fence: holder(3n) })).rejects.toBeInstanceOf(StaleTokenError);
      expect(await hf.record("other").delete({ fence: holder(1n) })).toBe(false);
      await expect(hf.record("other").put(1, { fence: holder(0n) })).rejects.toBeInstanceOf(StaleTokenError);
    });

    test("ends after `keep`, which every put begins anew, and a put may override", async () => {
      const record = hf.record("it", { keep: "1h" });
      await record.put(1);
      expect(await redis.pttl(KEY)).toBeGreaterThan(3_500_000);
      await record.put(2, { keep: "1m" });
      expect(await redis.pttl(KEY)).toBeLessThanOrEqual(60_000);
      await record.put(3, { keep: Number.POSITIVE_INFINITY });
      expect(await redis.pttl(KEY)).toBe(-1);
      await record.put(4, { keep: 1 });
      await until("it is over", async () => (await redis.exists(KEY)) === 0);
      expect(await record.get()).toBeNull();
      await record.put(5, { version: 0n });
      await record.delete();
      expect(await redis.pttl(KEY)).toBeGreaterThan(3_600_000); // at least a day
    });

    test("keeps its fence for `keep` after the newest holder came, whatever becomes of the value", async () => {
      const record = hf.record("it", { keep: "1h" });
      await record.put("by 5", { fence: holder(5n) });
      await redis.pexpire(KEY, 600_000); // most of the hour has gone
      expect(await record.get({ fence: holder(9n) })).toMatchObject({ value: "by 5" });
      expect(await redis.pttl(KEY)).toBeGreaterThan(3_500_000);
      const [seconds = 0] = await redis.time();
      const nowMs = seconds * 1_000;
      expect(Number(await redis.hget(KEY, "ends")) - nowMs).toBeLessThanOrEqual(601_000);
      await redis.hset(KEY, "ends", nowMs - 1); // the rest of it has gone
      expect(await record.get()).toBeNull();
      for (const late of [record.put("late", { fence: holder(5n) }), record.get({ fence: holder(5n) })])
        await expect(late).rejects.toBeInstanceOf(StaleTokenError);
      await record.put("by 9", { version: 0n, fence: holder(9n) });
      expect(await redis.hexists(KEY, "ends")).toBe(0);
    });

    test("a value with an end of its own is gone for every reader, and leaves its fence", async () => {
      const record = hf.record("it", { keep: "1h" });
      const changes = record.watch();
      expect((await changes.next()).value).toBeNull();
      const { version } = await record.put("soon", { keep: 100, fence: holder(5n) });
      expect((await changes.next()).value).toEqual({ value: "soon", version });
      expect((await changes.next()).value).toBeNull();
      const inspected = await (await hf.inspector()).record("it");
      expect(inspected).toMatchObject({ exists: false, size: 0, fence: 5n, version });
      expect(await record.update((value) => `after ${value}`)).toMatchObject({ value: "after null" });
      expect(await redis.pttl(KEY)).toBeGreaterThan(3_500_000);
      // A value outlives its fence, too.
      await record.put("for long", { keep: "1d" });
      expect(await redis.pttl(KEY)).toBeGreaterThan(DAY_MS - 60_000);
      await record.put("for a while");
      expect(await redis.pttl(KEY)).toBeLessThanOrEqual(3_600_000);
      await changes.return?.();
    });

    test("shares a slot by its tag, and no key with another name and tag", async () => {
      const tagged = hf.record("wishes", { tag: "team:7" });
      await tagged.put(1);
      expect(tagged.key).toBe("holdfast:{team:7}:record:wishes");
      expect(await redis.exists(tagged.key)).toBe(1);
      expect(await hf.record("wishes").get()).toBeNull();
      const wrong: [unknown, object, string][] = [
        ["", {}, "name"],
        ["a}:record:b", {}, "name"],
        ["a", { tag: "a}b" }, "tag"],
        ["a", { tag: "" }, "tag"],
        ["a", { keep: 0 }, "keep"],
        ["a", { ttl: 5 }, "ttl"],
      ];
      for (const [name, options, argument] of wrong)
        expect(() => hf.record(name as string, options)).toThrow(expect.objectContaining({ argument }));
    });

    test("refuses what is no value, no version, no holder, and sends nothing", async () => {
      const record = hf.record("it");
      const wrong = [
        record.put(undefined),
        record.put(new Map()),
        record.put("x".repeat(1_048_576)),
        record.put(1, { version: 1 as never }),
        record.put(1, { version: -1n }),
        record.put(1, { fence: { fence: 1n } as never }),
        record.put(1, { expected: 1n } as never),
        record.get({ fence: null as never }),
        record.get({ fence: undefined as never }),
        record.put(1, { fence: undefined as never }),
        record.put(1, { version: undefined as never }),
        record.delete({ version: undefined as never }),
        record.update(() => 1, { fence: undefined as never }),
        record.delete({ keep: 5 } as never),
      ];
      for (const call of wrong) await expect(call).rejects.toBeInstanceOf(InvalidArgumentError);
      expect(await redis.exists(KEY)).toBe(0);
    });

    test("that belongs to another program is left alone", async () => {
      const record = hf.record("it");
      const alien = { code: "SERVER_ERROR", serverCode: "WRONGTYPE" };
      const spoilt: (() => Promise<unknown>)[] = [
        () => redis.set(KEY, "x"),
        () => redis.hset(KEY, "field", "x"),
        () => redis.hset(KEY, "version", "12", "value", "j1"),
        () => redis.hset(KEY, "version", "1".repeat(17)),
        () => redis.hset(KEY, "version", "1".repeat(16), "fence", "-3"),
      ];
      for (const spoil of spoilt) {
        await redis.del(KEY);
        await spoil();
        const before = await redis.dump(KEY);
        for (const call of [
          record.put(1),
          record.put(1, { fence: holder(1n), version: 0n }),
          record.delete(),
          record.get({ fence: holder(1n) }),
        ])
          await expect(call).rejects.toMatchObject(alien);
        expect(await redis.dump(KEY)).toEqual(before);
      }
      await redis.del(KEY);
      await redis.hset(KEY, "version", "1".repeat(16), "value", "plain text");
      await expect(record.get()).rejects.toMatchObject(alien);
      await expect(record.put(1, { version: 5n })).rejects.toMatchObject(alien);
      await record.put(1); // its version is one, so the value may be replaced
      expect((await record.get())?.value).toBe(1);
    });

    test("is not written when the server has no memory left, and is deleted all the same", async () => {
      const record = hf.record("it");
      const { version } = await record.put("there");
      await redis.config("SET", "maxmemory", "1");
      try {
        const oom = { code: "SERVER_ERROR", serverCode: "OOM" };
        await expect(record.put("more")).rejects.toMatchObject(oom);
        expect(await record.get()).toMatchObject({ value: "there", version });
        expect(await record.delete({ fence: holder(5n) })).toBe(true);
        expect([await record.get(), await record.delete()]).toEqual([null, false]);
        await expect(record.put("more", { fence: holder(4n) })).rejects.toBeInstanceOf(StaleTokenError);
      } finally {
        await redis.config("SET", "maxmemory", "0");
      }
    });

    test("says so after close", async () => {
      await hf.close();
      for (const call of [hf.record("it").get(), hf.record("it").put(1), hf.record("it").delete()])
        await expect(call).rejects.toMatchObject({ code: "CLOSED" });
    });
  });
});
