/** Events, between processes on the engine itself. Faults in virtual time are in the lab's swarm. */
import { ClosedError, InvalidArgumentError, ServerError } from "holdfast";
import { expect, test } from "vitest";
import { breakConnections, newProcess, onEngine, redis, untilListening } from "./place.js";

onEngine();

const KEY = "holdfast:{door}:event";

test("an event that was never used is not set", async () => {
  const event = newProcess().event("door");
  expect(await event.get()).toEqual({ isSet: false, version: 0n, data: undefined });
  expect(await event.wait({ wait: 0 })).toBeNull();
});

test("a set ends the waits of all processes, and later waits end at once", async () => {
  const [a, b, c] = [newProcess(), newProcess(), newProcess()];
  const waits = [a, b, b].map((hf) => hf.event("door").wait());
  await untilListening(KEY, 2);
  const { version } = await c.event("door").set({ by: "c" });
  expect(await Promise.all(waits)).toEqual(Array(3).fill({ version, data: { by: "c" } }));
  expect(await a.event("door").wait({ wait: 0 })).toEqual({ version, data: { by: "c" } });
  expect(await a.event("door").get()).toEqual({ isSet: true, version, data: { by: "c" } });
});

test("each set has a new version, and so has a clear that changes something", async () => {
  const event = newProcess().event("door");
  const first = await event.set();
  const second = await event.set();
  const third = await event.clear();
  expect(second.version).toBeGreaterThan(first.version);
  expect(third.version).toBeGreaterThan(second.version);
  expect(await event.clear()).toEqual(third);
  expect(await event.get()).toEqual({ isSet: false, version: third.version, data: undefined });
});

test("a full server lets an event be cleared and deleted", async () => {
  const event = newProcess().event("door");
  const { version } = await event.set("x");
  await redis.config("SET", "maxmemory", "1");
  try {
    await expect(event.set("y")).rejects.toMatchObject({ serverCode: "OOM" });
    expect((await event.clear()).version).toBeGreaterThan(version);
    expect(await event.get()).toMatchObject({ isSet: false });
    expect(await event.delete()).toBe(true);
  } finally {
    await redis.config("SET", "maxmemory", "0");
  }
});

test("a wait after a version ends with a set above it, also one that was cleared since", async () => {
  const event = newProcess().event("door");
  const { version } = await event.set(1);
  expect(await event.wait({ after: version, wait: 50 })).toBeNull();
  const second = await event.set(2);
  await event.clear();
  expect(await event.wait({ after: version, wait: 0 })).toEqual({ version: second.version, data: 2 });
  expect(await event.wait({ after: second.version, wait: 0 })).toBeNull();
});

test("a wait sees a set that is cleared at once, although the messages of both were lost [H30]", async () => {
  const [a, b] = [newProcess(), newProcess()];
  const wait = a.event("door").wait();
  await untilListening(KEY);
  await breakConnections();
  const { version } = await b.event("door").set();
  await b.event("door").clear();
  expect(await wait).toEqual({ version, data: undefined });
});

test("data may be bytes, and more than a message carries", async () => {
  const [a, b] = [newProcess(), newProcess()];
  const bytes = new Uint8Array(100_000).fill(7);
  const wait = a.event<Uint8Array>("door").wait();
  await untilListening(KEY);
  await b.event<Uint8Array>("door").set(bytes);
  expect((await wait)?.data).toEqual(bytes);
});

test("versions rise over a delete, and a deleted event is not set", async () => {
  const event = newProcess().event("door");
  const { version } = await event.set("x");
  expect(await event.delete()).toBe(true);
  expect(await event.delete()).toBe(false);
  const state = await event.get();
  expect(state).toEqual({ isSet: false, version: state.version, data: undefined });
  expect(state.version).toBeGreaterThan(version);
  expect(await redis.pttl(KEY)).toBeGreaterThan(0);
  // As if the server's clock had been set back by an hour.
  const ahead = String((await event.set()).version + 3_600_000_000n);
  await redis.hset(KEY, "version", ahead, "set", ahead);
  await event.delete();
  expect((await event.set()).version).toBeGreaterThan(BigInt(ahead));
});

test("a set is forgotten after `keep`, and its version is not", async () => {
  const event = newProcess().event("door", { keep: "1s" });
  const { version } = await event.set();
  expect(await redis.pttl(KEY)).toBeGreaterThan(86_400_000);
  await redis.hset(KEY, "ends", String(version - 1n));
  expect(await event.get()).toEqual({ isSet: false, version, data: undefined });
  expect(await event.wait({ after: 0n, wait: 0 })).toBeNull();
  expect((await event.clear()).version).toBe(version);
});

test("an event without `keep` is kept for ever, also when it had an end before", async () => {
  const hf = newProcess();
  await hf.event("door", { keep: "1s" }).set();
  await hf.event("door").set();
  expect(await redis.pttl(KEY)).toBe(-1);
});

test("the signal and close() end a wait", async () => {
  const hf = newProcess();
  const reason = new Error("enough");
  const aborter = new AbortController();
  const aborted = hf.event("door").wait({ signal: aborter.signal });
  const closed = hf.event("door").wait({ wait: Number.POSITIVE_INFINITY });
  aborter.abort(reason);
  await expect(aborted).rejects.toBe(reason);
  await hf.close();
  await expect(closed).rejects.toThrow(ClosedError);
  await expect(hf.event("door").set()).rejects.toThrow(ClosedError);
});

test("a key of another program is named in the error, whatever its type", async () => {
  const event = newProcess().event("door");
  await redis.set(KEY, "mine");
  for (const call of [() => event.set(), () => event.clear(), () => event.get(), () => event.delete()])
    await expect(call()).rejects.toThrow(/WRONGTYPE a key of the event 'door' \(holdfast:\{door\}:event\)/);
  await expect(event.wait()).rejects.toThrow(ServerError);
  await redis.del(KEY);
  await redis.hset(KEY, "field", "mine");
  await expect(event.set()).rejects.toThrow(/WRONGTYPE a key of the event 'door'/);
  expect(await redis.hgetall(KEY)).toEqual({ field: "mine" });
});

test("names may be hostile, and do not meet", async () => {
  const hf = newProcess();
  const names = ["a}:latch", "{a}", "a b\nc", "*", "a}:event:x", "ü\u{1f512}", "x".repeat(512)];
  for (const name of names) await hf.event(name).set(name);
  for (const name of names) expect((await hf.event(name).get()).data).toBe(name);
});

test("misuse is refused", async () => {
  const hf = newProcess();
  expect(() => hf.event("")).toThrow(InvalidArgumentError);
  expect(() => hf.event("x", { keep: 10 })).toThrow(/keep must be 1000/);
  // @ts-expect-error a misspelt option
  expect(() => hf.event("x", { kept: "1d" })).toThrow(/kept is not an option/);
  await expect(hf.event("x").wait({ after: 1 as never })).rejects.toThrow(/after must be a version/);
  await expect(hf.event("x").set(() => 1)).rejects.toThrow(/data must be JSON or bytes/);
});
