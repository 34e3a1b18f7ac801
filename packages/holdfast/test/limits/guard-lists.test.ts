/** The lists of a guard: whom they name, and how those that are loaded come, fail, hang and grow old. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { EmbeddedValkey } from "@holdfast/embedded";
import { type GuardOptions, Holdfast } from "holdfast";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";

let server: EmbeddedValkey;
let redis: Redis;
const opened: Holdfast[] = [];
const heard: [channel: string, message: unknown][] = [];
const CHANNEL = "holdfast:guard:list-failed";
const hear = (message: unknown, channel: string | symbol) => heard.push([String(channel), message]);

beforeAll(async () => {
  server = await EmbeddedValkey.start();
  redis = new Redis(server.url);
  subscribe(CHANNEL, hear);
});

afterAll(async () => {
  unsubscribe(CHANNEL, hear);
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

function holdfast(): Holdfast {
  const hf = new Holdfast(server.url, { callTimeoutMs: 2_000 });
  opened.push(hf);
  return hf;
}

const TWO: GuardOptions = { hits: 2, per: "1m", penalties: [{ kind: "postpone", forMs: "1m" }] };

async function scriptsRun(): Promise<number> {
  const stats = await redis.info("commandstats");
  const calls = ["eval", "evalsha"].map((name) =>
    Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(stats)?.[1] ?? 0),
  );
  return calls.reduce((sum, each) => sum + each, 0);
}

test("allow beats deny, neither is counted, and Redis hears of neither", async () => {
  const guard = holdfast().guard("g", {
    ...TWO,
    hits: 1,
    allow: ["boss"],
    deny: new Set(["boss", "mallory"]),
  });
  const before = await scriptsRun();
  for (let hit = 0; hit < 5; hit += 1)
    expect(await guard.hit("boss")).toMatchObject({ ok: true, source: "list", remaining: 1 });
  const denied = { ok: false, penalty: null, retryAfterMs: null, strikes: 0, remaining: 0, source: "list" };
  expect(await guard.hit("mallory")).toEqual(denied);
  expect(await guard.look("mallory")).toEqual(denied);
  expect(await scriptsRun()).toBe(before);
  expect(await guard.hit("other")).toMatchObject({ source: "redis" });
});

test("a list is loaded once however many ask, and again in the background when it is old", async () => {
  let loads = 0;
  let answer: (names: string[]) => void = () => {};
  const load = () => {
    loads += 1;
    return new Promise<string[]>((resolve) => {
      answer = resolve;
    });
  };
  const guard = holdfast().guard("g", { ...TWO, deny: load, listsMs: 30 });
  const first = [guard.hit("m"), guard.hit("m"), guard.hit("x")];
  await new Promise((resolve) => setTimeout(resolve, 20));
  answer(["m"]);
  expect((await Promise.all(first)).map(({ ok }) => ok)).toEqual([false, false, true]);
  expect(loads).toBe(1);
  await new Promise((resolve) => setTimeout(resolve, 40));
  expect((await Promise.all([guard.hit("m"), guard.hit("m")])).map(({ source }) => source)).toEqual([
    "list",
    "list",
  ]);
  expect(loads).toBe(2);
  answer([]);
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect((await guard.hit("m")).source).toBe("redis");
});

test("one that cannot be loaded is told, and is as it was; one that never comes is waited for once", async () => {
  const lists: (() => Promise<string[]>)[] = [
    async () => {
      throw new Error("no file");
    },
    async () => 5 as unknown as string[],
  ];
  for (const deny of lists) {
    expect(
      await holdfast()
        .guard("g", { ...TWO, deny })
        .hit("m"),
    ).toMatchObject({ ok: true });
  }
  expect(heard.map(([channel]) => channel)).toEqual(Array(2).fill("holdfast:guard:list-failed"));
  expect(heard[1]).toMatchObject([{}, { guard: "g", list: "deny", error: { argument: "deny" } }]);

  const guard = holdfast().guard("g", { ...TWO, allow: () => new Promise(() => {}), timeoutMs: 100 });
  const start = performance.now();
  for (let hit = 0; hit < 10; hit += 1) await guard.hit(`late-${hit}`);
  expect(performance.now() - start).toBeLessThan(900);
});

test("one whose load hangs is loaded again, and what comes late is taken unless there is a newer one", async () => {
  const answers: ((names: string[]) => void)[] = [];
  const deny = () => new Promise<string[]>((resolve) => answers.push(resolve));
  const guard = holdfast().guard("g", { ...TWO, hits: 99, deny, listsMs: 50, timeoutMs: 200 });
  expect(await guard.hit("m")).toMatchObject({ ok: true });
  expect(answers).toHaveLength(1); // which took longer than 50 ms
  expect(heard).toEqual([]);
  await guard.hit("m");
  await guard.hit("m");
  expect(answers).toHaveLength(2);
  const failed = { guard: "g", list: "deny", error: { message: expect.stringContaining("within 50 ms") } };
  expect(heard).toMatchObject([["holdfast:guard:list-failed", failed]]);
  answers[0]?.(["m"]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(await guard.hit("m")).toMatchObject({ ok: false, source: "list" });
  answers[1]?.(["x"]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(await guard.hit("x")).toMatchObject({ ok: false, source: "list" });
  expect(await guard.hit("m")).toMatchObject({ ok: true });
});

test("an older load that comes after a newer one changes nothing", async () => {
  const answers: ((names: string[]) => void)[] = [];
  const deny = () => new Promise<string[]>((resolve) => answers.push(resolve));
  const guard = holdfast().guard("g", { ...TWO, hits: 99, deny, listsMs: 200, timeoutMs: 20 });
  await guard.hit("m");
  await new Promise((resolve) => setTimeout(resolve, 210));
  await guard.hit("m");
  answers[1]?.(["new"]);
  answers[0]?.(["old"]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(await guard.hit("new")).toMatchObject({ source: "list" });
  expect(await guard.hit("old")).toMatchObject({ source: "redis" });
});

test("they are asked for another name as well, where there is one", async () => {
  const lists = { allow: ["2001:db8::a"], deny: ["2001:db8::/56", "2001:db8:1::b"] };
  const guard = holdfast().guard("g", { ...TWO, ...lists });
  const listedAs = (name: string) => ({ listedAs: name });
  expect(await guard.hit("2001:db8::/56", "", listedAs("2001:db8::a"))).toMatchObject({
    ok: true,
    source: "list",
  });
  expect(await guard.look("2001:db8::/56", "", listedAs("2001:db8::c"))).toMatchObject({
    ok: false,
    source: "list",
  });
  expect(await guard.hit("2001:db8:1::/56", "", listedAs("2001:db8:1::b"))).toMatchObject({
    ok: false,
    source: "list",
  });
  expect(await guard.hit("2001:db8:1::/56", "", listedAs("2001:db8:1::c"))).toMatchObject({
    source: "redis",
  });
  const misuse = guard.hit("s", "", { listedAs: 5 } as unknown as { listedAs: string });
  await expect(misuse).rejects.toMatchObject({ argument: "listedAs" });
});
