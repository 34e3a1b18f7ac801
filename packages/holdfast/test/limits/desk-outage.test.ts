/** What the desk says and sends while Redis cannot be asked, and after close(). */
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ClosedError, IndeterminateError, ServerError, UnavailableError } from "../../src/errors.ts";
import { Engine } from "./engine.ts";
import { Office } from "./office.ts";

let engine: Engine;
let office: Office;

beforeAll(async () => {
  engine = await Engine.start();
});

beforeEach(() => {
  engine.call("FLUSHALL");
  office = new Office(engine);
});

const asked = (): string[] => office.port.calls.splice(0);

test("a settlement of which nothing was sent may be tried again", async () => {
  const limit = office.limit("n", { max: 9, per: "1h" });
  const reservation = await limit.reserve("ann", 5);
  office.port.trouble = "not connected";
  await expect(reservation.settle(0)).rejects.toBeInstanceOf(UnavailableError);
  office.port.trouble = null;
  await reservation.settle(0);
  expect((await limit.peek("ann")).remaining).toBe(9);
});

describe("away and closed", () => {
  test("nothing is sent while the client is not connected; then one PING, and on it goes", async () => {
    const limit = office.limit("n", { max: 9, per: "1h", outage: "closed", cache: false });
    await limit.take("ann");
    asked();
    office.port.trouble = "not connected";
    for (let call = 0; call < 20; call++) {
      expect((await limit.take("ann")).source).toBe("outage");
      await expect(limit.refund("ann")).rejects.toBeInstanceOf(UnavailableError);
      await expect(limit.set("ann", 1)).rejects.toBeInstanceOf(UnavailableError);
      await expect(limit.reset("ann")).rejects.toBeInstanceOf(UnavailableError);
      office.pass(150);
    }
    expect(asked()).toEqual([]);
    office.port.trouble = null;
    // Calls of one turn travel together, and wait together for the PING that finds out whether Redis is back.
    const told = await Promise.all([limit.take("ann"), limit.take("ann")]);
    expect(told.map(({ source }) => source)).toEqual(["redis", "redis"]);
    expect((await limit.take("ann")).source).toBe("redis");
    expect(asked()).toEqual(["PING", "take", "take"]);
  });

  test("one PING at a time, and not more than ten in a second", async () => {
    const limit = office.limit("n", { max: 9, per: "1h", outage: "open" });
    office.port.failure = () => new IndeterminateError("no answer");
    for (let call = 0; call < 1_000; call++) {
      await limit.take("ann");
      office.pass(1);
    }
    expect(asked().filter((what) => what === "PING").length).toBeLessThanOrEqual(11);
    await new Promise((resolve) => setImmediate(resolve));
    expect(office.timers).toBe(0);
  });

  test("whoever refuses a PING is there", async () => {
    const limit = office.limit("n", { max: 9, per: "1h" });
    office.port.failure = () => new IndeterminateError("no answer");
    await expect(limit.take("ann")).rejects.toBeInstanceOf(IndeterminateError);
    office.pass(200);
    office.port.failure = () => new ServerError("NOPERM no PING");
    await expect(limit.take("ann")).rejects.toBeInstanceOf(UnavailableError); // it sent the PING
    await expect(limit.take("ann")).rejects.toBeInstanceOf(ServerError);
    office.port.failure = null;
    expect((await limit.take("ann")).ok).toBe(true);
  });

  test.each(["LOADING is loading", "READONLY a replica", "OOM no memory", "MISCONF no disk", "CLUSTERDOWN"])(
    "a server that refuses is away as well: %s",
    async (words) => {
      const open = office.limit("n", { max: 9, per: "1h", outage: "open", cache: false });
      const strict = office.limit("n", { max: 9, per: "1h", cache: false });
      office.port.failure = () => new ServerError(words);
      expect(await open.take("ann")).toMatchObject({ ok: true, source: "outage" });
      await expect(strict.take("ann")).rejects.toBeInstanceOf(ServerError);
      office.port.failure = null;
      // It answers, so it is asked again by the next.
      expect(await open.take("ann")).toMatchObject({ ok: true, source: "redis" });
    },
  );

  test("who waits for less long says nothing about those who wait for longer", async () => {
    const hasty = office.limit("hasty", { max: 9, per: "1h", timeout: 5 });
    const patient = office.limit("patient", { max: 9, per: "1h", timeout: 5_000 });
    office.port.failure = () => new IndeterminateError("no answer within 5 ms");
    await expect(hasty.take("ann")).rejects.toBeInstanceOf(IndeterminateError);
    office.port.failure = null;
    expect((await patient.take("ann")).ok).toBe(true);
  });

  test("after close every call says so, and who called", async () => {
    const limit = office.limit("n", { max: 9, per: "1h", outage: "open" });
    await office.desk.close();
    const calls = [
      () => limit.take("ann"),
      () => limit.peek("ann"),
      () => limit.refund("ann"),
      () => limit.reserve("ann"),
      () => limit.set("ann", 1),
      () => limit.reset("ann"),
      () => office.all([limit.of("ann")]).take(),
      () => office.all([limit.of("ann")]).refund(),
    ];
    for (const call of calls) {
      const error = await call().catch((thrown) => thrown);
      expect(error).toBeInstanceOf(ClosedError);
      expect(error.stack).toContain("desk-outage.test");
    }
    expect(asked()).toEqual([]);
  });
});
