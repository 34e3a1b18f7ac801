/** What the limiter answers itself, what it asks, how much of it at once, and whom it tells what went wrong. */
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { IndeterminateError, InvalidArgumentError } from "../../src/errors.ts";
import { RefusalCache } from "../../src/limits/refusal-cache.ts";
import type { LimitResult } from "../../src/limits/result.ts";
import { type LimitOptions, parseLimitOptions } from "../../src/limits/settings.ts";
import { Engine } from "./engine.ts";
import { VirtualLimits } from "./virtual-limits.ts";

let engine: Engine;
let virtual: VirtualLimits;

beforeAll(async () => {
  engine = await Engine.start();
});

beforeEach(() => {
  engine.call("FLUSHALL");
  virtual = new VirtualLimits(engine);
});

const asked = (): string[] => virtual.port.calls.splice(0);

describe("remembered refusals", () => {
  const options: LimitOptions = { max: 3, per: 3_000 };

  test("are answered here until they may have changed, and no longer", async () => {
    const limit = virtual.limit("n", options);
    await limit.take("ann", 3);
    const refused = await limit.take("ann");
    expect(refused).toMatchObject({ ok: false, retryAfterMs: 1_000, source: "redis" });
    asked();
    for (let ms = 0; ms < 980; ms += 20) {
      const again = await limit.take("ann");
      expect(again).toMatchObject({ ok: false, source: "cache" });
      expect(again.retryAfterMs, `${ms}`).toBeGreaterThanOrEqual(1_000 - ms);
      virtual.pass(20);
    }
    expect(asked()).toEqual([]);
    virtual.pass(20);
    expect(await limit.take("ann")).toMatchObject({ ok: true, source: "redis" });
  });

  test.each([0.991, 1.009])(
    "hold with a clock that runs at %d: never too long, and no retry too early",
    async (rate) => {
      virtual.rate = rate;
      const limit = virtual.limit("n", { max: 1, per: 60_000 });
      await limit.take("ann");
      await limit.take("ann");
      for (let step = 0; step < 59; step++) {
        virtual.pass(1_000);
        const { ok, retryAfterMs, source } = await limit.take("ann");
        expect(ok).toBe(false);
        const leftMs = 60_000 - (step + 1) * 1_000;
        if (source === "cache") expect(retryAfterMs).toBeGreaterThanOrEqual(leftMs);
      }
      virtual.pass(1_000);
      expect((await limit.take("ann")).ok).toBe(true);
    },
  );

  test.each(["refund", "set", "reset", "settle"] as const)("are forgotten with %s", async (how) => {
    const limit = virtual.limit("n", options);
    const reservation = await limit.reserve("ann", 3);
    expect((await limit.take("ann")).ok).toBe(false);
    if (how === "refund") await limit.refund("ann");
    if (how === "set") await limit.set("ann", 2);
    if (how === "reset") await limit.reset("ann");
    if (how === "settle") await reservation.settle(1);
    expect((await limit.take("ann")).ok).toBe(true);
  });

  test("that were on their way before a refund are forgotten as well", async () => {
    const limit = virtual.limit("n", options);
    await limit.take("ann", 3);
    virtual.port.isHeld = true;
    const [take, refund] = [limit.take("ann"), limit.refund("ann", 2)];
    await new Promise((resolve) => setImmediate(resolve));
    virtual.port.release();
    expect((await take).ok).toBe(false);
    await refund;
    expect((await limit.take("ann")).ok).toBe(true);
  });

  test("whose answer comes after a reset that came after them are forgotten as well", async () => {
    const limit = virtual.limit("n", options);
    await limit.take("ann", 3);
    virtual.port.keepsAnswers = true;
    const take = limit.take("ann");
    await new Promise((resolve) => setImmediate(resolve));
    virtual.port.keepsAnswers = false;
    await limit.reset("ann");
    virtual.port.release();
    expect((await take).ok).toBe(false);
    expect((await limit.take("ann")).ok).toBe(true);
  });

  test("hold for as long as they say where `per` is longer than it was", async () => {
    for (const type of ["rolling", "gcra", "window", "sliding"] as const) {
      const [short, long] = [
        virtual.limit(type, { type, max: 2, per: 500 }),
        virtual.limit(type, { type, max: 2, per: "1h" }),
      ];
      await short.take("ann", 2);
      const { retryAfterMs } = await long.take("ann");
      virtual.pass(600);
      engine.call("PING");
      const again = await virtual.limit(type, { type, max: 2, per: "1h", cache: false }).take("ann");
      expect([type, again.ok], `${retryAfterMs}`).toEqual([type, false]);
    }
  });

  test("answer for as much and more, and name a later time for more; for less Redis is asked", async () => {
    const limit = virtual.limit("n", options);
    await limit.take("ann", 2);
    expect((await limit.take("ann", 2)).retryAfterMs).toBe(1_000);
    asked();
    expect(await limit.take("ann", 3)).toMatchObject({ ok: false, source: "cache", retryAfterMs: 2_000 });
    expect(await limit.take("ann", 4)).toMatchObject({ ok: false, source: "redis", retryAfterMs: null });
    expect((await limit.take("ann", 1)).ok).toBe(true);
    expect(asked()).toEqual(["take", "take"]);
  });

  test("are of one target, one type, and the same settings; late events are asked for", async () => {
    const limit = virtual.limit("n", options);
    await limit.take("ann", 3);
    await limit.take("ann");
    expect((await limit.take("bob")).ok).toBe(true);
    expect((await virtual.limit("n", { max: 9, per: 3_000 }).take("ann")).ok).toBe(true);
    expect((await virtual.limit("n", { ...options }).take("ann")).source).toBe("cache");
    expect((await limit.take("ann", 1, { atMs: engine.nowUs / 1_000 - 2_900 })).source).toBe("redis");
    expect((await virtual.limit("n", { ...options, cache: false }).take("ann")).source).toBe("redis");
  });

  test("are bounded: the oldest go", () => {
    const settings = parseLimitOptions("n", { max: 1, per: "1h" });
    const now = { monoMs: 0, wallMs: 0 };
    const refusals = new RefusalCache({ now: () => now, setTimer: () => () => {} }, 3);
    const result = { ok: false, remaining: 0, retryAfterMs: 5_000, resetMs: 5_000 } as LimitResult;
    for (const key of ["a", "b", "c", "d", "e"]) refusals.note(settings, key, 1, refusals.start(), result);
    const isKnown = ["a", "b", "c", "d", "e"].map((key) => refusals.standing(settings, key, 1) !== null);
    expect(isKnown).toEqual([false, false, true, true, true]);
    expect(refusals.size).toBe(3);
  });
});

describe("batches", () => {
  test("what is asked for in one turn is one script for sixteen, each charge for itself, in their order", async () => {
    const limit = virtual.limit("n", { max: 18, per: "1h", cache: false });
    const told = await Promise.all(Array.from({ length: 40 }, () => limit.take("ann")));
    expect(told.map(({ ok }) => ok)).toEqual(Array.from({ length: 40 }, (_, place) => place < 18));
    expect(told.slice(0, 18).map(({ remaining }) => remaining)).toEqual(
      Array.from({ length: 18 }, (_, place) => 17 - place),
    );
    expect(asked()).toEqual(["take", "take", "take"]);
  });

  test("groups of a size are one script as well, and one that is refused charges nothing", async () => {
    const [few, many] = [
      virtual.limit("few", { max: 2, per: "1h" }),
      virtual.limit("many", { max: 9, per: "1h" }),
    ];
    const group = virtual.all([many.of("ann"), few.of("ann")]);
    engine.call("HSET", "t:{odd}:limit:rolling:few", "a", "b");
    const odd = virtual.all([many.of("odd"), few.of("odd")]).take();
    const told = await Promise.all([group.take(), group.take(), group.take(), many.take("ann")]);
    expect(told.map(({ ok }) => ok)).toEqual([true, true, false, true]);
    expect(told.map(({ remaining }) => remaining)).toEqual([1, 0, 0, 6]);
    await expect(odd).rejects.toThrow("WRONGTYPE");
    expect((await many.peek("odd")).remaining).toBe(9); // none was charged
    expect(asked().filter((how) => how === "take")).toHaveLength(2);
  });

  test("one whose key holds something else is no harm to the others", async () => {
    engine.call("HSET", "t:{odd}:limit:rolling:n", "a", "b");
    const limit = virtual.limit("n", { max: 3, per: "1h" });
    const [ann, odd, bob] = await Promise.allSettled(["ann", "odd", "bob"].map((one) => limit.take(one)));
    expect([ann?.status, odd?.status, bob?.status]).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(asked()).toEqual(["take"]);
  });

  test("limits of time are kept apart", async () => {
    const quick = virtual.limit("quick", { max: 3, per: "1h", timeout: 50 });
    const slow = virtual.limit("slow", { max: 3, per: "1h" });
    await Promise.all([quick.take("ann"), slow.take("ann"), quick.take("bob")]);
    expect(virtual.port.limits).toEqual([50, 1_000]);
    await virtual.all([quick.of("ann"), slow.of("ann")]).take();
    expect(virtual.port.limits.at(-1)).toBe(50);
  });

  test("every caller has an error of his own, with his own stack", async () => {
    const limit = virtual.limit("n", { max: 3, per: "1h" });
    virtual.port.failure = () => new IndeterminateError("no answer");
    const first = async () => await limit.take("ann");
    const second = async () => await limit.take("bob");
    const [one, two] = (await Promise.allSettled([first(), second()])).map((each) =>
      each.status === "rejected" ? each.reason : null,
    );
    expect(one).not.toBe(two);
    for (const [error, name] of [
      [one, "first"],
      [two, "second"],
    ]) {
      expect(error).toBeInstanceOf(IndeterminateError);
      expect(error.code).toBe("INDETERMINATE");
      expect(error.stack).toMatch(new RegExp(`at (async )?${name} `));
    }
  });
});

describe("groups", () => {
  const day = () => virtual.limit("day", { max: 5, per: "1d", cache: false });
  const hour = () => virtual.limit("hour", { type: "sliding", max: 2, per: "1h", cache: false });
  const ever = () => virtual.limit("ever", { type: "lifetime", max: 2, cache: false });

  test("are charged all or none in one call, and name all that refuse", async () => {
    const group = virtual.all([day().of("ann"), hour().of("ann"), ever().of("ann")]);
    expect(await group.take(2)).toMatchObject({ ok: true, remaining: 0, violated: [], retryAfterMs: 0 });
    const refused = await group.take();
    expect(refused.violated.map(({ name }) => name)).toEqual(["hour", "ever"]);
    expect(refused).toMatchObject({ ok: false, retryAfterMs: null, remaining: 0, source: "redis" });
    expect(refused.results.map(({ ok }) => ok)).toEqual([true, false, false]);
    expect((await day().peek("ann", 0)).remaining).toBe(3);
    expect(asked()).toEqual(["take", "take", "look"]);
  });

  test("nest, may be empty, and have each limit once", async () => {
    const inner = virtual.all([day().of("ann")]);
    const outer = virtual.all([inner, hour().of("ann")]);
    expect(outer.parts).toHaveLength(2);
    expect(await outer.take(3)).toMatchObject({ ok: false, violated: [{ name: "hour" }] });
    expect(await virtual.all([]).take()).toMatchObject({ ok: true, results: [] });
    expect(() => virtual.all([day().of("ann"), inner])).toThrow(InvalidArgumentError);
  });

  test("with one that admits nothing are refused, name the others that refuse as well, and charge none", async () => {
    const never = virtual.limit("never", { max: 0, per: "1h" });
    await hour().take("ann", 2);
    const refused = await virtual.all([day().of("ann"), never.of("ann"), hour().of("ann")]).take();
    expect(refused.violated.map(({ name }) => name)).toEqual(["never", "hour"]);
    expect((await day().peek("ann", 0)).remaining).toBe(5);
  });

  test("of whom all are known to refuse are refused here", async () => {
    const one = virtual.limit("one", { max: 1, per: "1h" });
    const two = virtual.limit("two", { max: 1, per: "1h" });
    const group = virtual.all([one.of("ann"), two.of("ann")]);
    await group.take();
    await group.take();
    asked();
    expect(await group.take()).toMatchObject({ ok: false, source: "cache", violated: [{}, {}] });
    expect(asked()).toEqual([]);
    await two.reset("ann");
    expect(await group.take()).toMatchObject({ ok: false, source: "redis", violated: [{ name: "one" }] });
  });
});

describe("blocks", () => {
  const options: LimitOptions = { max: 1_000, per: 10_000, block: 50, cache: false };

  test("spare calls, and never go over", async () => {
    const limit = virtual.limit("n", options);
    let admitted = 0;
    for (let call = 0; call < 1_500; call++) admitted += (await limit.take("ann")).ok ? 1 : 0;
    const calls = asked().length;
    expect(admitted).toBeLessThanOrEqual(1_000);
    // A tenth of what a bucket holds is kept for what regenerates while a block is dealt out.
    expect(admitted).toBeGreaterThanOrEqual(890);
    expect(calls).toBeLessThan(20 + 2 * (1_500 - admitted));
  });

  test("serve all that wait with two calls", async () => {
    const limit = virtual.limit("n", { ...options, block: 10 });
    const told = await Promise.all(Array.from({ length: 64 }, () => limit.take("ann")));
    expect(told.every(({ ok }) => ok)).toBe(true);
    expect(asked()).toEqual(["ahead", "ahead"]);
    expect(told.filter(({ source }) => source === "block").length).toBe(62);
  });

  test("are dealt out under the settings that they were taken under", async () => {
    const few = virtual.limit("n", { ...options, type: "window", max: 10 });
    await virtual.limit("n", { ...options, type: "window" }).take("ann");
    expect((await few.take("ann")).ok).toBe(false);
  });

  test("of one turn travel together", async () => {
    const limit = virtual.limit("n", options);
    await Promise.all(Array.from({ length: 16 }, (_, place) => limit.take(`user:${place}`)));
    expect(asked()).toEqual(["ahead"]);
  });

  test("that others have asked for are waited for no longer than the caller wants", async () => {
    const slow = virtual.limit("n", { ...options, timeout: 5_000 });
    const quick = virtual.limit("n", { ...options, timeout: 100, outage: "closed" });
    virtual.port.isHeld = true;
    const [first, second] = [slow.take("ann"), quick.take("ann")];
    await new Promise((resolve) => setImmediate(resolve));
    virtual.pass(101);
    virtual.ring();
    expect(await second).toMatchObject({ ok: false, source: "outage" });
    virtual.port.release();
    expect((await first).ok).toBe(true);
  });

  test("asked for after a set are charged after it", async () => {
    const limit = virtual.limit("n", { ...options, type: "lifetime", per: undefined, max: 100, block: 10 });
    const told = await Promise.all([limit.take("bob"), limit.set("ann", 100), limit.take("ann")]);
    expect(told.map(({ ok }) => ok)).toEqual([true, true, false]);
    expect(asked()).toEqual(["ahead", "set", "ahead"]);
  });

  test("of a bucket are over after a second, of a window with it", async () => {
    const bucket = virtual.limit("n", options);
    await bucket.take("ann");
    virtual.pass(1_001);
    expect((await bucket.take("ann")).source).toBe("redis");
    const window = virtual.limit("n", { ...options, type: "window" });
    await window.take("ann");
    virtual.pass(9_890);
    expect((await window.take("ann")).source).toBe("block");
    virtual.pass(100);
    expect((await window.take("ann")).source).toBe("redis");
  });

  test("that were asked for before a reset are not dealt out after it", async () => {
    const limit = virtual.limit("n", { ...options, type: "lifetime", per: undefined });
    virtual.port.isHeld = true;
    const [first, reset] = [limit.take("ann"), limit.reset("ann")];
    await new Promise((resolve) => setImmediate(resolve));
    virtual.port.release();
    await Promise.all([first, reset]);
    expect((await limit.take("ann")).source).toBe("redis");
  });

  test("are given back at the end", async () => {
    const limit = virtual.limit("n", { ...options, type: "window" });
    await limit.take("ann", 2);
    await virtual.limiter.close();
    expect(String(engine.call("GET", "t:{ann}:limit:window:n"))).toMatch(/^2 /);
  });

  test("where no answer comes are taken one by one, and nobody waits twice", async () => {
    const limit = virtual.limit("n", { ...options, outage: "open" });
    virtual.port.failure = () => new IndeterminateError("no answer");
    const told = await Promise.all(Array.from({ length: 20 }, () => limit.take("ann")));
    expect(told.every(({ ok, source }) => ok && source === "outage")).toBe(true);
    expect(asked().length).toBeLessThan(5);
  });
});
