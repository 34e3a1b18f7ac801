/** The lists of a guard: whom they name, and how those that are loaded come, fail, hang and grow old. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { ManualClock, UNHURRIED } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { type GuardOptions, Holdfast, type HoldfastOptions } from "holdfast";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { GuardLists } from "../../src/guards/guard-lists.js";
import { parseGuardOptions } from "../../src/guards/guard-settings.js";
import { Schedule } from "../../src/time/schedule.js";

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

function holdfast(options: HoldfastOptions = {}): Holdfast {
  const hf = new Holdfast(server.url, { ...UNHURRIED, ...options });
  opened.push(hf);
  return hf;
}

/** Some turns of the event loop, in which whatever can go on has done so. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

const TWO: GuardOptions = { hits: 2, per: "1m", penalties: [{ kind: "postpone", for: "1m" }] };

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
  const clock = new ManualClock();
  const guard = holdfast({ clock }).guard("g", { ...TWO, deny: load, listMaxAge: 30 });
  const first = [guard.hit("m"), guard.hit("m"), guard.hit("x")];
  await turns();
  answer(["m"]);
  expect((await Promise.all(first)).map(({ ok }) => ok)).toEqual([false, false, true]);
  expect(loads).toBe(1);
  clock.advance(40);
  expect((await Promise.all([guard.hit("m"), guard.hit("m")])).map(({ source }) => source)).toEqual([
    "list",
    "list",
  ]);
  expect(loads).toBe(2);
  answer([]);
  await turns();
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

  const clock = new ManualClock();
  const options = { ...TWO, allow: () => new Promise<string[]>(() => {}), timeout: 100 };
  const guard = holdfast({ clock }).guard("g", options);
  const first = guard.hit("late-0");
  await turns();
  clock.advance(100);
  await first;
  // The others end although no time goes on.
  for (let hit = 1; hit < 10; hit += 1) await guard.hit(`late-${hit}`);
});

describe("one whose load hangs", () => {
  /** In virtual time, and nobody waits. */
  function patient(listMaxAgeMs: number) {
    const answers: ((names: string[]) => void)[] = [];
    let monoMs = 0;
    const deny = () => new Promise<string[]>((resolve) => answers.push(resolve));
    const schedule = new Schedule({
      now: () => ({ monoMs, wallMs: monoMs }),
      setTimer: (ring) => {
        queueMicrotask(ring);
        return () => {};
      },
    });
    const lists = new GuardLists(
      schedule,
      parseGuardOptions("g", { ...TWO, deny, listMaxAge: listMaxAgeMs }),
    );
    const isDenied = async (name: string) => (await lists.say([name], 0)) === "deny";
    const answer = async (load: number, ...names: string[]) => {
      answers[load]?.(names);
      await new Promise((resolve) => setImmediate(resolve));
    };
    const pass = (ms: number) => {
      monoMs += ms;
    };
    return { answers, isDenied, answer, pass };
  }

  test.each([
    [50, 50],
    [60_000, 10_000],
  ])(
    "where it may be %d ms old is loaded again after %d ms, and both are told apart",
    async (listMaxAgeMs, timeoutMs) => {
      const { answers, isDenied, answer, pass } = patient(listMaxAgeMs);
      expect(await isDenied("m")).toBe(false);
      pass(timeoutMs - 1);
      expect(await isDenied("m")).toBe(false);
      expect([answers.length, heard]).toEqual([1, []]);
      pass(1);
      expect([await isDenied("m"), await isDenied("m")]).toEqual([false, false]);
      expect(answers).toHaveLength(2);
      const error = { message: expect.stringContaining(`within ${timeoutMs} ms`) };
      expect(heard).toMatchObject([[CHANNEL, { guard: "g", list: "deny", error }]]);
      await answer(0, "late");
      expect([await isDenied("late"), answers.length]).toEqual([true, 2]);
      await answer(1, "new");
      expect([await isDenied("late"), await isDenied("new")]).toEqual([false, true]);
      pass(listMaxAgeMs - 1);
      expect([await isDenied("new"), answers.length]).toEqual([true, 2]);
      pass(1);
      expect([await isDenied("new"), answers.length]).toEqual([true, 3]);
      expect(heard).toHaveLength(1);
    },
  );

  test("and that comes after a newer one changes nothing", async () => {
    const { isDenied, answer, pass } = patient(200);
    await isDenied("m");
    pass(200);
    await isDenied("m");
    await answer(1, "new");
    await answer(0, "old");
    expect([await isDenied("new"), await isDenied("old")]).toEqual([true, false]);
  });
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
