/** What is told of a server's clock, on a clock that the test moves. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { ManualClock } from "@holdfast/conformance";
import type { HoldfastEvents } from "holdfast";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ServerClock } from "../src/locks/backends/redis/server-clock.js";

const CHANNELS = ["holdfast:server:clock-jump", "holdfast:lock:token-ahead"] as const;
const TIMEOUT_MS = 1_000;
const START_US = 1_800_000_000_000_000;

let clock: ManualClock;
let server: ServerClock;
let told: HoldfastEvents[(typeof CHANNELS)[number]][];
const note = (message: unknown): void => void told.push(message as (typeof told)[number]);

beforeEach(() => {
  told = [];
  clock = new ManualClock();
  server = new ServerClock(clock, TIMEOUT_MS);
  for (const channel of CHANNELS) subscribe(channel, note);
});

afterEach(() => {
  for (const channel of CHANNELS) unsubscribe(channel, note);
});

const read = (ms: number): void => server.read(START_US + ms * 1_000, clock.now());
const granted = (ms: number): void => server.granted("name", BigInt(START_US + ms * 1_000));

test("a clock that goes as ours does is not told of, however slow the answers are", () => {
  read(0);
  clock.advance(60_000);
  read(61_999);
  clock.advance(60_000);
  read(120_001);
  expect(told).toEqual([]);
});

test.each([31_000, -3_600_000])("one that was set by %d ms is", (jumpMs) => {
  read(0);
  clock.advance(60_000);
  read(60_000 + jumpMs);
  clock.advance(10);
  read(60_010 + jumpMs);
  expect(told).toEqual([{ jumpMs }]);
});

test("what our own clocks do is not taken for the server's doing", () => {
  read(0);
  clock.stepWall(-600_000);
  read(0);
  clock.stepWall(3_600_000); // as after a suspension of our machine, in which the monotonic clock stands still
  read(0);
  clock.stepWall(60_000);
  read(60_000);
  expect(told).toEqual([]);
});

test("a token is ahead when the server's clock, as last read, has not come that far [H48]", () => {
  granted(5_000); // nothing is known yet
  read(0);
  server.read(0, clock.now()); // an answer that does not tell
  clock.advance(10_000);
  granted(10_999);
  expect(told).toEqual([]);
  granted(15_000);
  expect(told).toEqual([{ lock: "name", fence: BigInt(START_US + 15_000_000), aheadMs: 5_000 }]);
});

test("the clock at the arrival of a request is that of the fastest one of late", () => {
  const clock = new ManualClock();
  const server = new ServerClock(clock, 1_000);
  expect(server.arrivalUs(clock.now())).toBe(null);
  const sentAt = clock.now();
  // One that travelled for 40 ms, and one for 1 ms, to a server that is 5 s ahead.
  server.read((sentAt.monoMs + 5_040) * 1_000, sentAt);
  server.read((sentAt.monoMs + 5_001) * 1_000, sentAt);
  clock.advance(100);
  expect(server.arrivalUs(clock.now())).toBe((sentAt.monoMs + 5_101) * 1_000);
  // A measurement of long ago is given up, because clocks drift.
  for (let second = 0; second < 11; second++) {
    clock.advance(1_000);
    const now = clock.now();
    server.read((now.monoMs + 5_003) * 1_000, now);
  }
  expect(server.arrivalUs(clock.now())).toBe((clock.now().monoMs + 5_003) * 1_000);
});
