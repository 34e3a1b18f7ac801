/** States that callers wait for: which readings and messages reach them, over a subscription that the test plays. */
import { ManualClock } from "@holdfast/conformance";
import { beforeEach, expect, test } from "vitest";
import { ClosedError, type HoldfastError, IndeterminateError, ServerError } from "../../src/errors.js";
import { writeMessage } from "../../src/redis/message.js";
import type { Place } from "../../src/redis/place.js";
import type { MessageListener, RedisPort } from "../../src/redis/port.js";
import { Subscriber } from "../../src/redis/subscriber.js";
import { type StateSource, WatchedStates } from "../../src/redis/watched-state.js";
import { Watcher } from "../../src/redis/watcher.js";
import { Schedule } from "../../src/time/schedule.js";

interface Reading {
  resolve(state: number): void;
  reject(error: HoldfastError): void;
}

let clock: ManualClock;
let opened: MessageListener[];
let confirms: (() => void)[];
let readings: Reading[];
let states: WatchedStates<number>;
let watcher: Watcher;

const source: StateSource<number> = {
  channel: "c",
  read: () => new Promise((resolve, reject) => readings.push({ resolve, reject })),
  told: {
    parse: (text) => (text === "?" ? null : Number(text)),
    isLater: (state, known) => state > known,
  },
};
const above = (least: number) => (state: number) => (state > least ? { value: state } : null);
const forever = { waitMs: Number.POSITIVE_INFINITY, signal: undefined };
const place: Pick<Place, "isHere" | "listen"> = { isHere: (word) => word === "here", listen: () => () => {} };
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

beforeEach(() => {
  clock = new ManualClock();
  [opened, confirms, readings] = [[], [], []];
  const port: Pick<RedisPort, "openMessages" | "trouble"> = {
    trouble: null,
    openMessages(listener) {
      opened.push(listener);
      return {
        subscribe: () => new Promise((resolve) => confirms.push(resolve)),
        unsubscribe: async () => {},
        answers: async () => true,
        close() {},
      };
    },
  };
  const schedule = new Schedule(clock);
  watcher = new Watcher(new Subscriber(port, clock, 1_000), schedule, { fraction: () => 0, id: () => "id" });
  states = new WatchedStates({ watcher, schedule, place, port: { unavailable: () => null } });
});

async function subscribed(): Promise<void> {
  opened.at(-1)?.connected();
  for (const confirm of confirms.splice(0)) confirm();
  await settled();
}

async function read(state: number): Promise<void> {
  readings.shift()?.resolve(state);
  await settled();
}

const say = (text: string): void =>
  opened.at(-1)?.message({ kind: "channel", name: "c" }, writeMessage("here", text), "c");

test("what is there already needs no subscription", async () => {
  const wait = states.until(source, above(0), forever);
  await read(1);
  expect(await wait).toBe(1);
  expect(opened).toHaveLength(0);
});

test("a change between the first reading and the subscription is read when that is up", async () => {
  const wait = states.until(source, above(0), forever);
  await read(0);
  expect(readings).toHaveLength(0);
  await subscribed();
  await read(7);
  expect(await wait).toBe(7);
});

test("a message with the state ends the wait, one without it causes a reading", async () => {
  const waits = [states.until(source, above(0), forever), states.until(source, above(5), forever)];
  await read(0);
  await read(0);
  await subscribed();
  await read(0);
  say("3");
  expect(await waits[0]).toBe(3);
  say("?");
  await read(9);
  expect(await waits[1]).toBe(9);
});

test("a listener that joins gets nothing from before it came", async () => {
  const told: number[] = [];
  const listener = { state: (state: number) => told.push(state), troubled: () => {} };
  states.listen(source, { state: () => {}, troubled: () => {} });
  await subscribed();
  await read(5);
  states.listen(source, listener);
  say("6"); // it may have been sent before the listener came
  expect(told).toEqual([]);
  await read(8);
  expect(told).toEqual([8]);
});

test("a message that overtakes a reading is not undone by it; a reading alone may go back", async () => {
  const told: number[] = [];
  states.listen(source, { state: (state) => told.push(state), troubled: () => {} });
  await subscribed();
  await read(1);
  say("?");
  say("4");
  await read(2);
  expect(told).toEqual([1, 4, 4]);
  say("?");
  await read(0); // the server lost its data
  expect(told).toEqual([1, 4, 4, 0]);
});

test("after a break everything is read again, and while it lasts there is a poll", async () => {
  const wait = states.until(source, above(0), forever);
  await read(0);
  await subscribed();
  await read(0);
  opened[0]?.disconnected(null);
  clock.advance(501);
  await read(0);
  opened[0]?.connected();
  for (const confirm of confirms.splice(0)) confirm();
  await settled();
  await read(2);
  expect(await wait).toBe(2);
});

test("a wait that has not looked for a moment looks once more when its time is over", async () => {
  const waits = Array.from({ length: 3 }, () =>
    states.until(source, above(0), { waitMs: 1_000, signal: undefined }),
  );
  for (const _ of waits) await read(0);
  await subscribed();
  await read(0);
  clock.advance(1_001);
  expect(readings).toHaveLength(1); // for all of them
  await read(7);
  expect(await Promise.all(waits)).toEqual([7, 7, 7]);
  const unknown = states.until(source, above(7), { waitMs: 1_000, signal: undefined });
  await read(7);
  await subscribed();
  await read(7);
  clock.advance(1_001);
  readings.shift()?.reject(new IndeterminateError("no answer"));
  await expect(unknown).rejects.toThrow("no answer");
});

test("a wait that has just looked ends with its time, without another look", async () => {
  const wait = states.until(source, above(0), { waitMs: 1_000, signal: undefined });
  await read(0);
  await subscribed();
  await read(0);
  clock.advance(950);
  say("?");
  await read(0);
  clock.advance(51);
  expect(readings).toHaveLength(0);
  expect(await wait).toBeNull();
});

test("the time: null after a reading, else the last error, else the first reading decides", async () => {
  const [heard, troubled, silent] = [1, 2, 3].map(() =>
    states.until(source, above(0), { waitMs: 100, signal: undefined }),
  );
  readings.shift()?.resolve(0);
  readings.shift()?.reject(new IndeterminateError("no answer"));
  await settled();
  const failed = expect(troubled).rejects.toThrow("no answer");
  clock.advance(101);
  await failed;
  expect(await heard).toBeNull();
  readings.pop()?.resolve(0);
  expect(await silent).toBeNull();
});

test("a refusal that will not pass ends the wait at once; close() ends all, and leaves no timer", async () => {
  const refused = states.until(source, above(0), forever);
  readings.shift()?.reject(new ServerError("NOPERM not you"));
  await expect(refused).rejects.toThrow("NOPERM");
  const wait = states.until(source, above(0), forever);
  const stream = states.stream(source, String, Object.is);
  await read(0);
  states.close();
  await expect(wait).rejects.toThrow(ClosedError);
  await expect(stream.next()).rejects.toThrow(ClosedError);
  await expect(states.until(source, above(0), forever)).rejects.toThrow(ClosedError);
  watcher.close();
  await settled();
  expect(clock.pendingTimers).toBe(0);
});

test("a stream yields the newest state, each once", async () => {
  const controller = new AbortController();
  const stream = states.stream(source, (state) => `v${state}`, Object.is, controller.signal);
  await subscribed();
  await read(1);
  expect((await stream.next()).value).toBe("v1");
  for (const text of ["2", "3", "3"]) say(text);
  expect((await stream.next()).value).toBe("v3");
  const next = stream.next();
  controller.abort();
  expect((await next).done).toBe(true);
});

test("a reading that ends after everybody has left reads no more, and leaves no timer", async () => {
  const changing: StateSource<number> = { ...source, changesInMs: () => 50 };
  for (const outcome of ["read", "failed"] as const) {
    const stream = states.stream(changing, (state) => state, Object.is);
    await subscribed();
    await stream.return();
    const reading = readings.shift();
    if (outcome === "read") reading?.resolve(1);
    else reading?.reject(new IndeterminateError("no answer"));
    await settled();
    clock.advance(60_000);
    expect([outcome, readings.length, clock.pendingTimers]).toEqual([outcome, 0, 0]);
  }
});
