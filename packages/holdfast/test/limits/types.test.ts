/** What every type of limit says, on the real engine in virtual time. */
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { InvalidArgumentError, ServerError } from "../../src/errors.ts";
import { toCell } from "../../src/limits/result.ts";
import type { LimitOptions } from "../../src/limits/settings.ts";
import { type LimitType, limitTypes, types } from "../../src/limits/types.ts";
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

const PLAIN = { cache: false };

function optionsOf(type: LimitType, max: number, more: Partial<LimitOptions> = {}): LimitOptions {
  const per = types[type].frees === "never" ? {} : { per: 3_000 };
  return { type, max, ...per, ...PLAIN, ...more } as LimitOptions;
}

const stateOf = (type: LimitType, name = "n") => {
  const key = `t:{ann}:limit:${type}:${name}`;
  return type === "sliding" ? engine.call("LRANGE", key, "0", "-1") : engine.call("GET", key);
};

describe.each(limitTypes)("%s", (type) => {
  const limit = (max: number, more?: Partial<LimitOptions>) => virtual.limit("n", optionsOf(type, max, more));
  const used = async (of = limit(3)) => of.policy.max - (await of.peek("ann", 0)).remaining;

  test("a refused charge changes nothing: 2 taken, 2 refused, 1 taken", async () => {
    const three = limit(3);
    expect((await three.take("ann", 2)).ok).toBe(true);
    const before = stateOf(type);
    for (const cost of [2, 2, 3, 4]) expect((await three.take("ann", cost)).ok).toBe(false);
    expect(stateOf(type)).toEqual(before);
    expect(await three.take("ann")).toMatchObject({ ok: true, remaining: 0 });
  });

  test("the first charge is checked like any other; what never fits says so, and what is left", async () => {
    const refused = await limit(3).take("ann", 10);
    expect(refused).toMatchObject({ ok: false, remaining: 3, retryAfterMs: null, resetMs: 0 });
    expect(stateOf(type)).toEqual(type === "sliding" ? [] : null);
  });

  test("peek takes nothing, and says what take would", async () => {
    const three = limit(3);
    await three.take("ann", 2);
    for (const cost of [1, 2]) expect((await three.peek("ann", cost)).ok).toBe(cost === 1);
    expect(await used()).toBe(2);
    const [peeked, taken] = [await three.peek("ann", 2), await three.take("ann", 2)];
    expect(peeked).toEqual(taken);
  });

  test("set and reset", async () => {
    const three = limit(3);
    expect(await three.set("ann", 2)).toMatchObject({ ok: true, remaining: 1 });
    expect((await three.take("ann", 2)).ok).toBe(false);
    expect(await three.set("ann", 99)).toMatchObject({ remaining: 0 });
    await three.set("ann", 0);
    expect(stateOf(type)).toEqual(type === "sliding" ? [] : null);
    await three.take("ann", 3);
    await three.reset("ann");
    expect((await three.take("ann", 3)).ok).toBe(true);
  });

  test("a refund gives no credit, neither of nothing nor late", async () => {
    const three = limit(3);
    await three.refund("ann", 5);
    await three.take("ann", 2);
    await three.refund("ann", 5, { atMs: engine.nowUs / 1_000 - 1_000 });
    await three.refund("ann", 5);
    expect(await used()).toBe(0);
    expect((await three.take("ann", 4)).ok).toBe(false);
    expect((await three.take("ann", 3)).ok).toBe(true);
  });

  test("reserve and settle: what was not used is given back, once", async () => {
    const five = limit(5);
    const reservation = await five.reserve("ann", 4);
    expect(reservation).toMatchObject({ ok: true, remaining: 1 });
    await expect(reservation.settle(-1)).rejects.toBeInstanceOf(InvalidArgumentError);
    await expect(reservation.settle(1.5)).rejects.toBeInstanceOf(InvalidArgumentError);
    const [first, again] = [await reservation.settle(1), await reservation.settle(0)];
    expect(first).toEqual(again);
    expect(first.remaining).toBe(4);
    const refused = await five.reserve("ann", 5);
    expect(refused.ok).toBe(false);
    expect(await refused.settle(0)).toMatchObject({ ok: false });
    expect(await used(five)).toBe(1);
  });

  test("settle charges what was used beyond the reservation, as far as it fits, and is never refused", async () => {
    const ten = limit(10);
    const first = await ten.reserve("ann", 4);
    expect(await first.settle(6)).toMatchObject({ ok: true, remaining: 4, retryAfterMs: 0, source: "redis" });
    expect(await used(ten)).toBe(6);
    const second = await ten.reserve("ann", 1);
    const over = await second.settle(5);
    expect(over).toMatchObject({ ok: false, remaining: 0, retryAfterMs: null });
    expect(await second.settle(9)).toEqual(over);
    expect(await used(ten)).toBe(10);
    const third = await ten.reserve("bob", 0);
    expect(await third.settle(3)).toMatchObject({ ok: true, remaining: 7 });
  });

  if (type !== "lifetime")
    test("what has regenerated meanwhile is not given back again", async () => {
      const three = limit(3);
      const reservation = await three.reserve("ann", 3);
      virtual.pass(3_000);
      expect((await three.take("ann", 3)).ok).toBe(true);
      await reservation.settle(0);
      expect(await used()).toBe(3);
    });

  test("two processes see the same", async () => {
    const other = new VirtualLimits(engine, 2).limit("n", optionsOf(type, 3));
    await limit(3).take("ann", 2);
    expect((await other.take("ann", 2)).ok).toBe(false);
    expect((await other.take("ann")).ok).toBe(true);
    expect((await other.take("bob", 3)).ok).toBe(true);
  });

  test("max 0 admits nothing, and asks nobody", async () => {
    const never = limit(0);
    expect(await never.take("ann")).toMatchObject({ ok: false, retryAfterMs: null, source: "cache" });
    expect((await never.take("ann", 0)).ok).toBe(true);
    expect((await never.reserve("ann")).ok).toBe(false);
    await never.refund("ann");
    expect(virtual.port.calls).toEqual([]);
  });

  if (type !== "lifetime")
    test("a key that lost its end has one again, whoever is refused", async () => {
      const three = limit(3);
      await three.take("ann", 3);
      const key = `t:{ann}:limit:${type}:n`;
      engine.call("PERSIST", key);
      await three.peek("ann");
      expect(engine.call("PTTL", key)).toBe(-1);
      expect((await three.take("ann")).ok).toBe(false);
      expect(engine.call("PTTL", key)).toBeGreaterThan(2_999);
      expect(engine.call("PTTL", key)).toBeLessThan(3_010);
    });

  test("a key that holds something else is an error, and stays as it is", async () => {
    const key = `t:{ann}:limit:${type}:n`;
    engine.call("HSET", key, "a", "b");
    const error = await limit(3)
      .take("ann")
      .catch((thrown) => thrown);
    expect(error).toBeInstanceOf(ServerError);
    expect(error.serverCode).toBe("WRONGTYPE");
    expect(error.stack).toContain("types.test");
    expect(engine.call("HGET", key, "a")).toBe("b");
  });

  if (type !== "lifetime")
    test("the time it names is the first at which it fits", async () => {
      for (const cost of [1, 2, 3]) {
        engine.call("FLUSHALL");
        const three = limit(3);
        for (const gapMs of [100, 700, 400]) {
          await three.take("ann");
          virtual.pass(gapMs);
        }
        const { ok, retryAfterMs } = await three.take("ann", cost);
        if (ok) continue;
        virtual.pass((retryAfterMs ?? 0) - 1);
        expect((await three.peek("ann", cost)).ok, `${cost}, a millisecond before`).toBe(false);
        virtual.pass(1);
        expect((await three.take("ann", cost)).ok, `${cost}`).toBe(true);
      }
    });

  if (type !== "lifetime")
    test("a server whose clock is set back an hour goes on from there", async () => {
      const three = limit(3);
      await three.take("ann", 3);
      engine.valkey.clock.step(-3_600_000);
      expect((await three.take("ann")).ok).toBe(false);
      virtual.pass(type === "rolling" || type === "gcra" ? 1_000 : 3_000);
      expect((await three.take("ann")).ok).toBe(true);
      engine.valkey.clock.step(3_600_000);
    });
});

describe("changed settings", () => {
  const rolling = (max: number, per = 3_000) => virtual.limit("n", { max, per, ...PLAIN });

  test("what was used above a lowered max is forgotten, and it still empties in one per", async () => {
    await rolling(4).take("ann", 4);
    expect((await rolling(2).peek("ann", 0)).remaining).toBe(0);
    virtual.pass(3_000);
    expect((await rolling(2).peek("ann", 0)).remaining).toBe(2);
  });

  test("as much is used when per is another", async () => {
    await rolling(4).take("ann", 2);
    expect((await rolling(4, 12_000).peek("ann", 0)).remaining).toBe(2);
    await rolling(4, 12_000).take("ann", 0);
    virtual.pass(3_000);
    // Without this the new rate would hold for the time that has passed as well.
    expect((await rolling(4, 12_000).take("ann", 0)).remaining).toBe(3);
    expect((await rolling(4, 7).take("ann", 0)).remaining).toBe(3);
    virtual.pass(2);
    expect((await rolling(4, 7).peek("ann", 0)).remaining).toBe(4);
  });

  test("a window that was full of more stays full; a sliding one lets them go one by one", async () => {
    for (const type of ["window", "sliding"] as const) {
      await virtual.limit(type, optionsOf(type, 4)).take("ann", 4);
      expect(await virtual.limit(type, optionsOf(type, 2)).take("ann")).toMatchObject({
        ok: false,
        remaining: 0,
      });
      expect((await virtual.limit(type, optionsOf(type, 6)).take("ann", 2)).ok).toBe(true);
    }
  });

  test("numbers as large as are allowed are exact", async () => {
    const huge = virtual.limit("n", { max: 1_000_000_000, per: "1d", ...PLAIN });
    for (let step = 0; step < 5; step++) await huge.take("ann", 199_999_999);
    expect((await huge.take("ann", 6)).ok).toBe(false);
    expect((await huge.take("ann", 5)).ok).toBe(true);
    expect(() => virtual.limit("n", { max: 1, type: "gcra", burst: 1_000_000_000, per: "366d" })).toThrow(
      /140 years/,
    );
  });
});

test("the table of throttled and redis-cell, in redis-cell's shape", async () => {
  const limit = virtual.limit("n", { type: "gcra", max: 1, burst: 5, per: 1_000, ...PLAIN });
  const startUs = engine.trueUs;
  // ms, cost, remaining, reset, retry, limited
  const rows: readonly (readonly [number, number, number, number, number, 0 | 1])[] = [
    [0, 6, 5, 0, -1, 1],
    [0, 1, 4, 1_000, -1, 0],
    [0, 1, 3, 2_000, -1, 0],
    [0, 1, 2, 3_000, -1, 0],
    [0, 1, 1, 4_000, -1, 0],
    [0, 1, 0, 5_000, -1, 0],
    [0, 1, 0, 5_000, 1_000, 1],
    [3_000, 1, 2, 3_000, -1, 0],
    [3_100, 1, 1, 3_900, -1, 0],
    [4_000, 1, 1, 4_000, -1, 0],
    [8_000, 1, 4, 1_000, -1, 0],
    [9_500, 1, 4, 1_000, -1, 0],
    [9_500, 0, 4, 1_000, -1, 0],
    [9_500, 2, 2, 3_000, -1, 0],
    [9_500, 5, 2, 3_000, 3_000, 1],
    [99_500, 5, 0, 5_000, -1, 0],
  ];
  for (const [place, [atMs, cost, remaining, resetMs, retryMs, limited]] of rows.entries()) {
    engine.trueUs = startUs + atMs * 1_000;
    const result = await limit.take("ann", cost);
    expect(
      [result.remaining, result.resetMs, result.ok ? -1 : (result.retryAfterMs ?? -1)],
      `row ${place}`,
    ).toEqual([remaining, resetMs, retryMs]);
    const whole = (ms: number) => (ms < 0 ? -1 : Math.ceil(ms / 1_000));
    expect(toCell(5, result), `row ${place}`).toEqual([
      limited,
      5,
      remaining,
      whole(retryMs),
      whole(resetMs),
    ]);
  }
  expect(await limit.cell("ann")).toEqual([1, 5, 0, 1, 5]);
});

test("late events count less: the cases of traffic_jam", async () => {
  const limit = virtual.limit("n", { max: 3, per: 3_000, ...PLAIN });
  const atMs = engine.nowUs / 1_000 - 1_000;
  await limit.take("ann");
  await limit.take("ann", 1, { atMs });
  await limit.take("ann", 1, { atMs });
  expect((await limit.peek("ann", 0)).remaining).toBe(2);
  await limit.take("ann", 2);
  await limit.refund("ann", 2, { atMs });
  expect((await limit.peek("ann", 0)).remaining).toBe(1);
  const never = await limit.take("ann", 4, { atMs: 1e11 });
  expect(never).toMatchObject({ ok: false, retryAfterMs: null });
});
