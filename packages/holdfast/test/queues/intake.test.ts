/** How an intake asks for messages: few requests, no place that Redis knows of too long, and nothing missed. */
import { describe, expect, test } from "vitest";
import type { HeldDelivery } from "../../src/deliveries/delivery.js";
import type { Given } from "../../src/deliveries/delivery-scripts.js";
import { ClosedError, IndeterminateError, ServerError } from "../../src/errors.js";
import { forever, loseAnswers, onEngine, open, parked, ready, until, untilIdle } from "./intake-lab.js";

onEngine();

const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n);
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A consumer whose handlers the test ends. */
function hold(process: ReturnType<typeof open>, concurrency: number) {
  const begun: HeldDelivery[] = [];
  const ends: (() => void)[] = [];
  const handler = (delivery: HeldDelivery): Promise<void> => {
    begun.push(delivery);
    return new Promise((resolve) => ends.push(resolve));
  };
  const consumer = process.intake.consume(handler, { concurrency });
  return { begun, consumer, end: (count = 1) => ends.splice(0, count).forEach((end) => void end()) };
}

describe("takes", () => {
  test("under load two are under way, each for half of the places", async () => {
    const here = open();
    await here.push(...numbers(100));
    const { begun, end } = hold(here, 8);
    await until(() => begun.length === 8);
    end(8);
    await until(() => begun.length === 16);
    expect(here.takes.slice(1, 3).map(({ want, acks }) => [want, acks.length])).toEqual([
      [4, 8],
      [4, 0],
    ]);
  });

  test("quick handlers have their messages fetched ahead; those return unseen when a handler turns slow", async () => {
    const [here, there] = [open(), open()];
    await there.push(...numbers(200));
    let seen = 0;
    let isSlow = false;
    const slow: (() => void)[] = [];
    const consumer = here.intake.consume(
      () => {
        seen += 1;
        isSlow ||= seen > 150;
        return isSlow ? new Promise<void>((resolve) => slow.push(resolve)) : Promise.resolve();
      },
      { concurrency: 4 },
    );
    await until(() => slow.length === 4);
    expect(here.sent.length).toBeLessThan(150 / 2);
    expect(await parked()).toBeGreaterThan(4);
    await until(async () => {
      here.clock.advance(20);
      return (await parked()) === 4;
    });
    const next = await there.intake.receive(forever);
    expect(next).toMatchObject({ attempt: 1, body: 154 });
    expect(consumer.running).toBe(4);
  });

  test("a message that has no place goes back after 0.1 s, and is no attempt", async () => {
    const [here, there] = [open(), open()];
    await ready(here);
    const { begun } = hold(here, 1);
    await untilIdle(1);
    await there.push("a");
    await until(() => begun.length === 1);
    // A gift that crosses a fetch.
    const { given } = await here.scripts.take({ seq: 1_000, acks: [], want: 0 });
    expect(given).toEqual([]);
    await there.push("b");
    const [gift] = (await here.scripts.take({ seq: 1_001, acks: [], want: 1 })).given;
    here.intake.message(gift?.handle ?? "", gift?.body ?? "");
    expect(begun).toHaveLength(1);
    here.clock.advance(100);
    const delivery = await there.intake.receive(forever);
    expect(delivery).toMatchObject({ body: "b", attempt: 1 });
  });

  test("a large body that is over when it is fetched leaves its place free", async () => {
    const [here, there] = [open(), open()];
    await ready(here);
    const { begun } = hold(here, 1);
    await untilIdle(1);
    here.doors.fetch = async () => [];
    await there.push("large ".repeat(4_000));
    await until(() => here.sent.includes("fetch"));
    await untilIdle(1);
    await there.push("b");
    await until(() => begun.length === 1);
    expect(begun[0]?.body).toBe("b");
  });

  test("what waits here begins in the order of the queue, whichever way it came", async () => {
    const here = open();
    await here.push(...numbers(3));
    const { given } = await here.scripts.take({ seq: 1_000, acks: [], want: 3 });
    const seen: unknown[] = [];
    let first: () => void = () => {};
    here.intake.consume(({ body }) => {
      seen.push(body);
      return seen.length === 1 ? new Promise<void>((resolve) => (first = resolve)) : Promise.resolve();
    }, {});
    for (const place of [1, 2, 0].map((n) => given[n]))
      here.intake.message(place?.handle ?? "", place?.body ?? "");
    await until(() => seen.length > 0);
    expect(seen).toEqual([1]);
    first();
    await until(() => seen.length === 3);
    expect(seen).toEqual([1, 0, 2]);
  });

  test("a place that Redis has forgotten is stated again with the next look", async () => {
    const [here, there] = [open(), open()];
    await ready(here);
    const waiting = here.intake.receive(forever);
    await untilIdle(1);
    await here.scripts.take({ seq: 1_000, acks: [], want: 0 });
    await there.push("a");
    await until(async () => {
      here.clock.advance(100);
      await pause(1);
      return here.takes.length > 1;
    });
    expect(await waiting).toMatchObject({ body: "a" });
  });

  test("a message of the inbox without a handle says: take now", async () => {
    const here = open();
    await ready(here);
    const waiting = here.intake.receive(forever);
    await untilIdle(1);
    const before = here.takes.length;
    here.intake.message();
    await until(() => here.takes.length > before);
    expect(await Promise.race([waiting, pause(5)])).toBeUndefined();
  });

  test("the same, while a take is under way that may have been carried out before", async () => {
    const here = open();
    await ready(here);
    let answer: () => void = () => {};
    here.doors.take = async (request) => {
      const taken = await here.scripts.take(request);
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      return taken;
    };
    const waiting = here.intake.receive(forever);
    await untilIdle(1);
    await until(() => here.takes.length === 1);
    await pause(5);
    Reflect.deleteProperty(here.doors, "take");
    here.intake.message();
    await here.scripts.parcels.leave();
    await open().push("a");
    answer();
    expect(await waiting).toMatchObject({ body: "a" });
  });

  test("garbage in the inbox is dropped", async () => {
    const here = open();
    const waiting = here.intake.receive(forever);
    await untilIdle(1);
    for (const [handle, body] of [["x"], ["1:2:3"], ["", ""], ["::::", "j1"]])
      here.intake.message(handle, body);
    await open().push("good");
    expect(await waiting).toMatchObject({ body: "good" });
  });
});

describe("without messages", () => {
  test("when the inbox is up again, lost gifts are fetched", async () => {
    const [here, there] = [open(), open()];
    await ready(here);
    const handled: unknown[] = [];
    here.intake.consume(({ body }) => void handled.push(body), { concurrency: 2 });
    await untilIdle(2);
    const [up, down] = breaker(here);
    down();
    await there.push("gift that is lost");
    await pause(20);
    expect(handled).toEqual([]);
    up();
    await until(() => handled.length === 1);
    await there.push("later");
    await until(() => handled.length === 2);
  });
});

test("while the inbox is down, takes become a poll", async () => {
  const [here, there] = [open(), open()];
  await here.context.subscriber.close();
  const waiting = here.intake.receive(forever);
  await until(() => here.takes.length === 1);
  await there.push("a");
  const timer = setInterval(() => here.clock.advance(100), 2);
  expect(await waiting).toMatchObject({ body: "a" });
  clearInterval(timer);
});

/** Messages of the inbox are dropped from `down` on; `up` says that it is up again. */
function breaker(process: ReturnType<typeof open>): [() => void, () => void] {
  const real = process.intake.message.bind(process.intake);
  return [
    () => {
      process.intake.message = real;
      process.intake.turned();
    },
    () => {
      process.intake.message = () => {};
    },
  ];
}

describe("pop", () => {
  const wait = { waitMs: Number.POSITIVE_INFINITY, signal: undefined };

  test("the message is settled before the caller has it", async () => {
    const here = open();
    const [id] = await here.push({ a: 1 });
    expect(await here.intake.pop(wait)).toEqual({ id, body: { a: 1 } });
    expect(await parked()).toBe(0);
    const waiting = here.intake.pop(wait);
    await untilIdle(1);
    await open().push("b");
    expect(await waiting).toMatchObject({ body: "b" });
    expect(await parked()).toBe(0);
    expect(await here.intake.pop({ ...wait, waitMs: 0 })).toBeNull();
  });

  test("it waits on where another process has the message", async () => {
    const [here, there] = [open(), open()];
    await ready(here);
    const waiting = here.intake.pop(wait);
    await untilIdle(1);
    // A gift of which somebody else has settled the delivery.
    await here.scripts.take({ seq: 1_000, acks: [], want: 0 });
    await there.push("a");
    const [lost] = (await there.scripts.take({ seq: 1_001, acks: [], want: 1 })).given;
    await there.scripts.take({ seq: 1_002, acks: [{ handle: lost?.handle ?? "" }], want: 0 });
    here.intake.message(lost?.handle ?? "", lost?.body ?? "");
    await untilIdle(1);
    await there.push("b");
    expect(await waiting).toMatchObject({ body: "b" });
  });

  test("IndeterminateError names the message whose settlement had no answer", async () => {
    const here = open();
    const waiting = here.intake.pop(wait);
    await untilIdle(1);
    loseAnswers(here, "take", 1_000);
    const [id] = await open().push("a");
    const timer = setInterval(() => here.clock.advance(100), 5);
    const error = await waiting.catch((one: unknown) => one);
    clearInterval(timer);
    expect(error).toBeInstanceOf(IndeterminateError);
    expect(String(error)).toContain(id);
  });

  test("an abort while the message is being settled comes too late", async () => {
    const here = open();
    await here.push("a");
    const stop = new AbortController();
    const waiting = here.intake.pop({ ...wait, signal: stop.signal });
    await until(() => here.takes.length === 2);
    stop.abort();
    expect(await waiting).toMatchObject({ body: "a" });
  });
});

describe("close", () => {
  test("in the middle of everything: each call ends, and no message stays with this process", async () => {
    const [here, there] = [open(), open()];
    await there.push(...numbers(50));
    let running = 0;
    const consumer = here.intake.consume(
      async () => {
        running += 1;
        await pause(1);
      },
      { concurrency: 5 },
    );
    const received = await here.intake.receive(forever);
    const waits = numbers(5).map(() => here.intake.receive(forever));
    const pops = numbers(5).map(() => here.intake.pop(forever));
    await until(() => running > 10);
    const stopped = consumer.stop();
    const acked = received?.ack();
    const outcomes = Promise.allSettled([...waits, ...pops]);
    await here.close();
    await Promise.all([stopped, consumer.done, acked]);
    for (const outcome of await outcomes)
      if (outcome.status === "rejected") expect(outcome.reason).toBeInstanceOf(ClosedError);
    expect(await parked()).toBe(0);
    const begun = running;
    await pause(10);
    expect(running).toBe(begun);
    expect(() => here.intake.consume(async () => {}, {})).toThrow(ClosedError);
  });

  test("it ends within four call time-outs although Redis does not answer, and a gift comes late", async () => {
    const timeoutMs = 250;
    const here = open({ callTimeoutMs: timeoutMs });
    await here.push("a", "b");
    const { begun, consumer, end } = hold(here, 2);
    await until(() => begun.length === 2);
    const unanswered = (): Promise<never> =>
      new Promise((_, reject) => here.clock.setTimer(() => reject(new IndeterminateError("")), timeoutMs));
    Object.assign(here.doors, { take: unanswered, back: unanswered, leave: unanswered, extend: unanswered });
    // The first acknowledgement is in doubt, and the second one waits behind it.
    end();
    await until(() => here.takes.length === 2);
    here.clock.advance(timeoutMs);
    let turns = 0;
    await until(() => turns++ > 1);
    end();
    await until(() => turns++ > 3);
    const sinceMs = here.clock.now().monoMs;
    const timer = setInterval(() => here.clock.advance(1), 0);
    const late = until(() => here.clock.now().monoMs - sinceMs > 3.5 * timeoutMs);
    await Promise.all([here.intake.close(), late.then(() => here.intake.message("9:9:1:p", "j1"))]);
    expect(here.clock.now().monoMs - sinceMs).toBeLessThanOrEqual(4 * timeoutMs + 2);
    await consumer.done;
    clearInterval(timer);
    here.context.inbox.close();
    await until(() => here.clock.pendingTimers === 0);
  });

  test("it ends although Redis refuses what goes back, and takes no gift afterwards", async () => {
    const here = open();
    await ready(here);
    await here.push("a");
    const { begun } = hold(here, 2);
    await until(() => begun.length === 1);
    here.doors.back = () => Promise.reject(new ServerError("NOPERM this user has no permissions"));
    await here.intake.close();
    here.intake.message("1:2:1:p", "j1");
    here.context.inbox.close();
    await until(() => here.clock.pendingTimers === 0);
  });

  test("an answer that comes after it is dropped", async () => {
    const [here, there] = [open({ callTimeoutMs: 1_000 }), open()];
    await ready(here);
    await there.push("a");
    const [gift] = (await here.scripts.take({ seq: 1_000, acks: [], want: 1 })).given;
    let answer: (given: readonly Given[]) => void = () => {};
    here.doors.leave = () =>
      new Promise((resolve) => {
        answer = resolve;
      });
    const waiting = here.intake.receive({ ...forever, waitMs: 500 });
    waiting.catch(() => {});
    await untilIdle(1);
    here.clock.advance(500);
    await until(() => here.sent.includes("leave"));
    const late = answer;
    here.doors.leave = async () => [];
    await here.intake.close();
    late([{ handle: gift?.handle ?? "", body: gift?.body ?? "" }]);
    here.context.inbox.close();
    await until(() => here.clock.pendingTimers === 0);
  });

  test("it ends a stop that is under way", async () => {
    const here = open();
    await here.push("a");
    const { begun, consumer } = hold(here, 1);
    await until(() => begun.length === 1);
    const stopped = consumer.stop({ grace: "1h" });
    await here.close();
    await Promise.all([stopped, consumer.done]);
    expect(await parked()).toBe(0);
    await until(() => here.clock.pendingTimers === 0);
  });
});
