/**
 * The script on the real engine against the model, answer by answer: random charges, costs, moments, refunds, settings,
 * other settings, and a server whose clock is set back and forth. HOLDFAST_LIMIT_SEEDS=2000 for a long run,
 * HOLDFAST_LIMIT_SEED=7 for one.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { type LimitOptions, type LimitSettings, parseLimitOptions } from "../../src/limits/settings.ts";
import { type LimitType, limitTypes } from "../../src/limits/types.ts";
import { Dice, Engine } from "./engine.ts";
import { modelOf, type Question } from "./model.ts";

const SEEDS = Number(process.env.HOLDFAST_LIMIT_SEEDS ?? 10);
const ONE = process.env.HOLDFAST_LIMIT_SEED;
const STEPS = 80;

let engine: Engine;

beforeAll(async () => {
  engine = await Engine.start();
});

function optionsOf(type: LimitType, dice: Dice): LimitOptions {
  const max = dice.pick([1, 2, 3, 5, 10, 97, 1_000, 1_000_000_000]);
  if (type === "lifetime") return { type, max };
  const per = dice.pick([1, 10, 1_000, 1_001, 60_000, 3_600_000, 86_400_000]);
  const burst = dice.pick([1, max, 2 * Math.min(max, 1_000), 7]);
  return type === "gcra" ? { type, max, per, burst } : { type, max, per };
}

function termsFrom(type: LimitType, dice: Dice): LimitSettings {
  for (;;) {
    try {
      return parseLimitOptions("n", optionsOf(type, dice));
    } catch {} // so much in so long a time cannot be counted
  }
}

function costFrom({ burst }: LimitSettings, dice: Dice): number {
  return dice.pick([
    0,
    1,
    1,
    1,
    2,
    burst,
    burst + 1,
    dice.whole(1, burst),
    Math.ceil(burst / 3),
    -1,
    -dice.whole(1, burst),
  ]);
}

function questionFrom(settings: LimitSettings, nowUs: number, dice: Dice): Question {
  const how = dice.pick(["each", "each", "each", "each", "each", "each", "look", "set", "ahead"] as const);
  const cost = costFrom(settings, dice);
  const atUs =
    dice.fraction() < 0.2 ? nowUs - Math.floor(dice.fraction() * settings.perUs * 1.5) + 2_000 : null;
  return {
    how,
    settings,
    cost: how === "set" || how === "ahead" ? Math.abs(cost) : cost,
    atUs: how === "each" ? atUs : null,
    extra: dice.whole(0, Math.min(1_000, settings.burst)),
    holdUs: Math.floor(dice.fraction() * settings.perUs * 0.1),
  };
}

/** Mostly on, sometimes a clock that is set. */
function passTime({ perUs, policy }: LimitSettings, dice: Dice): void {
  const long = perUs || 60_000_000;
  const luck = dice.fraction();
  if (luck < 0.25) engine.trueUs += dice.whole(0, 3);
  else if (luck < 0.8) engine.trueUs += Math.floor((dice.fraction() * 3 * long) / Math.min(policy.max, 20));
  else if (luck < 0.9) engine.trueUs += Math.floor(dice.fraction() * 2 * long);
  else if (luck < 0.95) engine.valkey.clock.step(-Math.floor((dice.fraction() * 3 * long) / 1_000));
  else engine.valkey.clock.step(Math.floor((dice.fraction() * 0.5 * long) / 1_000));
}

function walk(type: LimitType, seed: number): void {
  const dice = new Dice(seed * 31 + type.length);
  engine.call("FLUSHALL");
  const model = modelOf(type);
  const key = `t:{a}:limit:${type}:n`;
  let settings = termsFrom(type, dice);
  const story: string[] = [];
  for (let step = 0; step < STEPS; step++) {
    passTime(settings, dice);
    // Not both: a key without an end has one again by the settings of whoever is refused.
    if (seed % 2 === 0 && dice.fraction() < 0.03) settings = termsFrom(type, dice);
    if (seed % 2 === 1 && dice.fraction() < 0.03 && type !== "lifetime") engine.call("PERSIST", key);
    const nowUs = engine.nowUs;
    if (engine.call("EXISTS", key) === 0)
      expect(
        model.gone(nowUs),
        `seed ${seed}: gone at ${nowUs} while it held\n${story.slice(-6).join("\n")}`,
      ).toBe("");
    const question = questionFrom(settings, nowUs, dice);
    const { how, cost, atUs, extra, holdUs } = question;
    const before = engine.call(
      type === "sliding" ? "LRANGE" : "GET",
      key,
      ...(type === "sliding" ? ["0", "-1"] : []),
    );
    const ahead = how === "ahead" ? { extra, holdUs } : {};
    const isBack = how === "each" && cost < 0 && dice.fraction() < 0.7;
    const ask = { settings, key, cost, atUs, ...ahead, ...(isBack ? { mark: `t:{a}:refund:${step}` } : {}) };
    const [toldUs, ...answer] = engine.charge(isBack ? "back" : how, [ask]) as number[];
    const expected = model.ask(nowUs, question);
    const { policy, burst, unitUs } = settings;
    story.push(
      `${nowUs} ${how} ${cost} at ${atUs} +${extra}/${holdUs} of ${policy.max} per ${policy.perMs} burst ${burst} unit ${unitUs}: ` +
        `${answer} (state ${before}), expected ${expected}`,
    );
    const told = story.slice(-6).join("\n");
    expect(toldUs, `seed ${seed}\n${told}`).toBe(nowUs);
    expect(answer, `seed ${seed}\n${told}`).toEqual(expected);
    // Sent again, it gives back nothing.
    if (isBack && dice.fraction() < 0.3) {
      const again = engine.charge("back", [ask]) as number[];
      expect(again.slice(1), `seed ${seed}, again\n${told}`).toEqual(
        model.ask(nowUs, { ...question, cost: 0 }),
      );
    }
    if (how !== "look" && type !== "lifetime" && engine.call("EXISTS", key) === 1)
      expect(engine.call("PTTL", key), `seed ${seed}: no end\n${told}`).toBeGreaterThan(-1);
  }
}

describe.each(limitTypes)("%s", (type) => {
  test("says what the model says", () => {
    const seeds = ONE === undefined ? Array.from({ length: SEEDS }, (_, place) => place + 1) : [Number(ONE)];
    for (const seed of seeds) walk(type, seed);
  });
});

/** Many keys in one call: one after the other, or as a group, which is charged if all of it fits. */
function walkMany(seed: number): void {
  const dice = new Dice(seed * 131);
  engine.call("FLUSHALL");
  const limits = limitTypes.map((type) => ({
    model: modelOf(type),
    settings: termsFrom(type, dice),
    key: `t:{a}:limit:${type}:n`,
  }));
  for (let step = 0; step < STEPS; step++) {
    engine.trueUs += Math.floor(dice.fraction() * dice.pick([3, 1_000, 1_000_000]));
    const nowUs = engine.nowUs;
    for (const { key, model } of limits)
      if (engine.call("EXISTS", key) === 0) expect(model.gone(nowUs)).toBe("");
    const how = dice.pick(["each", "all"] as const);
    const order = dice.whole(0, 1) === 0 ? limits : [...limits].reverse();
    const picked = how === "all" ? order : Array.from({ length: dice.whole(1, 12) }, () => dice.pick(limits));
    const asks = picked.map((limit) => ({ ...limit, cost: dice.pick([1, 1, 1, 2, limit.settings.burst]) }));
    const questions = asks.map(({ settings, cost }) => ({
      how: "each" as const,
      settings,
      cost,
      atUs: null,
      extra: 0,
      holdUs: 0,
    }));
    const looks = asks.map(({ model }, place) =>
      model.ask(nowUs, { ...(questions[place] as Question), how: "look" }),
    );
    const isRefused = how === "all" && looks.some(([taken]) => taken === 0);
    const expected = isRefused
      ? looks
      : asks.map(({ model }, place) => model.ask(nowUs, questions[place] as Question));
    const [, ...told] = engine.charge(how, asks) as number[];
    expect(told, `seed ${seed}, step ${step}, ${how}`).toEqual(expected.flat());
  }
}

test("many in one call: each as if it were alone, a group as a whole", () => {
  const seeds = ONE === undefined ? Array.from({ length: SEEDS }, (_, place) => place + 1) : [Number(ONE)];
  for (const seed of seeds) walkMany(seed);
});

test.each(["rolling", "gcra", "window", "sliding"] as const)(
  "%s: a key that lost its expiry gets one again from a refusal, also when nothing is used any more",
  (type) => {
    engine.call("FLUSHALL");
    const settings = parseLimitOptions("n", { type, max: 5, per: 1_000 });
    const ask = { settings, key: `t:{a}:limit:${type}:n`, atUs: null };
    engine.charge("each", [{ ...ask, cost: 1 }]);
    engine.call("PERSIST", ask.key);
    engine.trueUs += 10_000_000;
    engine.charge("each", [{ ...ask, cost: 6 }]);
    expect(engine.call("PTTL", ask.key)).toBeGreaterThan(-1);
  },
);
