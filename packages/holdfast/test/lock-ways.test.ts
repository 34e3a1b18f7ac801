/**
 * The quick ways of acquire and release beside their long ways: the same calls at the same moments, once with the scripts as they are
 * and once with the quick ways cut out. Same answers, same states, same ends. And what a contended cycle costs.
 */
import { beforeAll, beforeEach, expect, test } from "vitest";
import { script as acquire } from "../src/locks/backends/redis/lua/acquire.lua.ts";
import { script as acquireMany } from "../src/locks/backends/redis/lua/acquire-many.lua.ts";
import { script as heartbeat } from "../src/locks/backends/redis/lua/heartbeat.lua.ts";
import { script as release } from "../src/locks/backends/redis/lua/release.lua.ts";
import { lockKeys } from "../src/redis/keys.ts";
import { type Answer, Dice, Engine } from "./limits/engine.ts";

const SEEDS = 60;
const STEPS = 60;
const IDS = ["a", "b", "c", "d", "e"] as const;
const TTLS = ["1000", "1000", "1000", "30000"] as const;

let engine: Engine;
beforeAll(async () => {
  engine = await Engine.start();
});

beforeEach(() => {
  engine.call("FLUSHALL");
});

/** The source with a part of it in other words, which must be there. */
function changed(source: string, from: string, to: string): string {
  expect(source.split(from)).toHaveLength(2);
  return source.replace(from, to);
}

const quick = { ask: acquireMany.source, acquire: acquire.source, release: release.source };
const long: () => typeof quick = () => ({
  ask: changed(acquireMany.source, "if not KEYS[2] and common=='0' then", "if false then"),
  acquire: changed(acquire.source, "if wait and held and ticket=='0' and is_sound then", "if false then"),
  release: changed(release.source, "if mine=='+' .. id .. ' ' then", "if false then"),
});

interface Step {
  readonly what: "ask" | "acquire" | "wait" | "release" | "ban" | "heartbeat" | "evict" | "spoil";
  readonly id: string;
  readonly ttl: string;
  readonly turns: string;
  readonly minFence: string;
  readonly elsewhere: string;
  readonly key: number;
}

function stepFrom(dice: Dice): Step {
  const luck = dice.fraction();
  const what =
    luck < 0.1
      ? dice.pick(["ask", "acquire"] as const)
      : luck < 0.5
        ? "wait"
        : luck < 0.85
          ? "release"
          : luck < 0.9
            ? "ban"
            : luck < 0.97
              ? "heartbeat"
              : luck < 0.99
                ? "evict"
                : "spoil";
  return {
    what,
    id: dice.pick(IDS),
    ttl: dice.pick(TTLS),
    turns: "1", // the long way of a release keeps the last of several tokens for a millisecond more
    minFence: dice.pick(["0", "0", "0", "5"]),
    elsewhere: dice.pick(["1", "1", "0"]),
    key: dice.pick([0, 1, 2, 3]),
  };
}

/** Carries a step out on one of two locks, by one way of the scripts. */
function take(way: typeof quick, name: string, step: Step): Answer {
  const { what, id, ttl, turns, minFence, elsewhere, key } = step;
  const keys = lockKeys("t", name);
  const run = (source: string, ...args: string[]): Answer =>
    engine.call("EVAL", source, "4", ...keys, ...args);
  switch (what) {
    case "ask": {
      const px = String(Number(ttl) + 86_400_000);
      const words = [`86400000 ${ttl} {}`, turns, px, "0", id];
      return engine.call("EVAL", way.ask, "1", keys[0] as string, ...words);
    }
    case "acquire":
    case "wait":
      return run(
        way.acquire,
        id,
        ttl,
        turns,
        minFence,
        "{}",
        what === "wait" ? "1" : "0",
        "in",
        "1",
        "0",
        elsewhere,
      );
    case "release":
    case "ban":
      return run(way.release, id, what === "ban" ? "1500" : "0", elsewhere);
    case "heartbeat":
      return run(heartbeat.source, elsewhere, id, "2");
    case "evict":
      return engine.call("DEL", keys[key] as string);
    case "spoil":
      if (engine.call("HEXISTS", keys[2] as string, id) === 0) return null;
      return engine.call("HSET", keys[2] as string, id, "of another program");
  }
}

/** All that the server keeps of a lock. */
function stateOf(name: string): Answer[] {
  const [lock = "", line = "", waiters = "", banned = ""] = lockKeys("t", name);
  const entries = engine.call("HGETALL", waiters) as string[];
  return [
    engine.call("GET", lock),
    engine.call("ZRANGE", line, "0", "-1", "WITHSCORES"),
    entries.toSorted(),
    engine.call("ZRANGE", banned, "0", "-1", "WITHSCORES"),
    ...[lock, line, waiters, banned].map((key) => engine.call("PTTL", key)),
  ];
}

/**
 * The answer of the long way, made of that of the quick way. The quick way of a lone lock answers with the grant alone, and the
 * long way adds the server's clock. The quick way tells a waiter behind the first a lower bound of the holder's lease.
 */
function asLong(quickly: Answer, slowly: Answer): Answer {
  if (typeof quickly === "string" && Array.isArray(slowly)) return [quickly, slowly[1] ?? null];
  if (!Array.isArray(quickly) || !Array.isArray(slowly) || quickly[0] !== 2 || slowly[0] !== 2)
    return quickly;
  const [kind = 2, leftMs = 0, ...rest] = quickly;
  const isBound = Number(rest[1]) > 0 && Number(leftMs) > 0 && Number(leftMs) <= Number(slowly[1]);
  return [kind, isBound ? (slowly[1] ?? 0) : leftMs, ...rest];
}

test("the quick ways and the long ways say and write the same, whatever the state of the lock", () => {
  const slow = long();
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const dice = new Dice(seed);
    engine.call("FLUSHALL");
    for (let number = 0; number < STEPS; number += 1) {
      engine.trueUs += dice.pick([2_000, 2_000, 10_000, 333_333, 1_100_000]);
      const step = stepFrom(dice);
      const place = [seed, number, JSON.stringify(step)];
      const slowly = take(slow, "long", step);
      const quickly = asLong(take(quick, "short", step), slowly);
      expect([...place, quickly]).toEqual([...place, slowly]);
      expect([...place, stateOf("short")]).toEqual([...place, stateOf("long")]);
    }
  }
});

test("after the clock was set back, a newcomer still stands behind those that came before", () => {
  const step: Step = {
    what: "wait",
    id: "",
    ttl: "30000",
    turns: "1",
    minFence: "0",
    elsewhere: "1",
    key: 0,
  };
  const wait = (id: string): Answer => {
    engine.trueUs += 1_000;
    return take(quick, "it", { ...step, id });
  };
  for (const id of ["a", "b"]) wait(id);
  engine.valkey.clock.step(-3_600_000);
  try {
    wait("c");
    engine.trueUs += 1_000;
    expect(take(quick, "it", { ...step, id: "a", what: "release" })).toEqual([2, "b"]);
    wait("d");
    expect(engine.call("ZRANGE", lockKeys("t", "it")[1] as string, "0", "-1")).toEqual(["c", "d"]);
  } finally {
    engine.valkey.clock.step(3_600_000);
  }
});

/** The number of commands that a call runs inside its script. */
function costOf(call: () => Answer): number {
  const count = (): number =>
    Number(/total_commands_processed:(\d+)/.exec(String(engine.call("INFO", "stats")))?.[1]);
  const before = count();
  call();
  return count() - before - 2;
}

test("one of several that go through a line runs 15 commands for each turn", () => {
  const step: Step = {
    what: "wait",
    id: "",
    ttl: "30000",
    turns: "16",
    minFence: "0",
    elsewhere: "1",
    key: 0,
  };
  const wait = (id: string): Answer => take(quick, "it", { ...step, id });
  const release = (id: string): Answer => take(quick, "it", { ...step, id, what: "release" });
  for (const id of ["1", "2", "3"]) {
    engine.trueUs += 1_000;
    wait(id);
  }
  for (let turn = 1; turn <= 50; turn += 1) {
    engine.trueUs += 1_000;
    expect(costOf(() => release(String(turn)))).toBe(8);
    engine.trueUs += 1_000;
    expect(costOf(() => wait(String(turn + 3)))).toBe(7);
  }
});
