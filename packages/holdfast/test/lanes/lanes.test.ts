/** hf.lanes: what a program sees of it, on the engine itself. */
import { ClosedError, type Duration, InvalidArgumentError, QueueFullError } from "holdfast";
import { describe, expect, test } from "vitest";
import { keysLeft, name, onEngine, open, until } from "./lanes-lab.js";

onEngine();

const soon = { wait: "1m" } as const;

describe("order", () => {
  test("within a lane one after the other, across lanes in parallel", async () => {
    const lanes = open().lanes<number>(name, {});
    const running = new Map<string, number>();
    const seen = new Map<string, number[]>();
    let most = 0;
    for (let number = 0; number < 5; number += 1)
      for (const lane of ["a", "b", "c"]) await lanes.push(lane, number);
    let done = 0;
    lanes.consume(
      async ({ lane, body }) => {
        expect(running.get(lane) ?? 0).toBe(0);
        running.set(lane, 1);
        seen.set(lane, [...(seen.get(lane) ?? []), body]);
        most = Math.max(most, [...running.values()].filter((count) => count > 0).length);
        await new Promise((resolve) => setTimeout(resolve, 2));
        running.set(lane, 0);
        done += 1;
      },
      { concurrency: 10 },
    );
    await until(() => done === 15);
    for (const lane of ["a", "b", "c"]) expect(seen.get(lane)).toEqual([0, 1, 2, 3, 4]);
    expect(most).toBe(3);
  });

  test("inFlight allows more of one lane", async () => {
    const lanes = open().lanes<number>(name, { inFlight: 2 });
    for (let number = 0; number < 3; number += 1) await lanes.push("a", number);
    const [first, second] = [await lanes.receive(soon), await lanes.receive(soon)];
    expect([first?.body, second?.body]).toEqual([0, 1]);
    expect(await lanes.receive({ wait: 50 })).toBeNull();
    await first?.ack();
    expect((await lanes.receive(soon))?.body).toBe(2);
  });

  test("a message that comes back is the next of its lane, under a larger token", async () => {
    const lanes = open().lanes<string>(name);
    const [ticket] = await lanes.pushMany([
      { lane: "a", body: "first" },
      { lane: "a", body: "second" },
    ]);
    const first = await lanes.receive(soon);
    await first?.nack();
    const again = await lanes.receive(soon);
    expect(again).toMatchObject({ id: ticket, lane: "a", body: "first", attempt: 2 });
    expect((again?.token ?? 0n) > (first?.token ?? 0n)).toBe(true);
  });

  test("lanes vanish when they are empty", async () => {
    const lanes = open().lanes(name);
    await lanes.push("a", 1);
    await (await lanes.receive(soon))?.ack();
    expect((await lanes.state()).lanes).toBe(0);
    expect((await keysLeft()).filter((key) => key.includes(":lane:") || key.endsWith(":rec"))).toEqual([]);
  });

  test.each(["a b", "{x}", "}", "50%", "a:b", "\u0000", "🎏", "x".repeat(512), "line\nline"])(
    "a hostile lane is a lane like any other: %j",
    async (lane) => {
      if (lane.startsWith("}")) return;
      const lanes = open().lanes<string, string>(name);
      const ticket = await lanes.push(lane, "body");
      expect(await lanes.peek(lane)).toEqual([{ ticket, body: "body" }]);
      expect((await lanes.lane(lane)).waiting).toBe(1);
      const delivery = await lanes.receive(soon);
      expect(delivery?.lane).toBe(lane);
      await delivery?.ack("done");
      expect(await lanes.result(ticket)).toMatchObject({ status: "done", result: "done" });
    },
  );
});

describe("failures", () => {
  const fail = async ({ body }: { body: string }) => {
    if (body === "bad") throw new Error("bad");
    return body;
  };

  test("park: the lane waits for a message that failed", async () => {
    const lanes = open().lanes<string, string>(name, { maxAttempts: 2 });
    const seen: string[] = [];
    await lanes.pushMany(["bad", "good"].map((body) => ({ lane: "a", body })));
    const ticket = await lanes.push("a", "last");
    lanes.consume(
      async (delivery) => {
        seen.push(`${delivery.body} ${delivery.attempt}`);
        return fail(delivery);
      },
      { backoff: 20 },
    );
    await lanes.result(ticket);
    expect(seen).toEqual(["bad 1", "bad 2", "good 1", "last 1"]);
    expect(await lanes.dead()).toMatchObject([{ lane: "a", body: "bad", attempts: 2, reason: "bad" }]);
  });

  test("skip: the lane goes on, and the message comes back", async () => {
    const lanes = open().lanes<string, string>(name, { whenFailed: "skip", maxAttempts: 2 });
    const seen: string[] = [];
    const [bad, good] = await lanes.pushMany(["bad", "good"].map((body) => ({ lane: "a", body })));
    const consume = (backoff: Duration) =>
      lanes.consume(
        async (delivery) => {
          seen.push(`${delivery.body} ${delivery.attempt}`);
          return fail(delivery);
        },
        { backoff },
      );
    const consumer = consume("1h");
    expect(await lanes.result(good as string, { wait: "1m" })).toMatchObject({ status: "done" });
    expect(seen).toEqual(["bad 1", "good 1"]);
    expect(await lanes.position(bad as string)).toMatchObject({ state: "waiting" });
    expect(await lanes.lane("a")).toMatchObject({ delayed: 1 });
    await consumer.stop();
    const next = await lanes.push("b", "bad");
    consume(1);
    expect(await lanes.result(next, { wait: "1m" })).toMatchObject({ status: "dead", attempts: 2 });
    expect(seen).toEqual(["bad 1", "good 1", "bad 1", "bad 2"]);
  });

  test("dead-letter: at once; and a redrive brings it back with its ticket", async () => {
    const lanes = open().lanes<string, string>(name, { whenFailed: "dead-letter" });
    const [bad, good] = await lanes.pushMany(["bad", "good"].map((body) => ({ lane: "a", body })));
    const consumer = lanes.consume(fail);
    expect(await lanes.result(good as string)).toMatchObject({ status: "done" });
    expect(await lanes.result(bad as string)).toMatchObject({ status: "dead", attempts: 1, reason: "bad" });
    await consumer.stop();
    expect(await lanes.dead()).toMatchObject([{ id: bad, lane: "a", body: "bad" }]);
    expect(await lanes.redrive([bad as string])).toBe(1);
    expect(await lanes.position(bad as string)).toMatchObject({ state: "waiting", position: 1 });
    const again = await lanes.receive(soon);
    expect(again?.id).toBe(bad);
    await again?.ack("mended");
    expect(await lanes.result(bad as string)).toMatchObject({ status: "done", result: "mended" });
  });
});

describe("by hand", () => {
  test("a paused lane delivers nothing until it is resumed, and so do all", async () => {
    const lanes = open().lanes<string>(name);
    await lanes.pause("a");
    await lanes.push("a", "1");
    await lanes.push("b", "2");
    expect((await lanes.receive(soon))?.lane).toBe("b");
    expect(await lanes.receive({ wait: 30 })).toBeNull();
    expect(await lanes.lane("a")).toMatchObject({ isPaused: true, waiting: 1 });
    const waiting = lanes.receive(soon);
    await lanes.resume("a");
    expect((await waiting)?.lane).toBe("a");
    await lanes.pause({ all: true });
    expect((await lanes.state()).isPaused).toBe(true);
    await lanes.push("c", "3");
    expect(await lanes.receive({ wait: 30 })).toBeNull();
    await lanes.resume({ all: true });
    expect((await lanes.receive(soon))?.lane).toBe("c");
  });

  test("a lane may have a limit of its own", async () => {
    const lanes = open().lanes<number>(name);
    await lanes.pushMany([1, 2, 3].map((body) => ({ lane: "a", body })));
    await lanes.limit("a", { inFlight: 2 });
    expect((await lanes.receive(soon))?.body).toBe(1);
    expect((await lanes.receive(soon))?.body).toBe(2);
    expect(await lanes.receive({ wait: 30 })).toBeNull();
    expect((await lanes.lane("a")).limit).toBe(2);
    await lanes.limit("a", null);
    expect((await lanes.lane("a")).limit).toBeNull();
    await expect(lanes.limit("a", { inFlight: 0 })).rejects.toBeInstanceOf(InvalidArgumentError);
  });

  test("drain deletes what waits, of one lane or of all", async () => {
    const lanes = open().lanes<number>(name);
    const [first] = await lanes.pushMany([1, 2, 3].map((body) => ({ lane: "a", body })));
    await lanes.push("b", 4);
    expect(await lanes.drain("a")).toBe(3);
    expect(await lanes.position(first as string)).toMatchObject({ state: "over" });
    expect(await lanes.drain({ all: true })).toBe(1);
    expect(await lanes.state()).toMatchObject({ waiting: 0, lanes: 0 });
  });

  test("list, state and the inspector show what there is", async () => {
    const hf = open();
    const lanes = hf.lanes<number>(name);
    await lanes.pushMany(["a", "b", "a"].map((lane, body) => ({ lane, body })));
    const listed = [];
    for await (const lane of lanes.list()) listed.push(`${lane.lane} ${lane.waiting}`);
    expect(listed.sort()).toEqual(["a 2", "b 1"]);
    const inspector = await hf.inspector();
    expect(await inspector.lanes(name)).toMatchObject({ name, waiting: 3, lanes: 2, inFlight: 0 });
    const names = [];
    for await (const one of inspector.lanesNames({ pattern: name })) names.push(one.name);
    expect(names).toEqual([name]);
    await lanes.reset();
    expect(await keysLeft()).toEqual([]);
  });
});

describe("bounds", () => {
  test("maxLength counts each lane; pushMany pushes all or none", async () => {
    const lanes = open().lanes<number>(name, { maxLength: 2 });
    await lanes.push("a", 1);
    const refused = lanes.pushMany([
      { lane: "b", body: 1 },
      { lane: "a", body: 2 },
      { lane: "a", body: 3 },
    ]);
    await expect(refused).rejects.toMatchObject({ code: "QUEUE_FULL", lane: "a", limit: 2, queue: name });
    expect((await lanes.state()).waiting).toBe(1);
    const outcomes = await Promise.allSettled([1, 2, 3].map((body) => lanes.push("a", body)));
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
    expect((outcomes[1] as PromiseRejectedResult).reason).toBeInstanceOf(QueueFullError);
  });

  test("bad arguments are refused before anything is sent", async () => {
    const lanes = open().lanes<unknown>(name, { maxBytes: 100 });
    const refused = [
      lanes.push("", 1),
      lanes.push("a", undefined),
      lanes.push("a", "x".repeat(100)),
      lanes.push(7 as unknown as string, 1),
      lanes.push("\ud800", 1),
      lanes.pushMany([{ lane: "a", body: 1, extra: 1 } as never]),
      lanes.pushMany("a" as never),
      lanes.peek("a", { count: 0 }),
      lanes.receive({ wait: -1 }),
      lanes.result("1764000000000000@a", { wait: "soon" as never }),
    ];
    for (const one of await Promise.allSettled(refused))
      expect(one).toMatchObject({ status: "rejected", reason: { code: "INVALID_ARGUMENT" } });
    expect(() => lanes.watch("1764000000000000@a", { every: 10 })).toThrow(InvalidArgumentError);
    expect(await keysLeft()).toEqual([]);
  });

  test.each([
    [{ inFlight: 0 }],
    [{ inFlight: 1.5 }],
    [{ whenFailed: "ignore" }],
    [{ limit: { max: 0, per: "1s" } }],
    [{ limit: { max: 1 } }],
    [{ order: "lifo" }],
    [{ deadline: 10 }],
  ])("refuses the options %j", (options) => {
    expect(() => open().lanes(name, options as never)).toThrow(InvalidArgumentError);
  });

  test("a program uses one set of options for a name", () => {
    const hf = open();
    hf.lanes(name, { inFlight: 2, limit: { max: 1, per: "1s" } });
    hf.lanes(name);
    hf.lanes(name, { inFlight: 2, limit: { max: 1, per: 1_000 } });
    expect(() => hf.lanes(name, { inFlight: 3 })).toThrow(
      /^inFlight of the lanes .* is 3 here, and 2 in an earlier hf.lanes\(\)/,
    );
    expect(() => hf.lanes(name, { deadline: "1m", inFlight: 2 })).toThrow(
      /^deadline .* is "1m" here, and 30000 ms in/,
    );
    expect(() => hf.lanes(name, { inFlight: 2 })).toThrow(/^limit .* is the default here, and another in/);
    hf.lanes(`${name}-plain`);
    expect(() => hf.lanes(`${name}-plain`, { inFlight: 1 })).toThrow(/first/);
  });

  test("a process without options goes by those of the others", async () => {
    const producer = open().lanes<number>(name);
    const consumer = open().lanes<number>(name, { inFlight: 2 });
    await consumer.push("a", 1);
    await producer.push("a", 2);
    expect([(await consumer.receive(soon))?.body, (await consumer.receive(soon))?.body]).toEqual([1, 2]);
  });

  test("a process without options has the deadline, the bound and the size of the others, from its first call", async () => {
    const giver = open().lanes(name, { deadline: "2m", maxLength: 2, maxBytes: 1_000 });
    await giver.push("a", 1);
    const taker = open().lanes(name);
    const [letter, large] = ["x".repeat(400), "x".repeat(1_001)];
    await expect(open().lanes(name).push("b", large)).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringContaining("at most 1000 bytes as it is stored, not 1004"),
    });
    const together = taker.pushMany([letter, large].map((body) => ({ lane: "b", body })));
    await expect(together).rejects.toThrow(/^messages\[1\].body must have at most 1000 bytes/);
    expect(await taker.peek("b")).toEqual([]);
    const delivery = await taker.receive(soon);
    expect(delivery?.remainingMs).toBeGreaterThan(100_000);
    await taker.push("a", letter);
    await expect(taker.push("a", letter)).rejects.toMatchObject({ code: "QUEUE_FULL", limit: 2 });
  });

  test("close() ends watches, waits and consumers; later calls are refused", async () => {
    const hf = open();
    const lanes = hf.lanes(name);
    const ticket = await lanes.push("a", 1);
    const watch = lanes.watch(ticket);
    await watch.next();
    const [next, result] = [watch.next(), lanes.result(ticket, { wait: "1m" })];
    const told = Promise.allSettled([next, result]);
    await hf.close();
    for (const one of await told)
      expect(one).toMatchObject({ status: "rejected", reason: expect.any(ClosedError) });
    await expect(lanes.push("a", 2)).rejects.toBeInstanceOf(ClosedError);
    await expect(lanes.position(ticket)).rejects.toBeInstanceOf(ClosedError);
    expect(() => hf.lanes(name)).toThrow(ClosedError);
  });
});
