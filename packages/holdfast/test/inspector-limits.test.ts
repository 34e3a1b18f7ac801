/** hf.inspector() beside limits: what is used is read off their state alone. */
import { UNHURRIED } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Holdfast, type Inspector, type LimitState, type LimitsOptions } from "../src/index.js";
import { limitKey } from "../src/redis/keys.js";
import { escapePattern, matcherOf } from "../src/redis/pattern.js";

let server: EmbeddedValkey;
let redis: Redis;
let hf: Holdfast;
let inspector: Inspector;

beforeAll(async () => {
  server = await EmbeddedValkey.start();
  redis = new Redis(server.port);
  hf = new Holdfast(redis, UNHURRIED);
  inspector = await hf.inspector();
});

afterAll(async () => {
  await hf?.close();
  redis?.disconnect();
  await server?.stop();
});

beforeEach(() => redis.flushall());

async function all(options?: LimitsOptions): Promise<LimitState[]> {
  const found: LimitState[] = [];
  for await (const state of inspector.limits(options)) found.push(state);
  return found.sort((a, b) => (`${a.name} ${a.target}` < `${b.name} ${b.target}` ? -1 : 1));
}

describe("what is used of a limit", () => {
  test.each([
    { options: { type: "rolling", max: 10, per: "1h" }, resetMs: 1_080_000 },
    { options: { type: "gcra", max: 10, per: "1h", burst: 3 }, resetMs: 1_080_000 },
    { options: { type: "window", max: 10, per: "1h" }, resetMs: 3_600_000 },
    { options: { type: "sliding", max: 10, per: "1h" }, resetMs: 3_600_000 },
    { options: { type: "lifetime", max: 10 }, resetMs: null },
  ] as const)("$options.type", async ({ options, resetMs }) => {
    const { type } = options;
    const limit = hf.limit("sms", options);
    for (let taken = 0; taken < 3; taken += 1) await limit.take("user:7");
    const [state, ...others] = await inspector.limit("sms", "user:7");
    expect(others).toEqual([]);
    expect(state).toEqual({
      name: "sms",
      type,
      target: "user:7",
      used: 3,
      resetMs: expect.toSatisfy(near(resetMs)),
    });
    expect(await all()).toEqual([{ ...state, resetMs: expect.toSatisfy(near(resetMs)) }]);
  });

  test("a bucket has regenerated as its key tells, a sliding limit forgot what is over", async () => {
    const key = limitKey("holdfast", "rolling", "sms", "a");
    await hf.limit("sms", { max: 10, per: "1h" }).take("a", 10);
    const [level = "", since = "", ...rest] = ((await redis.get(key)) ?? "").split(" ");
    await redis.set(key, [level, Number(since) - 1_800_000_000, ...rest].join(" "), "PX", 1_800_001);
    expect(await inspector.limit("sms", "a")).toMatchObject([{ used: 5 }]);
    const log = limitKey("holdfast", "sliding", "sms", "a");
    await hf.limit("sms", { type: "sliding", max: 10, per: "1h" }).take("a", 4);
    const nowUs = Number(((await redis.lindex(log, 0)) ?? "").split(" ")[0]);
    await redis.lset(log, 0, `${nowUs - 3_700_000_000} 4 4`);
    await redis.rpush(log, `${nowUs} 2 6`);
    expect((await inspector.limit("sms", "a")).find(({ type }) => type === "sliding")?.used).toBe(2);
  });

  test("a key that lost its end, and what another program wrote", async () => {
    await hf.limit("sms", { max: 10, per: "1h" }).take("a", 4);
    await redis.persist(limitKey("holdfast", "rolling", "sms", "a"));
    await redis.hset(limitKey("holdfast", "rolling", "sms", "b"), "some", "thing");
    await redis.set(limitKey("holdfast", "window", "sms", "b"), "something");
    await redis.rpush(limitKey("holdfast", "sliding", "sms", "b"), "something");
    await redis.set(limitKey("holdfast", "unknown", "sms", "b"), "4");
    expect(await all()).toEqual([{ name: "sms", type: "rolling", target: "a", used: 4, resetMs: null }]);
  });
});

describe("limits", () => {
  test("by name and by target, each for itself", async () => {
    for (const name of ["login", "api:login"])
      for (const target of ["10.0.0.1", "10.0.0.2", "x}:limit:rolling:login"])
        await hf.limit(name, { max: 10, per: "1h" }).take(target);
    expect(await all()).toHaveLength(6);
    expect((await all({ pattern: "login" })).map(({ name }) => name)).toEqual(["login", "login", "login"]);
    expect(await all({ target: "*.2" })).toMatchObject([{ name: "api:login" }, { name: "login" }]);
    expect(await all({ pattern: "l[n-p]gin", target: "10.0.0.[^1]" })).toMatchObject([
      { target: "10.0.0.2" },
    ]);
    await expect(all({ pattern: "" })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      argument: "pattern",
    });
  });

  test("reset says what was used, and leaves nothing", async () => {
    const limit = hf.limit("login", { max: 1, per: "1h", cache: false });
    await limit.take("a");
    expect(await limit.take("a")).toMatchObject({ ok: false });
    expect(await inspector.resetLimit("login", "a")).toMatchObject([{ type: "rolling", used: 1 }]);
    expect(await limit.take("a")).toMatchObject({ ok: true });
    expect(await inspector.resetLimit("login", "nobody")).toEqual([]);
  });

  test("a pattern means here what it means to Redis", async () => {
    const texts = ["a", "ab", "a.b", "a*b", "a[b", "a]b", "a-b", "a^b", "a\\b", "azb", "(", ""];
    const patterns = [
      "*",
      "a*",
      "a?b",
      "a[.z]b",
      "a[^.z]b",
      "a[z-y]b",
      "a\\*b",
      "a[\\]x]b",
      "a[-*]b",
      "(",
      "a\\\\b",
    ];
    for (const pattern of [...patterns, ...texts.filter(Boolean).map(escapePattern)]) {
      const matches = matcherOf(pattern);
      await redis.flushall();
      for (const text of texts) await redis.set(`k${text}`, "");
      const [, keys] = await redis.scan("0", "MATCH", `k${pattern}`, "COUNT", 1_000);
      expect([pattern, texts.filter(matches).sort()]).toEqual([
        pattern,
        keys.map((key) => key.slice(1)).sort(),
      ]);
    }
  });
});

function near(ms: number | null): (found: unknown) => boolean {
  return (found) => found === ms || (ms !== null && Math.abs(Number(found) - ms) < 30_000);
}
