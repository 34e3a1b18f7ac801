/** Receiving from a queue, on the engine itself. */
import { describe, expect, test } from "vitest";
import type { HeldDelivery } from "../../src/deliveries/delivery.js";
import { ClosedError, IndeterminateError, ServerError } from "../../src/errors.js";
import {
  answered,
  forever,
  longestLeaseMs,
  loseAnswers,
  onEngine,
  open,
  parked,
  ready,
  until,
  untilIdle,
} from "./intake-lab.js";

onEngine();

describe("receive", () => {
  test("takes what waits, and what is pushed later, as a gift", async () => {
    const [here, there] = [open(), open()];
    const [first] = await there.push("a");
    const delivery = await here.intake.receive(forever);
    expect(delivery).toMatchObject({ id: first, body: "a", attempt: 1, isLive: true });
    await delivery?.ack();
    expect(await parked()).toBe(0);
    const waiting = here.intake.receive(forever);
    await untilIdle(1);
    const [second] = await there.push({ n: [1, " x  y "] });
    const gift = await waiting;
    expect(gift).toMatchObject({ id: second, body: { n: [1, " x  y "] } });
    expect((gift?.token ?? 0n) > (delivery?.token ?? 0n)).toBe(true);
    await gift?.ack("done");
    expect(await parked()).toBe(0);
  });

  test("many calls of one turn share a request, and each gets a message, in order", async () => {
    const here = open();
    await here.push(...Array.from({ length: 20 }, (_, n) => n));
    const deliveries = await Promise.all(Array.from({ length: 20 }, () => here.intake.receive(forever)));
    expect(deliveries.map((delivery) => delivery?.body)).toEqual(Array.from({ length: 20 }, (_, n) => n));
    expect(here.sent.filter((method) => method === "take")).toHaveLength(1);
    await Promise.all(deliveries.map((delivery) => delivery?.ack()));
    expect(here.sent.filter((method) => method === "take")).toHaveLength(2);
    expect(await parked()).toBe(0);
  });

  test("wait 0 looks once, and leaves no free place behind", async () => {
    const here = open();
    const once = { ...forever, waitMs: 0 };
    expect(await here.intake.receive(once)).toBeNull();
    await untilIdle(0);
    await here.push("a");
    expect(await here.intake.receive(once)).toMatchObject({ body: "a" });
  });

  test("wait 0 gets what was given to a wait that ended just before", async () => {
    const [here, there] = [open(), open()];
    await ready(here);
    const abort = new AbortController();
    const first = here.intake.receive({ ...forever, signal: abort.signal });
    await untilIdle(1);
    let isAnswered = false;
    here.doors.leave = async (isKnown) => {
      const found = await here.scripts.parcels.leave(isKnown);
      await until(() => isAnswered);
      return found;
    };
    // The gift is late.
    here.intake.message = () => {};
    await there.push("a");
    abort.abort(new Error("enough"));
    await expect(first).rejects.toThrow("enough");
    await until(() => here.sent.includes("leave"));
    const second = here.intake.receive({ ...forever, waitMs: 0 });
    await until(() => here.takes.length === 2);
    await answered(here);
    isAnswered = true;
    expect(await second).toMatchObject({ body: "a" });
  });

  test("null at the end of the wait, and the free place is given up", async () => {
    const here = open();
    const waiting = here.intake.receive({ ...forever, waitMs: 5_000 });
    await untilIdle(1);
    await answered(here);
    here.clock.advance(5_000);
    expect(await waiting).toBeNull();
    await untilIdle(0);
  });

  test("free places whose end had no answer are given up once more when the intake is to rest", async () => {
    const here = open();
    await ready(here);
    const waiting = here.intake.receive({ ...forever, waitMs: 500 });
    await untilIdle(1);
    await answered(here);
    expect(here.intake.mayRest()).toBe(false);
    here.doors.leave = () => Promise.reject(new IndeterminateError("no answer"));
    here.clock.advance(500);
    expect(await waiting).toBe(null);
    await untilIdle(1);
    Reflect.deleteProperty(here.doors, "leave");
    await until(() => {
      here.clock.advance(100);
      return here.intake.mayRest();
    });
    await untilIdle(0);
  });

  test("IndeterminateError where Redis did not answer during the wait", async () => {
    const here = open();
    loseAnswers(here, "take", 100);
    const waiting = here.intake.receive({ ...forever, waitMs: 5_000 });
    await until(() => here.sent.includes("take"));
    here.clock.advance(5_000);
    await expect(waiting).rejects.toBeInstanceOf(IndeterminateError);
  });

  test("an aborted signal ends it with its reason", async () => {
    const here = open();
    const stop = new AbortController();
    const waiting = here.intake.receive({ ...forever, signal: stop.signal });
    await untilIdle(1);
    const reason = new Error("enough");
    stop.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await untilIdle(0);
    await expect(here.intake.receive({ ...forever, signal: stop.signal })).rejects.toBe(reason);
  });

  test("close() ends it", async () => {
    const here = open();
    const waiting = here.intake.receive(forever);
    await untilIdle(1);
    const closed = here.close();
    await expect(waiting).rejects.toBeInstanceOf(ClosedError);
    await closed;
    await expect(here.intake.receive(forever)).rejects.toBeInstanceOf(ClosedError);
  });
});

describe("settling", () => {
  test("an ack whose answer is lost is sent again, and is not late", async () => {
    const here = open();
    await here.push("a");
    const delivery = await here.intake.receive(forever);
    loseAnswers(here, "take", 1);
    const acked = delivery?.ack("result");
    await until(() => here.takes.length === 2);
    // The copy follows after a pause.
    const timer = setInterval(() => here.clock.advance(50), 5);
    await acked;
    clearInterval(timer);
    expect(here.takes.slice(1).map(({ seq, acks, want }) => [seq, acks.length, want])).toEqual([
      [2, 1, 0],
      [2, 1, 0],
    ]);
    expect(await parked()).toBe(0);
  });

  test("an ack without any answer ends with the lease", async () => {
    const here = open();
    await here.push("a");
    const delivery = await here.intake.receive(forever);
    loseAnswers(here, "take", 10_000);
    const acked = delivery?.ack();
    acked?.catch(() => {});
    const timer = setInterval(() => here.clock.advance(500), 5);
    await expect(acked).rejects.toBeInstanceOf(IndeterminateError);
    clearInterval(timer);
  });

  test("a second ack has the outcome of the first; nothing else settles the delivery again", async () => {
    const here = open();
    await here.push("a");
    const delivery = await here.intake.receive(forever);
    await Promise.all([delivery?.ack(), delivery?.ack()]);
    await delivery?.ack();
    expect(delivery?.isLive).toBe(false);
    await expect(delivery?.nack()).rejects.toMatchObject({ code: "DELIVERY_LOST", reason: "settled" });
    await expect(delivery?.extend("10s")).rejects.toMatchObject({ code: "DELIVERY_LOST" });
    await delivery?.[Symbol.asyncDispose]();
    expect(delivery?.signal.aborted).toBe(false);
  });

  test("a result that is not JSON is refused, and the delivery can be settled", async () => {
    const here = open();
    await here.push("a");
    const delivery = await here.intake.receive(forever);
    await expect(delivery?.ack(new Map())).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await delivery?.ack({});
    expect(await parked()).toBe(0);
  });

  test("a delivery that is disposed of goes back, unless it is settled or lost", async () => {
    const [here, there] = [open(), open()];
    await here.push("a", "b");
    const first = await here.intake.receive(forever);
    await first?.[Symbol.asyncDispose]();
    const again = await here.intake.receive(forever);
    expect(again).toMatchObject({ body: "a", attempt: 2 });
    await there.scripts.take({ seq: 1, acks: [{ handle: again?.handle ?? "" }], want: 0 });
    await expect(again?.ack()).rejects.toMatchObject({ code: "DELIVERY_LOST", reason: "taken" });
    await again?.[Symbol.asyncDispose]();
    const last = await here.intake.receive(forever);
    await there.scripts.take({ seq: 2, acks: [{ handle: last?.handle ?? "" }], want: 0 });
    await last?.[Symbol.asyncDispose]();
    expect(await parked()).toBe(0);
  });

  test("a delivery has its whole deadline before anybody sees it", async () => {
    const here = open();
    await here.push("a", "b");
    const delivery = await here.intake.receive({ ...forever, deadlineMs: 60_000 });
    expect(delivery?.remainingMs).toBeGreaterThan(59_000);
    expect(await longestLeaseMs()).toBeGreaterThan(55_000);
    const left: number[] = [];
    here.intake.consume(async ({ remainingMs }) => void left.push(remainingMs), {});
    await until(() => left.length > 0);
    expect(left[0]).toBeGreaterThan(29_000);
  });

  test("extend() moves the deadline", async () => {
    const here = open();
    await here.push("a");
    const delivery = await here.intake.receive(forever);
    const extended = delivery?.extend("2m");
    here.clock.advance(1_000);
    await extended;
    expect(here.sent.filter((method) => method === "extend")).toHaveLength(2);
    expect(delivery?.remainingMs).toBeGreaterThan(117_000);
    expect(await longestLeaseMs()).toBeGreaterThan(110_000);
    await expect(delivery?.extend(10)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  test("a shorter extend() without an answer counts, and one that was refused does not", async () => {
    const here = open();
    await here.push("a");
    const delivery = (await here.intake.receive(forever)) as HeldDelivery;
    here.doors.extend = async () => {
      throw new ServerError("NOPERM no");
    };
    await expect(delivery.extend("2s")).rejects.toMatchObject({ code: "SERVER_ERROR" });
    expect(delivery.remainingMs).toBeGreaterThan(25_000);
    here.doors.extend = async () => {
      throw new IndeterminateError("the test lost the answer");
    };
    await expect(delivery.extend("20s")).rejects.toMatchObject({ code: "INDETERMINATE" });
    await expect(delivery.extend("2s")).rejects.toMatchObject({ code: "INDETERMINATE" });
    const { signal } = delivery;
    here.clock.advance(2_000);
    expect(signal.reason).toMatchObject({ reason: "expired" });
  });
});
