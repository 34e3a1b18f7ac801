/** The guard, on the engine itself. Decay and escalation over time are tried in the lab's virtual time. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { freePort, inTime, ManualClock, outcome, UNHURRIED, until } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { type GuardOptions, Holdfast, type HoldfastOptions, InvalidArgumentError } from "holdfast";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { script } from "../../src/guards/guard.lua.js";
import { parseGuardOptions } from "../../src/guards/guard-settings.js";
import { OutageLimiter } from "../../src/limits/outage-limiter.js";
import { systemClock } from "../../src/time/clock.js";

let server: EmbeddedValkey;
let redis: Redis;
const opened: Holdfast[] = [];
const heard: [channel: string, message: unknown][] = [];
const CHANNELS = ["holdfast:guard:punished", "holdfast:guard:outage"];
const hear = (message: unknown, channel: string | symbol) => heard.push([String(channel), message]);

beforeAll(async () => {
  server = await EmbeddedValkey.start();
  redis = new Redis(server.url);
  for (const channel of CHANNELS) subscribe(channel, hear);
});

afterAll(async () => {
  for (const channel of CHANNELS) unsubscribe(channel, hear);
  redis.disconnect();
  await server.stop();
});

beforeEach(async () => {
  await redis.flushall();
  heard.length = 0;
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((hf) => hf.close()));
});

function holdfast(url = server.url, options: HoldfastOptions = {}): Holdfast {
  const hf = new Holdfast(url, { ...UNHURRIED, ...options });
  opened.push(hf);
  return hf;
}

const TWO: GuardOptions = {
  hits: 2,
  per: "1m",
  penalties: [
    { kind: "postpone", for: 60_000 },
    { kind: "busy", for: "10m" },
  ],
};

async function scriptsRun(): Promise<number> {
  const stats = await redis.info("commandstats");
  const calls = ["eval", "evalsha"].map((name) =>
    Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(stats)?.[1] ?? 0),
  );
  return calls.reduce((sum, each) => sum + each, 0);
}

async function ends(): Promise<Record<string, number>> {
  const keys = await redis.keys("*");
  return Object.fromEntries(await Promise.all(keys.map(async (key) => [key, await redis.pttl(key)])));
}

describe("the script", () => {
  const MINUTE = 60_000_000;
  const run = (how: string, ...penalties: (string | number)[]) =>
    redis.eval(script.source, 2, "g:{s}:record", "g:{s}:count", how, 2, MINUTE, 2 * MINUTE, ...penalties);

  test("free, then struck, then blocked; a look and a pardon", async () => {
    const penalties = [1_000_000, "0", 5_000_000, "0"];
    expect(await run("look", ...penalties)).toEqual([0, 0, 0, 0, 2]);
    expect(await run("hit", ...penalties)).toEqual([0, 0, 0, 0, 1]);
    expect(await run("hit", ...penalties)).toEqual([0, 0, 0, 0, 0]);
    expect(await run("look", ...penalties)).toEqual([0, 0, 0, 0, 0]);
    expect(await run("hit", ...penalties)).toEqual([2, 1, 1, 1_000_000, 0]);
    const [blocked, strikes, place, left] = (await run("hit", ...penalties)) as number[];
    expect([blocked, strikes, place]).toEqual([1, 1, 1]);
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(1_000_000);
    expect(await run("pardon", ...penalties)).toEqual([0, 0, 0, 0, 2]);
    expect(await run("look", ...penalties)).toEqual([0, 0, 0, 0, 2]);
  });

  test("a key that holds something else is an error, and nothing is written", async () => {
    await redis.rpush("g:{s}:record", "x");
    await expect(run("hit", 1_000_000, "0")).rejects.toThrow(/WRONGTYPE/);
    await redis.del("g:{s}:record");
    await redis.rpush("g:{s}:count", "x");
    await expect(run("hit", 1_000_000, "0")).rejects.toThrow(/WRONGTYPE/);
    expect(await redis.keys("*")).toEqual(["g:{s}:count"]);
    await redis.set("g:{s}:count", "x");
    await expect(run("hit", 1_000_000, "0")).rejects.toThrow(/WRONGTYPE/);
    await redis.set("g:{s}:record", "1 2");
    await expect(run("look", 1_000_000, "0")).rejects.toThrow(/WRONGTYPE/);
  });

  test("a penalty that was made shorter is shorter at once, and one that was stored ahead of the clock ends", async () => {
    for (let hit = 0; hit < 3; hit += 1) await run("hit", 50_000_000, "0");
    expect(await run("look", 1_000_000, "0")).toEqual([1, 1, 1, 1_000_000, 0]);
    await redis.set("g:{s}:record", `1 9000000000000000 9000000000000000`);
    expect(await run("look", 1_000_000, "0")).toEqual([1, 1, 1, 1_000_000, 0]);
  });
});

describe("the trap of INCR after the check", () => {
  /** As it is often written: look whether the count is there, then raise it. */
  async function naive(key: string, between: () => Promise<unknown>): Promise<void> {
    if ((await redis.get(key)) === null) await redis.set(key, 1, "PX", 600_000);
    else {
      await between();
      await redis.incr(key);
    }
  }

  const expiry = async (key: string) => {
    await redis.pexpire(key, 1);
    await until("it ends", async () => (await redis.exists(key)) === 0);
  };

  test("a count that ends between the look and the INCR comes back without an end, and counts for ever", async () => {
    await naive("count", async () => {});
    await naive("count", () => expiry("count"));
    expect(await redis.pttl("count")).toBe(-1);
  });

  test("no key of a guard is ever without an end, wherever its counts run out", async () => {
    const guard = holdfast().guard("g", { ...TWO, hits: 3, per: 20, cache: false, decay: 30 });
    let seen = 0;
    while (seen < 100) {
      await guard.hit("s", "/a");
      for (const [key, end] of Object.entries(await ends())) {
        seen += 1;
        // -2: it ran out since its name was read
        expect([key, end]).not.toEqual([key, -1]);
      }
      await guard.pardon("s");
    }
  });

  test("a key that lost its end by another hand has one after the next hit, and counts anew", async () => {
    const guard = holdfast().guard("g", { ...TWO, per: 30 });
    await guard.hit("s", "/a");
    const [key = ""] = await redis.keys("*:hits:*");
    await redis.persist(key);
    await new Promise((resolve) => setTimeout(resolve, 35));
    expect(await guard.hit("s", "/a")).toMatchObject({ ok: true, remaining: 1 });
    expect(await redis.pttl(key)).not.toBe(-1); // -2: it ran out since
  });
});

test("hits are counted for each subject and route; the penalty is the subject's, and its counts begin anew", async () => {
  const guard = holdfast().guard("grab", TWO);
  expect(await guard.hit("kim", "/grab")).toEqual({
    ok: true,
    penalty: null,
    retryAfterMs: 0,
    strikes: 0,
    remaining: 1,
    source: "redis",
  });
  await guard.hit("kim", "/grab");
  expect(await guard.hit("kim", "/countdown")).toMatchObject({ ok: true, remaining: 1 });
  expect(await guard.hit("kim", "/grab")).toMatchObject({
    ok: false,
    penalty: { kind: "postpone", forMs: 60_000, prolong: false },
    strikes: 1,
    remaining: 0,
  });
  expect(await guard.look("kim", "/countdown")).toMatchObject({ ok: false, strikes: 1 });
  expect(await guard.hit("lee", "/grab")).toMatchObject({ ok: true, remaining: 1 });
  await guard.pardon("kim");
  expect(await guard.look("kim", "/countdown")).toMatchObject({ ok: true, remaining: 2, strikes: 0 });
  const punished = {
    guard: "grab",
    subject: "kim",
    route: "/grab",
    strikes: 1,
    kind: "postpone",
    forMs: 60_000,
  };
  expect(heard).toEqual([["holdfast:guard:punished", punished]]);
  const tags = (await redis.keys("*")).map((key) => /\{(.*?)\}/.exec(key)?.[1]);
  expect(new Set(tags)).toEqual(new Set(["kim", "lee"]));
});

test("of hits from many processes at once exactly so many are free, and one brings the penalty", async () => {
  const options = { ...TWO, hits: 25 };
  const guards = [1, 2, 3, 4, 5].map(() => holdfast().guard("g", options));
  const verdicts = await Promise.all(
    Array.from({ length: 100 }, (_, place) => guards[place % 5]?.hit("s", "/")),
  );
  expect(verdicts.filter((verdict) => verdict?.ok)).toHaveLength(25);
  expect(new Set(verdicts.map((verdict) => verdict?.strikes))).toEqual(new Set([0, 1]));
  expect(heard).toHaveLength(1);
});

describe("during a penalty", () => {
  test("a thousand hits are answered without Redis, and do not prolong it", async () => {
    const guard = holdfast().guard("g", { ...TWO, hits: 1 });
    await guard.hit("s");
    const struck = await guard.hit("s");
    const [key = ""] = await redis.keys("*:strikes:*");
    const [record, before] = [await redis.get(key), await scriptsRun()];
    for (let hit = 0; hit < 1_000; hit += 1) {
      const verdict = await guard.hit("s");
      expect(verdict).toMatchObject({ ok: false, source: "cache", strikes: 1 });
      expect(verdict.retryAfterMs).toBeLessThanOrEqual(struck.retryAfterMs as number);
    }
    expect(await scriptsRun()).toBe(before);
    expect(await redis.get(key)).toBe(record);
  });

  test("a penalty that says so is prolonged by each hit, of which Redis hears", async () => {
    const penalties = [{ kind: "busy", for: 60_000, prolong: true }] as const;
    const guard = holdfast().guard("g", { hits: 1, per: "1m", penalties });
    await guard.hit("s");
    await guard.hit("s");
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect((await guard.look("s")).retryAfterMs).toBeLessThanOrEqual(59_980);
    expect(await guard.hit("s")).toMatchObject({ retryAfterMs: 60_000, source: "redis", strikes: 1 });
  });

  test("a pardon here is seen here at once, whatever was under way; elsewhere when the penalty ends", async () => {
    const [here, there] = [holdfast(), holdfast()].map((hf) => hf.guard("g", { ...TWO, hits: 1 }));
    await here?.hit("s");
    await here?.hit("s");
    expect(await there?.hit("s")).toMatchObject({ ok: false, source: "redis" });
    const [, during] = await Promise.all([here?.pardon("s"), here?.hit("s")]);
    expect(during?.source).toBe("redis");
    expect(await here?.hit("s")).toMatchObject({ source: "redis" });
    expect(await there?.hit("s")).toMatchObject({ ok: false, source: "cache" });
  });
});

describe("while Redis cannot be asked", () => {
  test.each([
    ["open", [true, true, true], [0, 0, 0]],
    ["closed", [false, false, false], [null, null, null]],
    ["local", [true, false, false], [0, expect.any(Number), expect.any(Number)]],
  ] as const)("%s", async (outage, oks, retries) => {
    const own = await EmbeddedValkey.start({ port: await freePort() });
    const clock = new ManualClock();
    const guard = holdfast(own.url, { clock, callTimeout: 700 }).guard("g", { ...TWO, outage });
    for (let hit = 0; hit < 3; hit += 1) await guard.hit("known");
    await own.stop();
    const startMs = clock.now().monoMs;
    const verdicts = [];
    for (let hit = 0; hit < 3; hit += 1) verdicts.push(await inTime(guard.hit("s"), clock, 50));
    expect(clock.now().monoMs - startMs).toBeLessThan(3 * 700);
    expect(verdicts.map(({ ok }) => ok)).toEqual(oks);
    expect(verdicts.map(({ retryAfterMs }) => retryAfterMs)).toEqual(retries);
    expect(verdicts.map(({ source }) => source)).toEqual(Array(3).fill("outage"));
    expect(verdicts[2]?.penalty?.kind).toBe(outage === "local" ? "postpone" : undefined);
    expect(await guard.hit("known")).toMatchObject({ ok: false, source: "cache" });
    expect(heard.at(-1)).toMatchObject(["holdfast:guard:outage", { guard: "g", outage }]);
  });

  test("error, which is the default", async () => {
    const own = await EmbeddedValkey.start({ port: await freePort() });
    const clock = new ManualClock();
    const guard = holdfast(own.url, { clock, callTimeout: 700 }).guard("g", TWO);
    await guard.hit("s");
    await own.stop();
    const unanswered = { code: expect.stringMatching(/INDETERMINATE|UNAVAILABLE/) };
    for (const call of [() => guard.hit("s"), () => guard.pardon("s")])
      expect((await outcome<unknown>(call(), clock, 50)).error).toMatchObject(unanswered);
  });
});

test("with a share of the hits one is always free, whatever a product of fractions comes to", () => {
  const share = new OutageLimiter(systemClock, 10_000);
  const refused = Array.from({ length: 5_000 }, (_, at) => at + 1).filter((hits) => {
    const settings = parseGuardOptions("g", { ...TWO, hits, outage: "local", localShare: 0.0001 });
    return !share.take(settings.share, `${hits}`, 1).ok;
  });
  expect(refused).toEqual([]);
});

test("after close() every call says so", async () => {
  const hf = holdfast();
  const guard = hf.guard("g", TWO);
  await guard.hit("s");
  await hf.close();
  await expect(guard.hit("s")).rejects.toMatchObject({ code: "CLOSED" });
  await expect(guard.look("s")).rejects.toMatchObject({ code: "CLOSED" });
  await expect(guard.pardon("s")).rejects.toMatchObject({ code: "CLOSED" });
  expect(() => hf.guard("g", TWO)).toThrow(/guard\(\)/);
});

test.each([
  ["hits", { hits: 0 }],
  ["hits", { hits: 1.5 }],
  ["per", { per: "soon" }],
  ["penalties", { penalties: [] }],
  ["penalties[0].kind", { penalties: [{ kind: "flog", for: 1 }] }],
  ["penalties[0].for", { penalties: [{ kind: "busy", for: 0 }] }],
  ["penalties[0].prolong", { penalties: [{ kind: "busy", for: 1, prolong: 1 }] }],
  ["decay", { decay: -1 }],
  ["deny", { deny: "mallory" }],
  ["allow", { allow: [1] }],
  ["listMaxAge", { listMaxAge: 0 }],
  ["localShare", { localShare: 0.5 }],
  ["outage", { outage: "maybe" }],
  ["limit", { limit: 5 }],
] as const)("misuse of %s is told", (argument, options) => {
  const make = () => holdfast().guard("g", { ...TWO, ...options } as unknown as GuardOptions);
  expect(make).toThrow(InvalidArgumentError);
  expect(make).toThrow(expect.objectContaining({ argument }));
});
