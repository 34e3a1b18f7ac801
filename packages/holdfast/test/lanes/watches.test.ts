/** Watches of tickets, over a source and a subscription that the test plays, in the time that the test sets. */
import { ManualClock } from "@holdfast/conformance";
import { beforeEach, expect, test } from "vitest";
import { ClosedError, IndeterminateError, ServerError } from "../../src/errors.js";
import type { PlaceFacts } from "../../src/lanes/place.js";
import { formatTicket, type Ticket } from "../../src/lanes/ticket.js";
import { type PlaceAndOutcome, Watches } from "../../src/lanes/watches.js";
import type { MessageListener, RedisPort } from "../../src/redis/port.js";
import { StateWaits } from "../../src/redis/state-waits.js";
import { Subscriber } from "../../src/redis/subscriber.js";
import { Schedule } from "../../src/time/schedule.js";

interface Call {
  readonly tickets: readonly Ticket[];
  resolve(places: readonly PlaceFacts[]): void;
  reject(error: Error): void;
}

let clock: ManualClock;
let calls: Call[];
let listener: MessageListener | null;
let subscribed: Set<string>;
/** What the server's confirmation of a subscription waits for. */
let confirmed: Promise<void> | null;
let waits: StateWaits;
let watches: Watches<string>;

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const ticket = (number: number, lane = "a"): Ticket => ({ lane, number });
const every = (everyMs = 1_000, signal?: AbortSignal) => ({ everyMs, signal });

function facts(
  position: number,
  state: PlaceFacts["state"] = "waiting",
  outcome: string | null = null,
): PlaceFacts {
  return { state, position, ahead: position, meanGapMs: null, sinceMs: null, parkedMs: 0, outcome };
}

beforeEach(() => {
  clock = new ManualClock();
  // The test before may have left a watch, whose next look is not one of this test.
  const [own, topics]: [Call[], Set<string>] = [[], new Set()];
  [calls, listener, subscribed] = [own, null, topics];
  confirmed = null;
  const port: Pick<RedisPort, "openMessages" | "trouble"> = {
    trouble: null,
    openMessages(opened) {
      listener = opened;
      queueMicrotask(() => opened.connected());
      return {
        subscribe: async ({ name }) => {
          if (confirmed) await confirmed;
          topics.add(name);
        },
        unsubscribe: async ({ name }) => void topics.delete(name),
        answers: async () => true,
        close() {},
      };
    },
  };
  const schedule = new Schedule(clock);
  waits = new StateWaits(schedule, {}, () => new ClosedError("closed"));
  watches = new Watches<string>(
    {
      subscriber: new Subscriber(port, clock, 1_000),
      schedule,
      inbox: { open() {}, rest() {} },
    },
    waits,
    {
      channelOf: formatTicket,
      places: (tickets) => new Promise((resolve, reject) => own.push({ tickets, resolve, reject })),
      outcomeOf: ({ state, outcome }) => outcome ?? state,
    },
  );
});

async function pass(ms: number): Promise<void> {
  clock.advance(ms);
  await settled();
}

async function answer(...places: PlaceFacts[]): Promise<void> {
  calls.shift()?.resolve(places);
  await settled();
}

async function say(to: Ticket): Promise<void> {
  const name = formatTicket(to);
  listener?.message({ kind: "channel", name }, "", name);
  await settled();
}

/** Reads on, and keeps what it reads. */
function read(stream: AsyncIterable<PlaceAndOutcome<string>>) {
  const items: PlaceAndOutcome<string>[] = [];
  const state = { items, done: false, error: null as unknown };
  void (async () => {
    try {
      for await (const item of stream) items.push(item);
      state.done = true;
    } catch (error) {
      state.error = error;
    }
  })();
  return state;
}

test("gives the present place at once, then what differs, and last the outcome", async () => {
  const reader = read(watches.stream(ticket(7), every()));
  await pass(0);
  await answer(facts(3));
  await pass(1_000);
  await answer(facts(3));
  await pass(1_000);
  await answer(facts(0, "running"));
  await pass(1_000);
  await answer(facts(0, "over", "done"));
  expect(reader.items.map(({ state, position }) => `${state} ${position}`)).toEqual([
    "waiting 3",
    "running 0",
    "over 0",
  ]);
  expect(reader.items.at(-1)?.outcome).toBe("done");
  expect(reader.done).toBe(true);
  await pass(10_000);
  expect(calls).toHaveLength(0);
});

test("looks at all tickets of one moment with one call, and at each ticket once", async () => {
  const readers = [ticket(1), ticket(2, "b"), ticket(1)].map((one) => read(watches.stream(one, every())));
  await pass(0);
  expect(calls.map(({ tickets }) => tickets.map(formatTicket))).toEqual([["1@a", "2@b"]]);
  await answer(facts(1), facts(2));
  expect(readers.map(({ items }) => items[0]?.position)).toEqual([1, 2, 1]);
});

test("watches that began at any time are looked at together from then on", async () => {
  for (let number = 1; number <= 9; number += 1) {
    read(watches.stream(ticket(number), every()));
    await pass(130);
    while (calls.length > 0) await answer(...(calls[0] as Call).tickets.map(({ number: at }) => facts(at)));
  }
  let counted = 0;
  for (let step = 0; step < 40; step += 1) {
    await pass(100);
    if (step < 20) {
      while (calls.length > 0) await answer(...(calls[0] as Call).tickets.map(({ number: at }) => facts(at)));
      continue;
    }
    for (const { tickets } of calls) expect(tickets).toHaveLength(9);
    counted += calls.length;
    while (calls.length > 0) await answer(...(calls[0] as Call).tickets.map(({ number: at }) => facts(at)));
  }
  expect(counted).toBe(2);
});

test("ten thousand watches take forty calls a tick, and none after they have ended", async () => {
  const streams = Array.from({ length: 10_000 }, (_, at) => watches.stream(ticket(at + 1), every()));
  for (let tick = 0; tick < 3; tick += 1) {
    for (let turn = 0; turn < 60; turn += 1) await pass(0.02);
    expect(calls).toHaveLength(40);
    expect(Math.max(...calls.map(({ tickets }) => tickets.length))).toBe(250);
    for (const call of calls.splice(0)) call.resolve(call.tickets.map(({ number }) => facts(number)));
    await settled();
    await pass(998.8);
  }
  await Promise.all(streams.map((stream) => stream.return()));
  await pass(5_000);
  calls.splice(0);
  await pass(5_000);
  expect(calls).toHaveLength(0);
});

test("a message causes a look, which ends the watch with the outcome", async () => {
  const reader = read(watches.stream(ticket(7), every()));
  await pass(0);
  await answer(facts(3));
  await say(ticket(7));
  await pass(0);
  await answer(facts(0, "over", "done"));
  expect(reader.items.at(-1)).toMatchObject({ state: "over", position: 0, outcome: "done" });
  expect(reader.done).toBe(true);
});

test("an outcome that comes before the first look is all there is", async () => {
  const reader = read(watches.stream(ticket(7), every()));
  await pass(0);
  await answer(facts(0, "over", "done"));
  expect(reader.items.map(({ outcome }) => outcome)).toEqual(["done"]);
  expect(reader.done).toBe(true);
});

test("an outcome that came after the first look and before the subscription is found when that is up", async () => {
  let confirm = (): void => {};
  confirmed = new Promise((resolve) => {
    confirm = resolve;
  });
  const outcome = watches.wait(ticket(7), { waitMs: 60_000, signal: undefined });
  await pass(0);
  await answer(facts(1));
  confirm();
  await settled();
  await pass(50);
  await answer(facts(0, "over", "done"));
  expect(await outcome).toBe("done");
});

test("a message during a look causes another one after it", async () => {
  const reader = read(watches.stream(ticket(7), every()));
  await pass(0);
  await say(ticket(7));
  await answer(facts(1));
  await pass(0);
  await answer(facts(0, "cancelled"));
  expect(reader.items.map(({ outcome }) => outcome)).toEqual([undefined, "cancelled"]);
});

test("says nothing while Redis does not answer, and goes on when it does", async () => {
  const reader = read(watches.stream(ticket(7), every()));
  await pass(0);
  await answer(facts(3));
  for (let times = 0; times < 5; times += 1) {
    await pass(1_500);
    calls.shift()?.reject(new IndeterminateError("no reply"));
    await settled();
  }
  expect(reader.items).toHaveLength(1);
  await pass(1_500);
  await answer(facts(2));
  expect(reader.items.map(({ position }) => position)).toEqual([3, 2]);
});

test("fails where the server refuses for good", async () => {
  const reader = read(watches.stream(ticket(7), every()));
  await pass(0);
  calls.shift()?.reject(new ServerError("NOPERM this user has no permissions"));
  await settled();
  expect(reader.error).toBeInstanceOf(ServerError);
  await pass(5_000);
  expect(calls).toHaveLength(0);
});

test("a slow reader gets the newest place, and the outcome", async () => {
  const stream = watches.stream(ticket(7), every());
  await pass(0);
  await answer(facts(9));
  await pass(1_000);
  await answer(facts(8));
  expect((await stream.next()).value).toMatchObject({ position: 8 });
  await pass(1_000);
  await answer(facts(7));
  await say(ticket(7));
  await pass(0);
  await answer(facts(0, "over", "done"));
  expect((await stream.next()).value).toMatchObject({ outcome: "done" });
  expect(await stream.next()).toEqual({ done: true, value: undefined });
});

test("a signal ends the stream, a reader that leaves ends the looks and the subscription", async () => {
  const controller = new AbortController();
  const reader = read(watches.stream(ticket(7), every(1_000, controller.signal)));
  const left = watches.stream(ticket(8), every());
  await pass(0);
  await answer(facts(1), facts(2));
  // The subscriptions are up, which causes another look.
  await pass(50);
  for (const { tickets, resolve } of calls.splice(0)) resolve(tickets.map(() => facts(1)));
  await settled();
  expect([...subscribed]).toEqual(["7@a", "8@a"]);
  controller.abort();
  await settled();
  expect(reader.done).toBe(true);
  await left.return();
  await pass(5_000);
  expect(calls).toHaveLength(0);
  const late = watches.stream(ticket(9), every(1_000, controller.signal));
  expect(await late.next()).toEqual({ done: true, value: undefined });
});

test("close() ends every watch with ClosedError, and every later one", async () => {
  const reader = read(watches.stream(ticket(7), every()));
  await pass(0);
  waits.close();
  await answer(facts(1));
  expect(reader.error).toBeInstanceOf(ClosedError);
  await expect(watches.stream(ticket(7), every()).next()).rejects.toBeInstanceOf(ClosedError);
  await pass(5_000);
  expect(calls).toHaveLength(0);
});

const wait = (waitMs: number, signal?: AbortSignal) => ({ waitMs, signal });

test("a wait resolves to the outcome, and to null where there is none in time", async () => {
  const outcome = watches.wait(ticket(7), wait(10_000));
  const none = watches.wait(ticket(8), wait(300));
  await pass(0);
  await answer(facts(1), facts(2));
  await pass(300);
  await pass(0);
  expect(calls.at(-1)?.tickets).toContainEqual(ticket(8)); // its last look
  for (const { tickets, resolve } of calls.splice(0)) resolve(tickets.map(() => facts(2)));
  expect(await none).toBeNull();
  await say(ticket(7));
  await pass(0);
  expect(calls.at(-1)?.tickets).toContainEqual(ticket(7));
  for (const { tickets, resolve } of calls.splice(0)) resolve(tickets.map(() => facts(0, "over", "done")));
  expect(await outcome).toBe("done");
  await pass(60_000);
  expect(calls).toHaveLength(0);
});

test("a wait of 0 looks once", async () => {
  const [there, none] = [watches.wait(ticket(7), wait(0)), watches.wait(ticket(8), wait(0))];
  await pass(0);
  await answer(facts(0, "over", "done"), facts(1));
  expect([await there, await none]).toEqual(["done", null]);
});

test("a wait during which no look succeeded rejects, and one refusal for good ends it", async () => {
  const lost = watches.wait(ticket(7), wait(2_000));
  const refused = watches.wait(ticket(8), wait(60_000));
  const told = Promise.allSettled([lost, refused]);
  await pass(0);
  calls.shift()?.reject(new IndeterminateError("no reply"));
  await settled();
  await pass(2_000);
  await pass(6_000);
  calls.shift()?.reject(new ServerError("NOPERM this user has no permissions"));
  expect((await told).map((one) => one.status === "rejected" && one.reason)).toEqual([
    expect.any(IndeterminateError),
    expect.any(ServerError),
  ]);
});

test("a wait ends by its signal and by close()", async () => {
  const controller = new AbortController();
  const aborted = watches.wait(ticket(7), wait(10_000, controller.signal));
  const closed = watches.wait(ticket(8), wait(10_000));
  const told = Promise.allSettled([aborted, closed]);
  controller.abort(new Error("mine"));
  waits.close();
  const late = watches.wait(ticket(9), wait(1));
  await expect(late).rejects.toBeInstanceOf(ClosedError);
  expect(await told).toEqual([
    { status: "rejected", reason: new Error("mine") },
    { status: "rejected", reason: expect.any(ClosedError) },
  ]);
});

test("a watch that wants places seldom is told of the state and of the end in time", async () => {
  const reader = read(watches.stream(ticket(7), every(3_600_000)));
  await pass(0);
  await answer(facts(9));
  for (const place of [facts(8), facts(7), facts(0, "running"), facts(0, "over", "done")]) {
    await pass(7_500);
    await answer(place);
  }
  expect(reader.items.map(({ position, state }) => `${state} ${position}`)).toEqual([
    "waiting 9",
    "running 0",
    "over 0",
  ]);
});
