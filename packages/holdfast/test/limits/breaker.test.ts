/** While Redis is away nothing is sent that would wait in the client's own queue, whoever asks; and who finds it back tells the others. */
import { freePort } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { type GuardOptions, Holdfast } from "holdfast";
import { Redis } from "ioredis";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { IndeterminateError } from "../../src/errors.ts";
import { script as guardScript } from "../../src/guards/guard.lua.ts";
import { GuardEngine } from "../../src/guards/guard-engine.ts";
import { parseGuardOptions } from "../../src/guards/guard-settings.ts";
import { script as noteScript } from "../../src/limits/lua/note.lua.ts";
import { Schedule } from "../../src/time/schedule.ts";
import { Engine } from "./engine.ts";
import { VirtualLimits } from "./virtual-limits.ts";

const GUARD: GuardOptions = { hits: 1, per: "1m", penalties: [{ kind: "busy", for: "15s" }] };

describe("a port that says that it is not connected", () => {
  let engine: Engine;
  let virtual: VirtualLimits;
  let guards: GuardEngine;
  const settings = parseGuardOptions("g", GUARD);

  beforeAll(async () => {
    engine = await Engine.start();
    for (const { source } of [guardScript, noteScript]) engine.call("SCRIPT", "LOAD", source);
  });

  beforeEach(async () => {
    engine.call("FLUSHALL");
    virtual = new VirtualLimits(engine);
    const schedule = new Schedule({ now: () => ({ monoMs: 0, wallMs: 0 }), setTimer: () => () => {} });
    guards = new GuardEngine({
      breakerPort: virtual.breaker,
      schedule,
      prefix: "t",
      callTimeoutMs: 1_000,
    });
    await virtual.limit("n", { max: 3, per: "1h" }).take("ann");
    virtual.port.calls.length = 0;
  });

  test("is sent nothing by limits, guards and indexes, and all say so at once", async () => {
    const limit = virtual.limit("n", { max: 3, per: "1h" });
    const index = await virtual.limits.index("i");
    virtual.port.trouble = "not connected";
    const asked = [
      () => limit.take("ann"),
      () => limit.peek("ann"),
      () => limit.refund("ann"),
      () => limit.set("ann", 1),
      () => limit.reset("ann"),
      () => guards.hit(settings, "s", ""),
      () => guards.look(settings, "s", ""),
      () => guards.pardon(settings, "s"),
      () => index.note([limit.of("ann")]),
      () => index.reset({ all: true }),
    ];
    for (const ask of asked) await expect(ask()).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(virtual.port.calls).toEqual([]);
    virtual.port.trouble = null;
    await index.note([limit.of("ann")]);
    await index.reset({ all: true });
    await guards.pardon(settings, "s");
    expect(virtual.port.calls.slice(0, 2)).toEqual(["PING", expect.any(String)]);
  });

  test("what a limit learns of Redis a guard knows, and what an index learns", async () => {
    const limit = virtual.limit("n", { max: 3, per: "1h" });
    virtual.port.failure = () => new IndeterminateError("no answer");
    await expect((await virtual.limits.index("i")).reset({ all: true })).rejects.toMatchObject({
      code: "INDETERMINATE",
    });
    await expect(limit.take("ann")).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await expect(guards.hit(settings, "s", "")).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(virtual.port.calls).toEqual(["ZSCAN", "PING"]);
  });

  test("a refusal is an answer", async () => {
    const port = virtual.breaker;
    port.breaker.failed(new IndeterminateError("no answer"), 10);
    engine.call("SET", "text", "x");
    await expect(port.command(["LPOP", "text"], 1_000)).rejects.toMatchObject({ code: "SERVER_ERROR" });
    expect(port.breaker.check(5)).toBeNull();
  });
});

test("nothing of a burst waits in the client's queue until Redis is back: guards and indexes", async () => {
  const server = await EmbeddedValkey.start({ port: await freePort() });
  const client = new Redis(server.url, { retryStrategy: () => 20 });
  client.on("error", () => {});
  const hf = new Holdfast(client, { callTimeout: 500 });
  const [guard, limit] = [hf.guard("g", GUARD), hf.limit("l", { max: 3, per: "1h" })];
  const index = await hf.limits.index("i");
  await Promise.all([guard.hit("s"), limit.take("ann")]);
  const gone = new Promise((resolve) => client.once("close", resolve));
  await server.stop();
  await gone;
  const subjects = Array.from({ length: 50 }, (_, at) => `s${at}`);
  const asked = await Promise.allSettled(
    subjects.flatMap((subject) => [
      guard.pardon(subject),
      index.note([limit.of(subject)]),
      index.reset({ all: true }),
    ]),
  );
  const codes = asked.map((each) => (each.status === "rejected" ? each.reason.code : "fulfilled"));
  expect(new Set(codes)).toEqual(new Set(["UNAVAILABLE"]));
  expect((client as unknown as { offlineQueue: unknown[] }).offlineQueue).toHaveLength(0);
  await hf.close();
  client.disconnect();
});
