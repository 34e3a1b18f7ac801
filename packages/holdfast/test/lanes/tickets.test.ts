/** Tickets of hf.lanes: places, watches, outcomes and cancellation, on the engine itself. */
import { InvalidArgumentError } from "holdfast";
import { describe, expect, test } from "vitest";
import { name, onEngine, open, redis, until } from "./lanes-lab.js";

onEngine();

const soon = { wait: "1m" } as const;

describe("tickets", () => {
  test("a position is exact from the push to the end", async () => {
    const lanes = open().lanes<number>(name);
    const tickets: string[] = [];
    for (let number = 0; number < 4; number += 1) tickets.push(await lanes.push("a", number));
    const places = async () => {
      const all = await Promise.all(tickets.map((ticket) => lanes.position(ticket)));
      return all.map(({ state, position, ahead }) => `${state} ${position} ${ahead}`);
    };
    expect(await places()).toEqual(["waiting 1 0", "waiting 2 1", "waiting 3 2", "waiting 4 3"]);
    const first = await lanes.receive(soon);
    expect(await places()).toEqual(["running 0 0", "waiting 1 1", "waiting 2 2", "waiting 3 3"]);
    expect(await lanes.cancel(tickets[2] as string)).toBe(true);
    expect(await places()).toEqual(["running 0 0", "waiting 1 1", "over 0 0", "waiting 2 2"]);
    await first?.nack();
    expect(await places()).toEqual(["waiting 1 0", "waiting 2 1", "over 0 0", "waiting 3 2"]);
    await (await lanes.receive(soon))?.ack();
    expect(await places()).toEqual(["over 0 0", "waiting 1 0", "over 0 0", "waiting 2 1"]);
  });

  test("a watch tells the place, that it runs, and the outcome at once", async () => {
    const lanes = open().lanes<string, number>(name);
    await lanes.push("a", "before");
    const ticket = await lanes.push("a", "mine");
    const items: string[] = [];
    const watching = (async () => {
      // No look follows the first one in time: what comes later is told by a message.
      for await (const { state, position, outcome } of lanes.watch(ticket, { every: "1h" })) {
        items.push(outcome ? outcome.status : `${state} ${position}`);
      }
    })();
    await until(() => items.length === 1);
    await (await lanes.receive(soon))?.ack();
    await (await lanes.receive(soon))?.ack(42);
    await watching;
    // A subscription that came up later than the first look is followed by another one, which may see a step in between.
    const between = ["waiting 1", "running 0"];
    expect(items.filter((item) => !between.includes(item))).toEqual(["waiting 2", "done"]);
  });

  test("a watch sees each step where it looks often enough", async () => {
    const lanes = open().lanes<string>(name);
    await lanes.push("a", "before");
    const ticket = await lanes.push("a", "mine");
    const watch = lanes.watch(ticket, { every: 100 });
    const next = async (wanted: string) => {
      for (;;) {
        const { value, done } = await watch.next();
        if (done) return null;
        if (`${value.state} ${value.ahead}` === wanted) return value;
      }
    };
    expect(await next("waiting 1")).toMatchObject({ position: 2, etaMs: null });
    const before = await lanes.receive(soon);
    expect(await next("waiting 1")).toMatchObject({ position: 1 });
    await before?.ack();
    expect(await next("waiting 0")).toMatchObject({ position: 1 });
    const mine = await lanes.receive(soon);
    expect(await next("running 0")).toMatchObject({ position: 0, etaMs: 0 });
    await mine?.ack();
    expect(await next("over 0")).toMatchObject({ outcome: { status: "over" } });
    expect(await next("never")).toBeNull();
  });

  test("the estimate comes from the time between deliveries", async () => {
    const lanes = open().lanes<number>(name);
    const tickets: string[] = [];
    for (let number = 0; number < 6; number += 1) tickets.push(await lanes.push("a", number));
    const last = tickets[5] as string;
    expect((await lanes.position(last)).etaMs).toBeNull();
    for (let number = 0; number < 3; number += 1) {
      const delivery = await lanes.receive(soon);
      await new Promise((resolve) => setTimeout(resolve, 40));
      await delivery?.ack();
    }
    const { etaMs, position } = await lanes.position(last);
    expect(position).toBe(3);
    expect(etaMs).toBeGreaterThan(60);
    await lanes.pause("a");
    expect((await lanes.position(last)).etaMs).toBeNull();
  });

  test("a ticket is cancelled by any process, and its watch and its result say so", async () => {
    const [lanes, other] = [open().lanes(name), open().lanes(name)];
    const ticket = await lanes.push("a", 1);
    const result = lanes.result(ticket, { wait: "1m" });
    const items: unknown[] = [];
    const watching = (async () => {
      for await (const { outcome } of lanes.watch(ticket, { every: "1h" })) items.push(outcome?.status);
    })();
    await until(() => items.length === 1);
    expect(await other.cancel(ticket)).toBe(true);
    expect(await other.cancel(ticket)).toBe(true);
    await watching;
    expect(items).toEqual([undefined, "cancelled"]);
    expect(await result).toEqual({ status: "cancelled" });
    expect(await lanes.receive({ wait: 0 })).toBeNull();
  });

  test("what runs or is over cannot be cancelled", async () => {
    const lanes = open().lanes(name);
    const ticket = await lanes.push("a", 1);
    const delivery = await lanes.receive(soon);
    expect(await lanes.cancel(ticket)).toBe(false);
    await delivery?.ack();
    expect(await lanes.cancel(ticket)).toBe(false);
  });

  test("results: done, dead, none in time, and over where none is kept", async () => {
    const lanes = open().lanes<string, { total: number }>(name, { maxAttempts: 1 });
    const [done, dead, plain, waiting] = await lanes.pushMany(
      ["done", "dead", "plain", "waiting"].map((body) => ({ lane: body, body })),
    );
    const consumer = lanes.consume(
      async ({ body }) => {
        if (body === "dead") throw new Error("no such order");
        return body === "done" ? { total: 7 } : undefined;
      },
      { concurrency: 3 },
    );
    expect(await lanes.result(done as string)).toEqual({
      status: "done",
      result: { total: 7 },
      token: expect.any(BigInt),
    });
    expect(await lanes.result(dead as string)).toEqual({
      status: "dead",
      attempts: 1,
      reason: "no such order",
    });
    await until(async () => (await lanes.position(plain as string)).state === "over");
    expect(await lanes.result(plain as string, { wait: 0 })).toEqual({ status: "over" });
    await consumer.stop();
    const last = await lanes.push("later", "later");
    expect(await lanes.result(last, { wait: 0 })).toBeNull();
    expect(await lanes.result(last, { wait: 50 })).toBeNull();
    expect(waiting).toMatch(/^\d{16}@waiting$/);
  });

  test("a ticket of other lanes, of a lane that is gone, or from before a reset is over", async () => {
    const hf = open();
    const [lanes, others] = [hf.lanes(name), hf.lanes(`${name}-others`)];
    const alien = await others.push("a", 1);
    const mine = await lanes.push("a", 1);
    expect(await lanes.position(alien)).toMatchObject({ state: "over" });
    await lanes.reset();
    expect(await lanes.position(mine)).toMatchObject({ state: "over", position: 0, ahead: 0 });
    expect(await lanes.cancel(mine)).toBe(false);
    const next = await lanes.push("a", 1);
    expect(next > mine).toBe(true);
    expect(await lanes.position(next)).toMatchObject({ position: 1 });
  });

  test.each(["", "a", "1@", "@a", "1764000000000000@%61", "<script>", 7, null])(
    "%j is no ticket",
    async (ticket) => {
      const lanes = open().lanes(name);
      const text = ticket as string;
      const calls = [lanes.position(text), lanes.cancel(text), lanes.result(text)];
      for (const one of await Promise.allSettled(calls))
        expect(one).toMatchObject({ status: "rejected", reason: { code: "INVALID_ARGUMENT" } });
      expect(() => lanes.watch(ticket as string)).toThrow(InvalidArgumentError);
      await expect(lanes.redrive([ticket as string])).rejects.toBeInstanceOf(InvalidArgumentError);
    },
  );

  test("hundreds of positions and watches of one turn are few requests", async () => {
    const lanes = open().lanes<number>(name);
    const tickets = await lanes.pushMany(Array.from({ length: 500 }, (_, body) => ({ lane: "a", body })));
    const before = await callsOfScripts();
    const places = await Promise.all(tickets.map((ticket) => lanes.position(ticket)));
    expect(places.map(({ position }) => position)).toEqual(tickets.map((_, at) => at + 1));
    const watches = tickets.map((ticket) => lanes.watch(ticket, { every: "1h" }));
    await Promise.all(watches.map((watch) => watch.next()));
    expect((await callsOfScripts()) - before).toBeLessThanOrEqual(8);
    await Promise.all(watches.map((watch) => watch.return?.()));
  });
});

async function callsOfScripts(): Promise<number> {
  const stats = await redis.info("commandstats");
  const of = (command: string) => Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
  return of("evalsha") + of("eval");
}
