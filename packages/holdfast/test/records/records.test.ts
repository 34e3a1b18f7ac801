/** hf.records: many records at once, in one round trip, each with its outcome. */
import { FaultProxy, ManualClock } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { ConflictError, Holdfast, StaleTokenError } from "../../src/index.js";

let server: EmbeddedValkey;
let proxy: FaultProxy;
let redis: Redis;
let hf: Holdfast;

beforeAll(async () => {
  server = await EmbeddedValkey.start();
  proxy = await FaultProxy.start({ host: "127.0.0.1", port: server.port });
  redis = new Redis(proxy.port);
});
afterAll(async () => {
  redis.disconnect();
  await proxy.close();
  await server.stop();
});
beforeEach(async () => {
  await redis.flushall();
  // Its clock stands still: as time goes on, it would read the place again, which is a request that no test has counted.
  hf = new Holdfast(redis, { clock: new ManualClock() });
});
afterEach(async () => {
  await hf.close();
});

const holder = (fence: bigint) => ({ fence, id: "a" });
const ok = { ok: true, version: expect.any(BigInt) };

test("writes and reads many in one round trip, in the order of the call", async () => {
  const names = Array.from({ length: 1_000 }, (_, at) => `r${at}`);
  for (const value of [0, 1]) await hf.record("first").put(value); // the script is loaded, and the place is read
  await redis.ping();
  const results = await inOneRoundTrip(20, () =>
    hf.records.putMany(names.map((name, at) => ({ name, value: at }))),
  );
  expect(results.every(({ ok }) => ok)).toBe(true);
  const outcomes = await inOneRoundTrip(1_001, () => hf.records.getMany<number>([...names, "none"]));
  expect(outcomes.map((outcome) => outcome.ok && (outcome.state?.value ?? null))).toEqual([
    ...names.map((_, at) => at),
    null,
  ]);
  const together = names.map((name) => ({ name, tag: "t", value: name }));
  expect(await inOneRoundTrip(1, () => hf.records.putMany(together))).toEqual(names.map(() => ok));
});

/** The call, all requests of which arrive at the server before the first answer comes back. */
async function inOneRoundTrip<Value>(requests: number, call: () => Promise<Value>): Promise<Value> {
  proxy.forget();
  proxy.set({ down: "hold" });
  const outcome = call();
  await proxy.when("all requests have come", () => proxy.requests.length === requests);
  proxy.heal();
  const value = await outcome;
  expect(proxy.requests).toHaveLength(requests);
  return value;
}

test("each entry has an outcome of its own", async () => {
  await hf.record("taken").put("there", { fence: holder(5n) });
  await redis.set("holdfast:{alien}:record:alien", "x");
  const results = await hf.records.putMany([
    { name: "new", value: 1, version: 0n },
    { name: "taken", value: 2, version: 0n },
    { name: "alien", value: 3 },
    { name: "kept", value: new Uint8Array([1]), keep: "1m", fence: holder(1n) },
    { name: "tagged", tag: "other", value: 4 },
  ]);
  expect(results).toMatchObject([
    ok,
    { ok: false, reason: "conflict", error: { value: "there" } },
    { ok: false, reason: "error", error: { serverCode: "WRONGTYPE" } },
    ok,
    ok,
  ]);
  const [stale] = await hf.records.putMany([{ name: "taken", value: 2, fence: holder(4n) }]);
  expect(stale).toMatchObject({ ok: false, reason: "stale", error: { seen: 5n } });
  expect(stale?.ok === false && stale.error).toBeInstanceOf(StaleTokenError);
  expect(await redis.pttl("holdfast:{kept}:record:kept")).toBeGreaterThan(0);
  const read = await hf.records.getMany(["alien", { name: "tagged", tag: "other" }, { name: "tagged" }]);
  expect(read).toMatchObject([
    { ok: false, error: { serverCode: "WRONGTYPE" } },
    { ok: true, state: { value: 4 } },
    { ok: true, state: null },
  ]);
});

test("entries of one tag are written all or none", async () => {
  const tag = "team:7";
  const [a, b] = [hf.record("a", { tag }), hf.record("b", { tag })];
  const first = await hf.records.putMany([
    { name: "a", tag, value: 1 },
    { name: "b", tag, value: 1 },
    { name: "alone", value: 1, version: 9n },
  ]);
  expect(first).toMatchObject([ok, ok, { ok: false, reason: "conflict" }]);
  const refused = await hf.records.putMany([
    { name: "a", tag, value: 2 },
    { name: "b", tag, value: 2, version: 0n },
    { name: "alone", value: 2 },
  ]);
  expect(refused).toMatchObject([{ ok: false, reason: "together" }, { ok: false, reason: "conflict" }, ok]);
  for (const result of refused.slice(0, 2))
    expect(result.ok === false && result.error).toBeInstanceOf(ConflictError);
  expect([(await a.get())?.value, (await b.get())?.value]).toEqual([1, 1]);
  await redis.set(hf.record("c", { tag }).key, "x");
  const spoilt = await hf.records.putMany([
    { name: "a", tag, value: 3 },
    { name: "c", tag, value: 3 },
  ]);
  expect(spoilt).toMatchObject([{ reason: "error" }, { reason: "error" }]);
  expect((await a.get())?.value).toBe(1);
});

test("a record whose versions are used up refuses its own write, and all of its tag", async () => {
  for (const tag of [undefined, "t"]) {
    const names = ["a", "b", "c"].map((name) => (tag === undefined ? { name } : { name, tag }));
    await hf.records.putMany(names.map((one) => ({ ...one, value: "old" })));
    await redis.hset(hf.record("b", { tag }).key, "version", "9100000000000000");
    const results = await hf.records.putMany(names.map((one) => ({ ...one, value: "new" })));
    const usedUp = { ok: false, reason: "error", error: { serverCode: "ERR" } };
    expect(results).toMatchObject(tag === undefined ? [ok, usedUp, ok] : [usedUp, usedUp, usedUp]);
    const states = await hf.records.getMany(names);
    expect(states.map((one) => one.ok && one.state?.value)).toEqual(
      tag === undefined ? ["new", "old", "new"] : ["old", "old", "old"],
    );
  }
});

test("calls that can never work are refused, and nothing is sent", async () => {
  proxy.forget();
  const wrong: [() => Promise<unknown>, string][] = [
    [
      () =>
        hf.records.putMany([
          { name: "a", value: 1 },
          { name: "a", value: 2 },
        ]),
      "entries",
    ],
    [
      () =>
        hf.records.putMany([
          { name: "a", value: 1 },
          { name: "b", value: undefined },
        ]),
      "value",
    ],
    [() => hf.records.putMany([{ name: "a", value: 1, ttl: 5 } as never]), "ttl"],
    [() => hf.records.putMany({} as never), "entries"],
    [
      () =>
        hf.records.putMany(Array.from({ length: 1_001 }, (_, at) => ({ name: `${at}`, tag: "t", value: 1 }))),
      "entries",
    ],
    [() => hf.records.getMany(["a", ""]), "name"],
    [() => hf.records.getMany([{ name: "a", keep: 5 } as never]), "keep"],
    [() => hf.records.getMany(null as never), "names"],
    [() => hf.records.putMany(new Array(1)), "entries"],
  ];
  for (const [call, argument] of wrong) await expect(call()).rejects.toMatchObject({ argument });
  expect(await hf.records.putMany([])).toEqual([]);
  expect(await hf.records.getMany([])).toEqual([]);
  expect(proxy.requests).toEqual([]);
});

test("without a server every entry says so", async () => {
  await hf.close();
  const closed = { ok: false, error: { code: "CLOSED" } };
  expect(await hf.records.putMany([{ name: "a", value: 1 }])).toMatchObject([{ ...closed, reason: "error" }]);
  expect(await hf.records.getMany(["a", "b"])).toMatchObject([closed, closed]);
});
