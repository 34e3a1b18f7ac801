/** What the limiter says and sends while Redis cannot be asked, and after close(). */
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ClosedError, IndeterminateError, ServerError, UnavailableError } from "../../src/errors.ts";
import { Engine } from "./engine.ts";
import { VirtualLimits } from "./virtual-limits.ts";

let engine: Engine;
let virtual: VirtualLimits;

beforeAll(async () => {
  engine = await Engine.start();
});

beforeEach(() => {
  engine.call("FLUSHALL");
  virtual = new VirtualLimits(engine);
});

const asked = (): string[] => virtual.port.calls.splice(0);

test("a settlement of which nothing was sent may be tried again", async () => {
  const limit = virtual.limit("n", { max: 9, per: "1h" });
  const reservation = await limit.reserve("ann", 5);
  virtual.port.trouble = "not connected";
  await expect(reservation.settle(0)).rejects.toBeInstanceOf(UnavailableError);
  virtual.port.trouble = null;
  await reservation.settle(0);
  expect((await limit.peek("ann")).remaining).toBe(9);
});

describe("away and closed", () => {
  test("nothing is sent while the client is not connected; then one PING, and on it goes", async () => {
    const limit = virtual.limit("n", { max: 9, per: "1h", outage: "closed", cache: false });
    await limit.take("ann");
    asked();
    virtual.port.trouble = "not connected";
    for (let call = 0; call < 20; call++) {
      expect((await limit.take("ann")).source).toBe("outage");
      await expect(limit.refund("ann")).rejects.toBeInstanceOf(UnavailableError);
      await expect(limit.set("ann", 1)).rejects.toBeInstanceOf(UnavailableError);
      await expect(limit.reset("ann")).rejects.toBeInstanceOf(UnavailableError);
      virtual.pass(150);
    }
    expect(asked()).toEqual([]);
    virtual.port.trouble = null;
    // Calls of one turn travel together, and wait together for the PING that finds out whether Redis is back.
    const told = await Promise.all([limit.take("ann"), limit.take("ann")]);
    expect(told.map(({ source }) => source)).toEqual(["redis", "redis"]);
    expect((await limit.take("ann")).source).toBe("redis");
    expect(asked()).toEqual(["PING", "take", "take"]);
  });

  test("one PING at a time, and not more than ten in a second", async () => {
    const limit = virtual.limit("n", { max: 9, per: "1h", outage: "open" });
    virtual.port.failure = () => new IndeterminateError("no answer");
    for (let call = 0; call < 1_000; call++) {
      await limit.take("ann");
      virtual.pass(1);
    }
    expect(asked().filter((what) => what === "PING").length).toBeLessThanOrEqual(11);
    await new Promise((resolve) => setImmediate(resolve));
    expect(virtual.timers).toBe(0);
  });

  test("whoever refuses a PING is there", async () => {
    const limit = virtual.limit("n", { max: 9, per: "1h" });
    virtual.port.failure = () => new IndeterminateError("no answer");
    await expect(limit.take("ann")).rejects.toBeInstanceOf(IndeterminateError);
    virtual.pass(200);
    virtual.port.failure = () => new ServerError("NOPERM no PING");
    await expect(limit.take("ann")).rejects.toBeInstanceOf(UnavailableError); // it sent the PING
    await expect(limit.take("ann")).rejects.toBeInstanceOf(ServerError);
    virtual.port.failure = null;
    expect((await limit.take("ann")).ok).toBe(true);
  });

  test.each(["LOADING is loading", "READONLY a replica", "OOM no memory", "MISCONF no disk", "CLUSTERDOWN"])(
    "a server that refuses is away as well: %s",
    async (words) => {
      const open = virtual.limit("n", { max: 9, per: "1h", outage: "open", cache: false });
      const strict = virtual.limit("n", { max: 9, per: "1h", cache: false });
      virtual.port.failure = () => new ServerError(words);
      expect(await open.take("ann")).toMatchObject({ ok: true, source: "outage" });
      await expect(strict.take("ann")).rejects.toBeInstanceOf(ServerError);
      virtual.port.failure = null;
      // It answers, so it is asked again by the next.
      expect(await open.take("ann")).toMatchObject({ ok: true, source: "redis" });
    },
  );

  test("who waits for less long says nothing about those who wait for longer", async () => {
    const hasty = virtual.limit("hasty", { max: 9, per: "1h", timeout: 5 });
    const patient = virtual.limit("patient", { max: 9, per: "1h", timeout: 5_000 });
    virtual.port.failure = () => new IndeterminateError("no answer within 5 ms");
    await expect(hasty.take("ann")).rejects.toBeInstanceOf(IndeterminateError);
    virtual.port.failure = null;
    expect((await patient.take("ann")).ok).toBe(true);
  });

  test("after close every call says so, and who called", async () => {
    const limit = virtual.limit("n", { max: 9, per: "1h", outage: "open" });
    await virtual.limiter.close();
    const calls = [
      () => limit.take("ann"),
      () => limit.peek("ann"),
      () => limit.refund("ann"),
      () => limit.reserve("ann"),
      () => limit.set("ann", 1),
      () => limit.reset("ann"),
      () => virtual.all([limit.of("ann")]).take(),
      () => virtual.all([limit.of("ann")]).refund(),
    ];
    for (const call of calls) {
      const error = await call().catch((thrown) => thrown);
      expect(error).toBeInstanceOf(ClosedError);
      expect(error.stack).toContain("limiter-outage.test");
    }
    expect(asked()).toEqual([]);
  });
});
