/** What can never work, or would be ignored, is an InvalidArgumentError that says what to do; and nothing is sent. */
import Fastify from "fastify";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { InvalidArgumentError } from "../../src/errors.ts";
import type { Guard } from "../../src/guards/guard.ts";
import { parseGuardOptions } from "../../src/guards/guard-settings.ts";
import type { Limit } from "../../src/limits/limit.ts";
import type { LimitGroupPart } from "../../src/limits/limit-group.ts";
import { Limits } from "../../src/limits/limits.ts";
import type { LimitOptions } from "../../src/limits/settings.ts";
import { limitTypes, types } from "../../src/limits/types.ts";
import { rateLimit } from "../../src/middleware/fastify.ts";
import { Engine } from "./engine.ts";
import { VirtualLimits } from "./virtual-limits.ts";

let engine: Engine;
let virtual: VirtualLimits;
let limits: Limits;
let other: Limit;
let limit: Limit;

beforeAll(async () => {
  engine = await Engine.start();
});

beforeEach(() => {
  engine.call("FLUSHALL");
  virtual = new VirtualLimits(engine);
  limits = virtual.limits;
  limit = virtual.limit("n", { max: 3, per: "1h" });
  other = new VirtualLimits(engine, 2).limit("foreign", { max: 2, per: "1h" });
});

/** Of whatever it throws or rejects with. */
async function refusalOf(call: () => unknown): Promise<string> {
  try {
    await call();
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidArgumentError);
    expect(virtual.port.calls).toEqual([]);
    return (error as Error).message;
  }
  throw new Error("it was accepted");
}

describe("groups", () => {
  test("of limits of another Holdfast, which counts them elsewhere", async () => {
    const told = /^parts\[1\] is the limit 'foreign' of another Holdfast/;
    const parts = [limit.of("ann"), other.of("ann")];
    expect(await refusalOf(() => limits.all(parts))).toMatch(told);
    expect(await refusalOf(() => limits.across(parts))).toMatch(told);
    const strangers = new VirtualLimits(engine, 2);
    const group = strangers.all([strangers.limit("foreign", { max: 2, per: "1h" }).of("ann")]);
    expect(await refusalOf(() => limits.all([group]))).toMatch(/another Holdfast/);
    const index = await limits.index("mine");
    expect(await refusalOf(() => index.note([other.of("ann")]))).toMatch(/another Holdfast/);
  });

  test.each<[string, () => unknown]>([
    ["nothing", () => undefined],
    ["one part", () => limit.of("ann")],
    ["a limit", () => [limit]],
    ["null", () => [null]],
    ["text", () => ["ann"]],
    ["a part made by hand whose cost is none", () => [{ limit, target: "ann", cost: 0.4 }]],
    ["one that would give back", () => [{ limit, target: "ann", cost: -3 }]],
    ["one without a target", () => [{ limit }]],
  ])("of %s", async (_, parts) => {
    await refusalOf(() => limits.all(parts() as LimitGroupPart[]));
    await refusalOf(() => limits.across(parts() as LimitGroupPart[]));
  });

  test("say what a part is", async () => {
    expect(await refusalOf(() => limits.all([limit] as never))).toBe(
      "parts[0] must be limit.of(target), or a group",
    );
    expect(await refusalOf(() => limits.all(limit.of("ann") as never))).toBe(
      "parts must be an array of limit.of(target)",
    );
  });

  test("in an index, and names of what it resets", async () => {
    const index = await limits.index("mine");
    await refusalOf(() => index.note([limit] as never));
    await refusalOf(() => index.note(limit.of("ann") as never));
    await refusalOf(() => index.reset(5 as never));
  });

  test("and middleware with them", async () => {
    for (const given of [other, [limit, other]])
      expect(await refusalOf(() => rateLimit({ limits }, { limits: given }))).toMatch(
        /^limits is the limit 'foreign' of another Holdfast/,
      );
  });

  test("a hook of Fastify that is registered as a plugin says so", async () => {
    const app = Fastify();
    app.register(rateLimit({ limits }, { limits: limit }) as never);
    expect(await refusalOf(() => app.ready())).toMatch(/^rateLimit\(\) is a hook: app\.addHook/);
  });

  test.each([undefined, null, {}, { limits: {} }])("and middleware without a Holdfast: %j", async (hf) => {
    expect(await refusalOf(() => rateLimit(hf as never, { limits: limit }))).toBe(
      "hf must be a Holdfast: new Holdfast(client)",
    );
  });
});

describe("options that would be ignored", () => {
  test.each<[string, () => unknown]>([
    ["a cost that is no object", () => limit.of("ann", 5 as never)],
    ["a misspelt cost", () => limit.of("ann", { const: 5 } as never)],
    ["null for a part", () => limit.of("ann", null as never)],
    ["an unknown one", () => limit.take("ann", 1, { time: 1e12 } as never)],
    ["a moment that is no object", () => limit.take("ann", 1, 5 as never)],
    ["null", () => limit.take("ann", 1, null as never)],
    ["an unknown one of a refund", () => limit.refund("ann", 1, { time: 1e12 } as never)],
    ["null of a refund", () => limit.refund("ann", 1, null as never)],
    ["a moment in seconds", () => limit.take("ann", 1, { atMs: 1_700_000_000 })],
    ["one of a part", () => limits.all([limit.of("ann", { atMs: 1_700_000_000 })]).take()],
    ["one of a part of a refund", () => limits.all([limit.of("ann", { atMs: -1 })]).refund()],
    ["a moment that is text", () => limit.refund("ann", 1, { atMs: "now" as never })],
  ])("%s", async (_, call) => {
    await refusalOf(call);
  });

  test.each(limitTypes)("a moment of a charge, where %s does not heed it", async (type) => {
    const options = { type, max: 3, ...(types[type].frees === "never" ? {} : { per: "1h" }) };
    const late = virtual.limit("late", options as LimitOptions);
    const atMs = engine.nowUs / 1_000 - 1_000;
    const calls = [
      () => late.take("ann", 1, { atMs }),
      () => virtual.all([late.of("ann", { atMs })]).take(),
      () => virtual.all([late.of("ann", { atMs })]).peek(),
      ...(types[type].frees === "never" ? [] : [() => limits.across([late.of("ann", { atMs })]).take()]),
    ];
    for (const call of calls) {
      if (types[type].frees === "evenly") await call();
      else expect(await refusalOf(call)).toMatch(/^atMs is for rolling and gcra, and for refunds/);
    }
    // When it was taken is said of a refund of any type.
    await late.refund("ann", 1, { atMs });
    await virtual.all([late.of("ann", { atMs })]).refund();
  });
});

test("messages show text as text, and name what was meant", async () => {
  const told = (options: object) => refusalOf(() => virtual.limit("n", options as LimitOptions));
  expect(await told({ max: "10", per: "1h" })).toBe(
    'max must be a whole number from 0 to 1000000000, not "10"',
  );
  expect(await told({ max: 1, per: "400d" })).toBe('per must be at most 366 days, not "400d"');
  expect(await told({ max: 1, per: "1h", type: "fixed" })).toMatch(/ not "fixed"$/);
  const guard = (options: object) =>
    refusalOf(() => parseGuardOptions("g", options as never) as never as Guard);
  expect(await guard({ hits: "3", per: "1m" })).toMatch(/ not "3"$/);
  const rules = 'penalties must be an array of 1 to 100 rules such as { kind: "busy", for: "15s" }';
  expect(await guard({ hits: 3, per: "1m" })).toBe(rules);
  expect(await guard({ hits: 3, per: "1m", penalties: [] })).toBe(rules);
  const penalties = [{ kind: "busy", for: "400d" }];
  expect(await guard({ hits: 3, per: "1m", penalties })).toMatch(
    /^penalties\[0\]\.for must be at most 366 days/,
  );
});

test("a limit is asked of the Holdfast that made it", () => {
  expect([limits.has(limit), limits.has(other)]).toEqual([true, false]);
  expect(new Limits(new VirtualLimits(engine, 3).limiter).has(limit)).toBe(false);
});
