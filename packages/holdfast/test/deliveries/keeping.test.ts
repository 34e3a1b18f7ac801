/** Keeping deliveries, on a clock that the test moves and a server whose answers the test gives. */
import { ManualClock } from "@holdfast/conformance";
import { beforeEach, expect, test } from "vitest";
import { HeldDelivery } from "../../src/deliveries/delivery.js";
import { Keeping } from "../../src/deliveries/keeping.js";
import { DeliveryLostError, IndeterminateError, ServerError } from "../../src/errors.js";
import type { Instant } from "../../src/time/clock.js";
import { Schedule } from "../../src/time/schedule.js";

interface Extension {
  readonly numbers: string[];
  readonly leaseMs: number;
  answer(...over: string[]): Promise<void>;
  fail(): Promise<void>;
  refuse(): Promise<void>;
}

/** The first lease less 1 % and 2 ms. */
const FIRST_MS = 2_968;
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

let clock: ManualClock;
let extensions: Extension[];
let told: string[];
let keeping: Keeping;

beforeEach(() => {
  clock = new ManualClock();
  [extensions, told] = [[], []];
  const context = { schedule: new Schedule(clock), random: { fraction: () => 0, id: () => "id" } };
  keeping = new Keeping(
    context,
    { extend },
    {
      giveBack: ({ id }) => {
        told.push(`giveBack ${id}`);
      },
      unanswered: (delivery) => {
        told.push(`unanswered ${delivery.id}`);
        keeping.delete(delivery);
      },
      expired: ({ id }) => {
        told.push(`expired ${id}`);
      },
      troubled: () => {},
    },
  );
});

function extend(handles: readonly string[], leaseMs: number): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    extensions.push({
      numbers: handles.map((handle) => handle.split(":")[1] as string),
      leaseMs,
      answer: (...over) => {
        resolve(handles.filter((handle) => over.includes(handle.split(":")[1] as string)));
        return settled();
      },
      fail: () => {
        reject(new IndeterminateError("no answer"));
        return settled();
      },
      refuse: () => {
        reject(new ServerError("NOPERM"));
        return settled();
      },
    });
  });
}

interface Made {
  readonly keepMs?: number;
  readonly isKept?: boolean;
  readonly isGiven?: boolean;
  readonly inMs?: number;
  readonly sentAt?: Instant;
}

function keep(
  id: string,
  { keepMs = 30_000, isKept = true, isGiven = true, inMs, sentAt = clock.now() }: Made = {},
): HeldDelivery {
  const home = { name: "q", clock, settle: () => {}, extend: async () => {} };
  const delivery = new HeldDelivery(home, { handle: `9:${id}:1:p`, body: "j1" }, sentAt);
  Object.assign(delivery, { keepMs, isKept, isGiven, isTaken: isGiven });
  keeping.add(delivery, clock.now(), inMs);
  return delivery;
}

test("the first extension follows after 1 s, the others after each third of the deadline, all in one request", async () => {
  keep("1");
  clock.advance(50);
  const second = keep("2");
  clock.advance(900);
  expect(extensions).toHaveLength(0);
  clock.advance(50);
  expect(extensions).toMatchObject([{ numbers: ["1", "2"], leaseMs: 30_000 }]);
  await extensions[0]?.answer();
  expect(second.remainingMs).toBe(29_698);
  clock.advance(9_800);
  expect(extensions).toHaveLength(1);
  clock.advance(200);
  expect(extensions).toMatchObject([{}, { numbers: ["1", "2"] }]);
});

test("a delivery of receive() is extended once; each deadline has a request of its own", async () => {
  keep("1", { isKept: false, keepMs: 20_000 });
  keep("2");
  clock.advance(1_000);
  expect(extensions.map(({ numbers, leaseMs }) => [numbers, leaseMs])).toEqual([
    [["1"], 20_000],
    [["2"], 30_000],
  ]);
  for (const one of extensions) await one.answer();
  clock.advance(10_000);
  expect(extensions.slice(2).map(({ numbers }) => numbers)).toEqual([["2"]]);
});

test("a shorter deadline is kept from then on, whether or not the server answers", async () => {
  const delivery = keep("1");
  clock.advance(1_000);
  await extensions[0]?.answer();
  const extended = keeping.extendNow(delivery, 3_000);
  void extensions[1]?.fail();
  await expect(extended).rejects.toThrow(IndeterminateError);
  clock.advance(1_000);
  expect(extensions.slice(2)).toMatchObject([{ leaseMs: 3_000 }]);
});

test("a deadline that the server refuses to move stays", async () => {
  const delivery = keep("1");
  clock.advance(1_000);
  await extensions[0]?.answer();
  const extended = keeping.extendNow(delivery, 86_400_000);
  void extensions[1]?.refuse();
  await expect(extended).rejects.toThrow(ServerError);
  clock.advance(10_000);
  expect(extensions[2]?.leaseMs).toBe(30_000);
});

test("the signal aborts on time, without an answer; tries follow until then", async () => {
  const delivery = keep("1");
  const { signal } = delivery;
  clock.advance(1_000);
  await extensions[0]?.fail();
  clock.advance(1_000);
  expect(extensions).toHaveLength(2);
  clock.advance(FIRST_MS - 2_001);
  expect(signal.aborted).toBe(false);
  expect(delivery.isLive).toBe(true);
  clock.advance(1);
  expect(signal.reason).toBeInstanceOf(DeliveryLostError);
  expect(signal.reason).toMatchObject({ reason: "expired", queue: "q", id: "1", token: 9n });
  expect(told).toEqual(["expired 1"]);
  // It never comes back to life.
  await extensions[1]?.answer();
  expect([delivery.isLive, delivery.remainingMs, keeping.size]).toEqual([false, 0, 0]);
});

test("the server's refusal ends it at once", async () => {
  const [one, two] = [keep("1"), keep("2")];
  const { signal } = one;
  clock.advance(1_000);
  await extensions[0]?.answer("1");
  expect(signal.reason).toMatchObject({ reason: "taken" });
  expect([one.isLive, two.isLive, keeping.size]).toEqual([false, true, 1]);
});

test("an answer that comes late counts from when it was asked for", async () => {
  const delivery = keep("1");
  clock.advance(1_000);
  clock.stall(1_500);
  await extensions[0]?.answer();
  expect(delivery.remainingMs).toBe(29_698 - 1_500);
});

test("a suspended machine: its timers stood still, and the delivery ends at the next pulse", () => {
  const { signal } = keep("1");
  clock.stepWall(10_000);
  clock.advance(1_000);
  expect(signal.reason).toMatchObject({ reason: "expired" });
});

test("a stalled process notices the end when it is asked, before any timer", () => {
  const delivery = keep("1");
  clock.stall(5_000);
  expect(delivery.isLive).toBe(false);
  expect(delivery.signal.reason).toMatchObject({ reason: "expired" });
});

test("a delivery that nobody has begun with goes back after 1 s", () => {
  keep("1", { isGiven: false });
  clock.advance(1_000);
  expect(told).toEqual(["giveBack 1"]);
  expect(extensions).toHaveLength(0);
});

test("a settlement without an answer ends with its lease, and is not extended", () => {
  const delivery = keep("1");
  delivery.settle({ kind: "ack", result: undefined }, () => {});
  clock.advance(FIRST_MS - 1);
  expect(told).toEqual([]);
  clock.advance(1);
  expect(told).toEqual(["unanswered 1"]);
  expect(extensions).toHaveLength(0);
});

test("a delivery that came with a slow answer is extended before its first lease ends", async () => {
  const sentAt = clock.now();
  clock.advance(2_400);
  const delivery = keep("1", { sentAt });
  clock.advance(284);
  expect(extensions).toHaveLength(1);
  await extensions[0]?.answer();
  expect(delivery.remainingMs).toBe(29_698);
});

test("an uncertain delivery is confirmed at once", () => {
  keep("1", { inMs: 0 });
  clock.advance(0);
  expect(extensions).toMatchObject([{ numbers: ["1"] }]);
});

test("an abandoned delivery is extended no more", async () => {
  const delivery = keep("1");
  delivery.abandon();
  clock.advance(FIRST_MS);
  expect([extensions.length, delivery.isLive]).toEqual([0, false]);
});

test("ten thousand deliveries cost a few timers and requests", async () => {
  for (let n = 0; n < 10_000; n += 1) keep(`${n}`);
  expect(clock.pendingTimers).toBe(1);
  clock.advance(1_000);
  expect(extensions).toHaveLength(20);
  for (const one of extensions) await one.answer();
  expect(clock.pendingTimers).toBe(1);
  keeping.close();
  await settled();
  expect(clock.pendingTimers).toBe(0);
});
