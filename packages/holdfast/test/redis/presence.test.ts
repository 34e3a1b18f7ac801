/** Presence: when this process asks whether its inbox is where its requests go, and what follows from "it is not". */
import { ManualClock } from "@holdfast/conformance";
import { beforeEach, expect, test } from "vitest";
import { Presence } from "../../src/redis/presence.js";
import { Schedule } from "../../src/time/schedule.js";

let clock: ManualClock;
let listeners: unknown;
let asked: number;
let log: string[];
let needed: boolean;

beforeEach(() => {
  clock = new ManualClock();
  listeners = 1;
  asked = 0;
  log = [];
  needed = true;
});

function open(zeroListenersMeansGone = true): Presence {
  const port = {
    zeroListenersMeansGone,
    async command(words: readonly string[]) {
      asked += 1;
      if (listeners instanceof Error) throw listeners;
      return [words[2] ?? "", listeners as number];
    },
  };
  return new Presence({
    port,
    schedule: new Schedule(clock),
    callTimeoutMs: 1_000,
    channel: "inbox",
    isNeeded: () => needed,
    turned: (isHere) => log.push(isHere ? "here" : "elsewhere"),
    replace: () => log.push("replace"),
  });
}

async function pass(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 50) {
    clock.advance(Math.min(left, 50));
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

test("it asks once in two seconds, while the subscription is up", async () => {
  const presence = open();
  presence.up();
  await pass(10_000);
  expect([asked, log]).toEqual([5, ["here"]]);
  presence.down();
  await pass(10_000);
  expect(asked).toBe(5);
});

test("an inbox that is elsewhere is replaced, and counts again once the server knows it", async () => {
  const presence = open();
  presence.up();
  listeners = 0;
  await pass(2_000);
  expect(log).toEqual(["here", "elsewhere", "replace"]);
  presence.down();
  presence.up();
  expect(log).toHaveLength(3);
  // A balancer may lead elsewhere several times: the pause between two connections grows.
  const replaced: number[] = [];
  for (let sinceMs = 0; replaced.length < 8; sinceMs += 50) {
    await pass(50);
    if (log.length === 3) continue;
    expect(log.splice(3)).toEqual(["replace"]);
    replaced.push(sinceMs);
    presence.down();
    presence.up();
  }
  // Each found so a step later.
  const pauses = replaced.slice(1).map((ms, place) => ms - (replaced[place] ?? 0) - 50);
  expect(pauses).toEqual([200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
  listeners = 1;
  await pass(5_100);
  presence.down();
  presence.up();
  await pass(50);
  expect(log.slice(3)).toEqual(["replace", "here"]);
});

test("an answer that came over a break of the subscription says nothing of the next one", async () => {
  const presence = open();
  presence.up();
  await pass(1_950);
  listeners = 0;
  clock.advance(50);
  presence.down();
  presence.up();
  await pass(1_000);
  expect([asked, log]).toEqual([1, ["here", "here"]]);
  await pass(1_000);
  expect([asked, log.at(-1)]).toEqual([2, "replace"]);
});

test("whoever must not ask is taken to be where it should, and so is whoever listens at many servers", async () => {
  const denied = open();
  denied.up();
  listeners = new Error("NOPERM");
  await pass(4_000);
  expect([asked, log]).toEqual([2, ["here"]]);
  listeners = 0;
  const many = open(false);
  many.up();
  many.needed();
  denied.down();
  await pass(4_000);
  expect([asked, log]).toEqual([2, ["here", "here"]]);
});

test("while nobody waits it asks nothing, and no timer is left; the next who waits has it ask at once", async () => {
  const presence = open();
  presence.up();
  needed = false;
  presence.rest();
  await pass(50);
  expect([asked, clock.pendingTimers]).toEqual([0, 0]);
  await pass(10_000);
  [needed, listeners] = [true, 0];
  presence.needed();
  await pass(50);
  expect([asked, log]).toEqual([1, ["here", "elsewhere", "replace"]]);
  presence.down();
  presence.up();
  needed = false;
  await pass(1_000);
  expect([asked, clock.pendingTimers, log.length]).toEqual([2, 0, 3]);
  needed = true;
  presence.needed();
  await pass(50);
  expect(log.slice(3)).toEqual(["replace"]);
});

test("those who wait again and again, each for a moment, have it ask as well", async () => {
  const presence = open();
  presence.up();
  for (let turn = 0; turn < 200; turn += 1) {
    needed = true;
    presence.needed();
    clock.advance(20);
    needed = false;
    presence.rest();
    clock.advance(30);
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  expect(asked).toBe(4);
  expect(clock.pendingTimers).toBe(0);
});
