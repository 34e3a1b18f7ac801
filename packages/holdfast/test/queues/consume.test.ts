/** Consumers over the engine itself: how many handlers run, how their outcomes are settled, and how consumers end. */
import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { describe, expect, onTestFinished, test } from "vitest";
import type { HeldDelivery } from "../../src/deliveries/delivery.js";
import { DeliveryLostError, OrderMismatchError, ServerError } from "../../src/errors.js";
import {
  answered,
  forever,
  loseAnswers,
  onEngine,
  open,
  type Process,
  parked,
  pause,
  until,
  untilIdle,
} from "./intake-lab.js";

onEngine();

/** A handler whose calls the test ends. */
class Hands {
  readonly begun: HeldDelivery[] = [];
  readonly #ends: ((outcome: unknown) => void)[] = [];
  most = 0;
  #running = 0;

  readonly handler = async (delivery: HeldDelivery): Promise<unknown> => {
    this.begun.push(delivery);
    this.#running += 1;
    this.most = Math.max(this.most, this.#running);
    try {
      return await new Promise((resolve) => this.#ends.push(resolve));
    } finally {
      this.#running -= 1;
    }
  };

  get bodies(): unknown[] {
    return this.begun.map(({ body }) => body);
  }

  /** Ends the oldest call that has not ended. */
  end(outcome?: unknown): void {
    this.#ends.shift()?.(outcome);
  }
}

function heard(channel: string): unknown[] {
  const events: unknown[] = [];
  const listener = (event: unknown): void => void events.push(event);
  subscribe(channel, listener);
  onTestFinished(() => void unsubscribe(channel, listener));
  return events;
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

/** Moves the time of a process until something happens, not much faster than that of the server. */
async function moving(process: Process, condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) {
    process.clock.advance(5);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

describe("handlers", () => {
  test("never more than `concurrency` at a time, and every message once", async () => {
    const [here, there] = [open(), open()];
    const seen: unknown[] = [];
    let [running, most] = [0, 0];
    const consumer = here.intake.consume(
      async ({ body }) => {
        running += 1;
        most = Math.max(most, running);
        await until(() => most === 4); // the first of them wait for each other
        for (let turn = 0; turn < (body as number) % 4; turn += 1) await pause();
        running -= 1;
        seen.push(body);
      },
      { concurrency: 4 },
    );
    for (let n = 0; n < 200; n += 10) await there.push(...numbers(10).map((one) => n + one));
    await until(() => seen.length === 200);
    await consumer.stop();
    expect(new Set(seen).size).toBe(200);
    expect(most).toBe(4);
    expect(await parked()).toBe(0);
  });

  test("with one place they begin in the order of the queue, pushed before or during", async () => {
    const [here, there] = [open(), open()];
    const seen: unknown[] = [];
    await there.push(...numbers(20));
    here.intake.consume(async ({ body }) => void seen.push(body), {});
    for (let n = 20; n < 100; n += 1) await there.push(n);
    await until(() => seen.length === 100);
    expect(seen).toEqual(numbers(100));
  });

  test("a burst costs few requests, a trickle one for each message", async () => {
    const [here, there] = [open(), open()];
    let seen = 0;
    await there.push(...numbers(400));
    const handler = async (): Promise<void> => {
      seen += 1;
    };
    here.intake.consume(handler, { concurrency: 16 });
    await until(() => seen === 400);
    expect(here.sent.length).toBeLessThan(400 / 5);
    await untilIdle(16);
    await answered(here);
    const before = here.sent.length;
    for (let n = 0; n < 20; n += 1) {
      await there.push(n);
      await until(async () => seen === 401 + n && (await parked()) === 0);
      await answered(here);
    }
    expect(here.sent.length - before).toBeLessThanOrEqual(21);
  });

  test("several consumers and receivers of a process share its places", async () => {
    const here = open();
    const [one, two] = [new Hands(), new Hands()];
    here.intake.consume(one.handler, { concurrency: 2 });
    here.intake.consume(two.handler, { concurrency: 1 });
    const waiting = here.intake.receive(forever);
    await untilIdle(4);
    await open().push(...numbers(6));
    const delivery = await waiting;
    expect(delivery?.body).toBe(0);
    await until(() => one.begun.length + two.begun.length === 3);
    expect([one.begun.length, two.begun.length]).toEqual([2, 1]);
    await delivery?.ack();
    one.end();
    await until(() => one.begun.length === 3);
    expect(one.bodies.at(-1)).toBe(4);
  });
});

describe("outcomes", () => {
  test("a result is stored; undefined stores none", async () => {
    const here = open();
    const done = heard("holdfast:queue:done");
    const hands = new Hands();
    here.intake.consume(hands.handler, { concurrency: 2 });
    const [a, b] = await here.push("a", "b");
    await until(() => hands.begun.length === 2);
    hands.end({ n: 1 });
    hands.end();
    await until(() => done.length === 2);
    expect(await here.scripts.result(a as string)).toMatch(/^done \d+ j{"n":1}$/);
    expect(await here.scripts.result(b as string)).toBeNull();
  });

  test.each([
    ["rejects", async () => Promise.reject(new Error("no luck"))],
    [
      "throws at once",
      () => {
        throw new Error("no luck");
      },
    ],
  ])(
    "a handler that %s: the message comes back after the backoff, and is a dead letter in the end",
    async (_, fail) => {
      const here = open({ maxAttempts: 2 });
      const failed = heard("holdfast:queue:failed") as { attempt: number; error: Error; isLast: boolean }[];
      const attempts: number[] = [];
      here.intake.consume(
        (delivery) => {
          attempts.push(delivery.attempt);
          return fail();
        },
        { backoff: (attempt) => attempt * 10 },
      );
      const [id] = await here.push("a");
      await moving(here, async () => (await here.scripts.result(id as string)) !== null);
      expect(await here.scripts.result(id as string)).toMatch(/^dead 2 /);
      expect(attempts).toEqual([1, 2]);
      expect(failed.map(({ isLast }) => isLast)).toEqual([false, true]);
    },
  );

  test.each([
    ["an object without a prototype", Object.create(null)],
    ["an object whose text throws", { toString: () => assert.fail("no text") }],
    ["undefined", undefined],
    ["an error whose message is no text", Object.assign(new Error("x"), { message: 42 })],
  ])("a handler that throws %s, at once or later: the message becomes a dead letter", async (_, thrown) => {
    const here = open({ maxAttempts: 2 });
    const handler = ({ attempt }: HeldDelivery): Promise<never> => {
      if (attempt === 1) throw thrown;
      return Promise.reject(thrown);
    };
    here.intake.consume(handler, { backoff: 0 });
    const [id = ""] = await here.push("a");
    await moving(here, async () => /^dead 2 ./.test((await here.scripts.result(id)) ?? ""));
  });

  test("a handler may settle its delivery by itself", async () => {
    const here = open();
    const seen: number[] = [];
    here.intake.consume(async (delivery) => {
      seen.push(delivery.attempt);
      if (delivery.attempt === 1) await delivery.nack();
      else await delivery.ack();
    }, {});
    await here.push("a");
    await moving(here, async () => seen.length === 2 && (await parked()) === 0);
    expect(seen).toEqual([1, 2]);
  });

  test("a late ack is an event, and the consumer goes on", async () => {
    const [here, there] = [open(), open()];
    const lost = heard("holdfast:queue:lost");
    const hands = new Hands();
    here.intake.consume(hands.handler, {});
    await untilIdle(1);
    const [id] = await there.push("a", "b");
    await until(() => hands.begun.length === 1);
    // As if its deadline had passed: somebody else settles it.
    await there.scripts.take({ seq: 1, acks: [{ handle: hands.begun[0]?.handle as string }], want: 0 });
    hands.end();
    await until(() => hands.begun.length === 2);
    await until(() => lost.length > 0);
    expect(lost).toMatchObject([{ id, reason: "taken" }]);
    expect(hands.bodies).toEqual(["a", "b"]);
  });

  test("a timeout aborts the signal and returns the message; it is not begun again before its handler has ended", async () => {
    const here = open();
    const hands = new Hands();
    const consumer = here.intake.consume(hands.handler, { timeout: "2s", backoff: 0 });
    await here.push("a", "b");
    await until(() => hands.begun.length === 1);
    const { signal } = hands.begun[0] as HeldDelivery;
    here.clock.advance(2_000);
    expect(signal.reason).toMatchObject({ code: "DELIVERY_LOST", reason: "timeout" });
    await until(async () => (await parked()) === 0);
    expect(hands.begun).toHaveLength(1);
    expect(consumer.running).toBe(1);
    hands.end("too late");
    await until(() => hands.begun.length === 2);
    expect(hands.begun[1]).toMatchObject({ body: "a", attempt: 2 });
  });
});

describe("stop", () => {
  test("waits for the handlers, stores their outcomes, and gives up the places", async () => {
    const here = open();
    const hands = new Hands();
    const consumer = here.intake.consume(hands.handler, { concurrency: 3 });
    await here.push("a", "b");
    await until(() => hands.begun.length === 2);
    let stopped = 0;
    const stops = [consumer.stop(), consumer.stop()].map((stop) =>
      stop.then(() => {
        stopped += 1;
      }),
    );
    await untilIdle(0);
    await here.push("c");
    hands.end();
    await until(async () => (await parked()) === 1);
    expect(stopped).toBe(0);
    hands.end();
    await Promise.all([...stops, consumer.done]);
    expect([await parked(), hands.begun.length]).toEqual([0, 2]);
    await consumer.stop();
  });

  test("after the grace signals abort and messages go back; the shortest grace counts", async () => {
    const here = open();
    const hands = new Hands();
    const consumer = here.intake.consume(hands.handler, {});
    await here.push("a");
    await until(() => hands.begun.length === 1);
    const { signal } = hands.begun[0] as HeldDelivery;
    const stops = [consumer.stop(), consumer.stop({ grace: "2s" }), consumer.stop({ grace: "1m" })];
    here.clock.advance(1_900);
    expect(signal.aborted).toBe(false);
    here.clock.advance(100);
    expect(signal.reason).toBeInstanceOf(DeliveryLostError);
    await Promise.all([...stops, consumer.done]);
    expect(await parked()).toBe(0);
    expect(consumer.running).toBe(1);
    const again = await open().intake.receive(forever);
    expect(again).toMatchObject({ body: "a", attempt: 1 });
  });

  test("an AbortSignal stops it, also one that has aborted before", async () => {
    const here = open();
    const stop = new AbortController();
    const consumer = here.intake.consume(async () => {}, { signal: stop.signal });
    await untilIdle(1);
    stop.abort();
    await consumer.done;
    await untilIdle(0);
    await here.intake.consume(async () => {}, { signal: stop.signal }).done;
  });

  test("close() returns what handlers have, and ends the consumer", async () => {
    const [here, there] = [open(), open()];
    const hands = new Hands();
    const consumer = here.intake.consume(hands.handler, { concurrency: 2 });
    await there.push("a", "b", "c");
    await until(() => hands.begun.length === 2);
    const { signal } = hands.begun[0] as HeldDelivery;
    await Promise.all([here.close(), consumer.done]);
    expect(signal.reason).toMatchObject({ code: "DELIVERY_LOST", reason: "closed" });
    hands.end();
    expect(await parked()).toBe(0);
    expect(await there.intake.receive(forever)).toMatchObject({ body: "a", attempt: 1 });
  });

  test("close() leaves no timer", async () => {
    const here = open();
    const hands = new Hands();
    here.intake.consume(hands.handler, { timeout: "1m" });
    await here.push("a", "b");
    await until(() => hands.begun.length === 1);
    await here.close();
    await until(() => here.clock.pendingTimers === 0);
  });
});

describe("errors of Redis", () => {
  test("lost answers do not end a consumer, and no message is handled twice", async () => {
    const [here, there] = [open(), open()];
    const seen: unknown[] = [];
    await there.push(...numbers(30));
    loseAnswers(here, "take", 3);
    here.intake.consume(async ({ body }) => void seen.push(body), { concurrency: 4 });
    await moving(here, () => seen.length >= 30);
    loseAnswers(here, "take", 2);
    await there.push(...numbers(30).map((n) => n + 30));
    await moving(here, async () => seen.length >= 60 && (await parked()) === 0);
    expect(seen.length).toBe(60);
    expect(new Set(seen).size).toBe(60);
  });

  test("a refusal that stays rejects `done` and receivers", async () => {
    await open({ order: "fifo" }).push("a");
    const here = open({ order: "lifo" });
    const consumer = here.intake.consume(async () => {}, {});
    const waiting = here.intake.receive(forever);
    await expect(consumer.done).rejects.toBeInstanceOf(OrderMismatchError);
    await expect(waiting).rejects.toBeInstanceOf(OrderMismatchError);
    await consumer.stop();
  });

  test("a settlement that is refused is an event; its message comes back at its deadline", async () => {
    const [here, there] = [open(), open()];
    const unsettled = heard("holdfast:queue:unsettled");
    const hands = new Hands();
    const consumer = here.intake.consume(hands.handler, {});
    const [id] = await there.push("a");
    await until(() => hands.begun.length === 1);
    const delivery = hands.begun[0] as HeldDelivery;
    here.doors.take = () => Promise.reject(new ServerError("NOPERM this user has no permissions"));
    const died = expect(consumer.done).rejects.toBeInstanceOf(ServerError);
    hands.end();
    await died;
    expect(unsettled).toMatchObject([{ id, error: { serverCode: "NOPERM" } }]);
    here.clock.advance(30_000);
    expect(delivery.isLive).toBe(false);
    expect(here.sent.filter((method) => method === "extend")).toHaveLength(1);
    await consumer.stop();
  });

  test("a consumer waits while the server lacks memory, and goes on", async () => {
    const [here, there] = [open(), open()];
    const seen: unknown[] = [];
    let refusals = 3;
    here.doors.take = (request) => {
      refusals -= 1;
      if (refusals < 0) return here.scripts.take(request);
      return Promise.reject(new ServerError("OOM command not allowed when used memory > 'maxmemory'."));
    };
    here.intake.consume(async ({ body }) => void seen.push(body), {});
    await there.push("a");
    await moving(here, async () => seen.length === 1 && (await parked()) === 0);
  });

  test("stop ends after its grace, although Redis refuses what goes back", async () => {
    const here = open({ callTimeoutMs: 1_000 });
    const hands = new Hands();
    const consumer = here.intake.consume(hands.handler, {});
    await here.push("a");
    await until(() => hands.begun.length === 1);
    here.doors.back = () => Promise.reject(new ServerError("MISCONF it cannot save"));
    const stopped = consumer.stop({ grace: 500 });
    await until(() => here.sent.includes("leave"));
    const before = here.clock.now().monoMs;
    await moving(here, () => Promise.race([stopped.then(() => true), pause().then(() => false)]));
    expect(here.clock.now().monoMs - before).toBeLessThan(2_600);
  });
});
