/**
 * _plain.lua beside the rest of the script: the same calls once as they are, and once with a moment in the future, which
 * is now and takes the long way. Same answers, same states, same ends.
 */
import { beforeAll, expect, test } from "vitest";
import { type LimitOptions, parseLimitOptions } from "../../src/limits/settings.ts";
import { type Answer, type Asked, Dice, Engine } from "./engine.ts";

const SEEDS = Number(process.env.HOLDFAST_LIMIT_SEEDS ?? 25);
const STEPS = 30;
const FUTURE_US = 9_000_000_000_000_000;

let engine: Engine;
beforeAll(async () => {
  engine = await Engine.start();
});

const KINDS: readonly LimitOptions[] = [
  { max: 3, per: "1s" },
  { max: 97, per: 1_001 },
  { max: 10, per: "1h" },
  { type: "gcra", max: 10, per: "1m", burst: 2 },
  { type: "gcra", max: 1_000_000_000, per: "366d", burst: 4 },
  { type: "window", max: 3, per: "1s" },
];

interface Groups {
  readonly size: number;
  readonly asks: readonly Asked[];
}

/** A key may come again in another group. */
function groupsFrom(dice: Dice): Groups {
  const keys = [0, 1, 2, 3].filter(() => dice.fraction() < 0.6);
  const size = dice.fraction() < 0.5 ? 1 : Math.max(1, keys.length);
  const all = dice.fraction() < 0.3 ? [...keys, ...keys] : keys;
  const asks = all.map((key) => {
    const settings = parseLimitOptions("n", dice.pick(KINDS));
    const kind = settings.policy.type === "window" ? "window" : "bucket";
    return { settings, key: `${kind}:${key}`, cost: dice.pick([1, 1, 1, 2, 3, 5, 0]) };
  });
  return { size, asks };
}

/** Draws groups and lets time pass, step by step. @param step returns how many charges went the plain way: most do, or the test shows little */
function overSteps(step: (at: string, groups: Groups) => number): void {
  let plain = 0;
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const dice = new Dice(seed);
    engine.call("FLUSHALL");
    for (let place = 0; place < STEPS; place += 1) {
      const groups = groupsFrom(dice);
      engine.trueUs += dice.pick([1, 1_000, 10_000, 333_333, 2_000_000]);
      plain += step(`seed ${seed}, step ${place}`, groups);
    }
  }
  expect(plain).toBeGreaterThan(SEEDS * 5);
}

function stateOf(way: string, asks: readonly Asked[]): Answer[] {
  return asks.flatMap(({ key }) => [
    engine.call("GET", `${way}:${key}`),
    engine.call("PTTL", `${way}:${key}`),
  ]);
}

test("the plain way and the long way say and write the same", () => {
  overSteps((at, { size, asks }) => {
    const short = engine.charge(
      "take",
      asks.map((ask) => ({ ...ask, key: `short:${ask.key}` })),
      size,
    );
    const long = engine.charge(
      "take",
      asks.map((ask) => ({ ...ask, key: `long:${ask.key}`, atUs: FUTURE_US })),
      size,
    );
    expect([at, short]).toEqual([at, long]);
    expect([at, stateOf("short", asks)]).toEqual([at, stateOf("long", asks)]);
    return Array.isArray(short) && short.length > 1 && short[1] === 1 ? 1 : 0;
  });
});

test("a cost that is taken alone says and writes the same as one among others", () => {
  overSteps((at, { asks }) => {
    let plain = 0;
    for (const ask of asks) {
      const lone = engine.lone({ ...ask, key: `lone:${ask.key}` });
      const among = engine.charge("each", [{ ...ask, key: `among:${ask.key}` }]);
      expect([at, rowOf(lone)]).toEqual([at, among]);
      if (typeof lone === "string") plain += 1;
    }
    expect([at, stateOf("lone", asks)]).toEqual([at, stateOf("among", asks)]);
    return plain;
  });
});

/** A text tells what a row would tell: now, taken, remaining, retry, reset. */
function rowOf(lone: Answer): Answer {
  if (typeof lone !== "string") return lone;
  const [now = 0, remaining = 0, reset = 0] = lone.split(" ").map(Number);
  return [now, 1, remaining, 0, reset];
}

test("where one key of a group holds something else, none is charged, and a charge apart is told alone", () => {
  engine.call("FLUSHALL");
  engine.call("RPUSH", "b", "something");
  const settings = parseLimitOptions("n", { max: 3, per: "1s" });
  const asks = ["a", "b", "c"].map((key) => ({ settings, key, cost: 1 }));
  const [, ...told] = engine.charge("all", asks) as Answer[];
  expect(told.map((word) => String(word).slice(0, 9))).toEqual(
    Array(3).fill(["-1", "WRONGTYPE", "0", "0"]).flat(),
  );
  expect([engine.call("GET", "a"), engine.call("GET", "c")]).toEqual([null, null]);
  const answer = engine.charge("each", asks) as Answer[];
  expect([answer[1], answer[5], String(answer[6]).slice(0, 9), answer[9]]).toEqual([1, -1, "WRONGTYPE", 1]);
});
