/** Barriers, between processes on the engine itself. */
import { inTime, ManualClock, until } from "@holdfast/conformance";
import {
  ArrivalLapsedError,
  type BarrierPass,
  ClosedError,
  CountMismatchError,
  type Holdfast,
  InvalidArgumentError,
} from "holdfast";
import { expect, test } from "vitest";
import { breakConnections, newProcess, onEngine, redis, untilStated } from "./place.js";

onEngine();

const KEY = "holdfast:{step}:barrier";
const LEASES = `${KEY}:leases`;
const NEVER = { wait: Number.POSITIVE_INFINITY };

/** Resolves once as many wait, as the server sees it. */
async function untilArrived(count: number, leases = LEASES): Promise<void> {
  while ((await redis.zcard(leases)) !== count) await new Promise((resolve) => setTimeout(resolve, 2));
}

function indices(passes: readonly (BarrierPass | null)[]): (number | undefined)[] {
  return passes.map((pass) => pass?.index).sort();
}

test("the parties of several processes pass together, each with its place", async () => {
  const [a, b] = [newProcess(), newProcess()];
  const first = a.barrier("step", 3).wait(NEVER);
  await untilArrived(1);
  const second = b.barrier("step", 3).wait(NEVER);
  await untilArrived(2);
  expect(await a.barrier("step", 3).get()).toMatchObject({ parties: 3, arrived: 2 });
  const third = a.barrier("step", 3).wait(NEVER);
  const passes = await Promise.all([first, second, third]);
  expect(passes.map((pass) => pass?.index)).toEqual([0, 1, 2]);
  expect(new Set(passes.map((pass) => pass?.generation)).size).toBe(1);
  expect(await b.barrier("step", 3).get()).toMatchObject({ arrived: 0 });
});

test("it is cyclic: each generation is larger, and has every party once", async () => {
  const processes = [newProcess(), newProcess(), newProcess()];
  const passed = await Promise.all(
    processes.map(async (hf) => {
      const barrier = hf.barrier("step", 3);
      const generations: bigint[] = [];
      for (let step = 0; step < 20; step += 1)
        generations.push((await barrier.wait(NEVER))?.generation as bigint);
      return generations;
    }),
  );
  expect(passed[1]).toEqual(passed[0]);
  expect(passed[2]).toEqual(passed[0]);
  const [generations = []] = passed;
  expect(generations).toEqual([...generations].sort((x, y) => (x < y ? -1 : 1)));
  expect(new Set(generations).size).toBe(20);
});

test("more arrivals than parties begin the next generation", async () => {
  const hf = newProcess();
  const waits = Array.from({ length: 5 }, () => hf.barrier("step", 2).wait({ wait: "2s" }));
  const passes = await Promise.all(waits);
  expect(passes.filter((pass) => pass === null)).toHaveLength(1);
  const generations = [...new Set(passes.flatMap((pass) => (pass ? [pass.generation] : [])))];
  expect(generations).toHaveLength(2);
  for (const generation of generations)
    expect(indices(passes.filter((pass) => pass?.generation === generation))).toEqual([0, 1]);
});

test("the parties tell each other what they bring, by place", async () => {
  const [a, b] = [newProcess(), newProcess()];
  const first = a.barrier<string>("step", 3).wait({ data: "one" });
  await untilArrived(1);
  const second = b.barrier<string>("step", 3).wait();
  await untilArrived(2);
  const third = b.barrier<string>("step", 3).wait({ data: "three" });
  for (const pass of await Promise.all([first, second, third]))
    expect(pass?.data).toEqual(["one", undefined, "three"]);
});

test("a party whose time is over withdraws, and the others wait for another", async () => {
  const [a, b, c] = [newProcess(), newProcess(), newProcess()];
  const stays = a.barrier("step", 3).wait(NEVER);
  await untilArrived(1);
  expect(await b.barrier("step", 3).wait({ wait: 30 })).toBeNull();
  expect(await redis.zcard(LEASES)).toBe(1);
  const others = [b, c].map((hf) => hf.barrier("step", 3).wait(NEVER));
  expect(indices(await Promise.all([stays, ...others]))).toEqual([0, 1, 2]);
});

test("one look arrives and withdraws, or completes the generation", async () => {
  const [a, b] = [newProcess(), newProcess()];
  expect(await a.barrier("step", 2).wait({ wait: 0 })).toBeNull();
  expect(await redis.zcard(LEASES)).toBe(0);
  const stays = b.barrier("step", 2).wait(NEVER);
  await untilArrived(1);
  const pass = await a.barrier("step", 2).wait({ wait: 0 });
  expect(pass?.index).toBe(1);
  expect((await stays)?.generation).toBe(pass?.generation);
});

test("the signal and close() withdraw", async () => {
  const hf = newProcess();
  const aborter = new AbortController();
  const aborted = hf.barrier("step", 3).wait({ signal: aborter.signal });
  const closed = hf.barrier("step", 3).wait(NEVER);
  await untilArrived(2);
  aborter.abort(new Error("enough"));
  await expect(aborted).rejects.toThrow("enough");
  expect(await redis.zcard(LEASES)).toBe(1);
  const settled = expect(closed).rejects.toThrow(ClosedError);
  await hf.close();
  await settled;
  expect(await redis.zcard(LEASES)).toBe(0);
  await expect(hf.barrier("step", 3).wait()).rejects.toThrow(ClosedError);
});

test("a party that may not withdraw says that it may count, whatever ended its wait", async () => {
  await redis.call("ACL", "SETUSER", "party", "on", ">pw", "+@all", "~*", "&*");
  // No time passes in which a party would state again that it waits: that would be refused, and end its wait.
  const [clock, stopped] = [new ManualClock(), new ManualClock()];
  const party = { username: "party", password: "pw" };
  const [a, c, b] = [newProcess({ clock }, party), newProcess({ clock: stopped }, party), newProcess()];
  const aborter = new AbortController();
  const reason = new Error("enough");
  const end = (hf: Holdfast, name: string, options: object) =>
    hf
      .barrier(name, 3)
      .wait(options)
      .catch((error: unknown) => error);
  const [aborted, late] = [end(a, "step", { signal: aborter.signal }), end(a, "step", { wait: 300 })];
  const closed = end(c, "other", NEVER);
  await untilArrived(2);
  await untilArrived(1, "holdfast:{other}:barrier:leases");
  await redis.call("ACL", "SETUSER", "party", "-zrem");
  aborter.abort(reason);
  expect(await aborted).toMatchObject({ code: "INDETERMINATE", cause: reason });
  expect(await inTime(late, clock, 50)).toMatchObject({
    code: "INDETERMINATE",
    cause: { serverCode: "NOPERM" },
  });
  expect((await b.barrier("step", 3).wait(NEVER))?.index).toBe(2); // with both of them
  await c.close();
  expect(await closed).toMatchObject({ code: "INDETERMINATE", cause: expect.any(ClosedError) });
});

test("a party that died is not counted: after two looks that found nobody who listens for it", async () => {
  const clock = new ManualClock();
  const [a, b] = [newProcess({ clock }), newProcess()];
  const first = a.barrier("step", 2, { ttl: "10s" }).wait(NEVER);
  await untilArrived(1);
  // Its arrival becomes that of a process whose inbox nobody listens to any more.
  const [id = ""] = await redis.zrange(LEASES, 0, "-1");
  const entry = (await redis.hget(`${KEY}:arrivals`, id)) as string;
  await redis.hset(`${KEY}:arrivals`, "gone.1", entry.replace(/^(\d+ \d+) \d/, "$1 1"));
  await redis.hdel(`${KEY}:arrivals`, id);
  await redis.zadd(LEASES, String((Date.now() + 9_000) * 1_000), "gone.1");
  await redis.zrem(LEASES, id);
  expect(await b.barrier("step", 2).wait({ wait: 0 })).toBeNull();
  const second = b.barrier("step", 2).wait(NEVER);
  expect(indices(await inTime(Promise.all([first, second]), clock, 50))).toEqual([0, 1]);
});

test("a party that died is not counted once its lease expires", async () => {
  const hf = newProcess();
  await hf.barrier("step", 2).wait({ wait: 0 });
  await redis.hset(`${KEY}:arrivals`, "gone.1", "1 10000 0 {}");
  await redis.zadd(LEASES, String((Date.now() - 5) * 1_000), "gone.1");
  expect(await hf.barrier("step", 2).wait({ wait: 50 })).toBeNull();
  expect(await redis.zcard(LEASES)).toBe(0);
});

test("an arrival whose lease is longer than its ttl, because the server's clock was set back, does not count", async () => {
  const barrier = newProcess().barrier("step", 2, { ttl: 100 });
  await barrier.wait({ wait: 0 });
  await redis.hset(`${KEY}:arrivals`, "gone.1", "1 60000 0 {}");
  await redis.zadd(LEASES, String((Date.now() + 61_500) * 1_000), "gone.1");
  expect(await barrier.wait({ wait: 0 })).toBeNull();
  expect(await redis.zscore(LEASES, "gone.1")).toBeNull();
});

test("an arrival that waits is renewed", async () => {
  const clock = new ManualClock();
  const [a, b] = [newProcess({ clock }), newProcess()];
  const wait = a.barrier("step", 2, { ttl: "30s" }).wait(NEVER);
  await untilStated(KEY);
  const leaseEnd = async () => Number((await redis.zrange(LEASES, 0, "-1", "WITHSCORES"))[1]);
  const firstEnd = await leaseEnd();
  clock.advance(10_000);
  await until("it is renewed", async () => (await leaseEnd()) > firstEnd);
  await b.barrier("step", 2, { ttl: "30s" }).wait(NEVER);
  expect((await wait)?.index).toBe(0);
});

test("an arrival that lapsed is renewed as long as its generation has not tripped", async () => {
  const [a, b] = [newProcess(), newProcess()];
  const wait = a.barrier("step", 2, { ttl: 300 }).wait(NEVER);
  await untilArrived(1);
  await redis.del(LEASES, `${KEY}:arrivals`);
  const other = b.barrier("step", 2, { ttl: 300 }).wait(NEVER);
  expect(indices(await Promise.all([wait, other]))).toEqual([0, 1]);
});

test("a party that comes back after its generation tripped without it learns that", async () => {
  const clock = new ManualClock();
  const [a, b] = [newProcess({ clock }), newProcess()];
  const paused = a.barrier("step", 2).wait(NEVER);
  const settled = paused.catch((error: unknown) => error);
  await untilStated(KEY);
  const { generation } = await b.barrier("step", 2).get();
  // As if it had been paused for longer than its ttl.
  await redis.del(LEASES, `${KEY}:arrivals`);
  const passes = [b, b].map((hf) => hf.barrier("step", 2).wait(NEVER));
  expect(indices(await Promise.all(passes))).toEqual([0, 1]);
  const error = await inTime(settled, clock, 50);
  expect(error).toBeInstanceOf(ArrivalLapsedError);
  expect(error).toMatchObject({ barrier: "step", generation });
});

test("a party learns of a trip whose message was lost, also when a later generation tripped since", async () => {
  const [a, b] = [newProcess(), newProcess()];
  const wait = a.barrier("step", 2).wait(NEVER);
  await untilArrived(1);
  await breakConnections();
  const pass = await b.barrier("step", 2).wait(NEVER);
  const [x, y] = [b.barrier("step", 2).wait(NEVER), b.barrier("step", 2).wait(NEVER)];
  await Promise.all([x, y]);
  expect((await wait)?.generation).toBe(pass?.generation);
});

test("parties arrive again when the server lost its data, or the barrier was deleted", async () => {
  const [a, b] = [newProcess(), newProcess()];
  for (const lose of [() => redis.flushall(), () => b.barrier("step", 2).delete()]) {
    const wait = a.barrier("step", 2, { ttl: 300 }).wait(NEVER);
    await untilArrived(1);
    await lose();
    const pass = await b.barrier("step", 2, { ttl: 300 }).wait(NEVER);
    expect((await wait)?.generation).toBe(pass?.generation);
  }
});

test("after a fail-over to a server that does not know the last generations, the parties begin a new one", async () => {
  const [a, b] = [newProcess(), newProcess()];
  await Promise.all([a, b].map((hf) => hf.barrier("step", 2).wait(NEVER)));
  const state = await redis.hgetall(KEY);
  const [pass] = await Promise.all([a, b].map((hf) => hf.barrier("step", 2).wait(NEVER)));
  // The generation that has tripped is the present one again, with an arrival of it.
  await redis.flushall();
  await redis.hset(KEY, state);
  await redis.zadd(LEASES, String((Date.now() + 9_000) * 1_000), "old.1");
  await redis.hset(`${KEY}:arrivals`, "old.1", "1 10000 0 {}");
  const passes = await Promise.all([a, b].map((hf) => hf.barrier("step", 2).wait(NEVER)));
  expect(indices(passes)).toEqual([0, 1]);
  expect(passes[0]?.generation).toBeGreaterThan(pass?.generation as bigint);
});

test("another number of parties is refused with the number that it has", async () => {
  const [a, b] = [newProcess(), newProcess()];
  const wait = a
    .barrier("step", 3, { ttl: 300 })
    .wait(NEVER)
    .catch((error: unknown) => error);
  await untilArrived(1);
  const error = await b
    .barrier("step", 2)
    .wait()
    .catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(CountMismatchError);
  expect(error).toMatchObject({ noun: "barrier", resource: "step", given: 2, actual: 3 });
  // The first process may come again before the other one has.
  await until("the other number counts", async () => {
    await b.barrier("step", 2).delete();
    const come = b.barrier("step", 2).wait({ wait: 0 });
    return come.then(() => true).catch((reason: unknown) => !(reason instanceof CountMismatchError));
  });
  expect(await wait).toMatchObject({ given: 3, actual: 2 });
});

test("the keys end: those of the arrivals soon, the barrier's after `keep`", async () => {
  const hf = newProcess();
  await Promise.all([1, 2].map(() => hf.barrier("step", 2).wait({ data: "x" })));
  for (const part of [":tripped", ":data"]) expect(await redis.pttl(KEY + part)).toBeGreaterThan(60_000);
  expect(await redis.pttl(KEY)).toBeGreaterThan(80_000_000);
  for (const key of await redis.keys("*")) expect(await redis.pttl(key)).toBeGreaterThan(0);
});

test("a key of another program is named in the error, and nothing is written", async () => {
  const hf = newProcess();
  for (const part of ["", ":leases", ":arrivals", ":tripped", ":data"]) {
    await redis.set(KEY + part, "mine");
    for (const call of [() => hf.barrier("step", 2).wait(), () => hf.barrier("step", 2).get()])
      await expect(call()).rejects.toThrow(/WRONGTYPE a key of the barrier 'step'/);
    expect(await redis.keys("*")).toEqual([KEY + part]);
    await redis.del(KEY + part);
  }
});

test("misuse is refused", async () => {
  const hf = newProcess();
  for (const parties of [0, 1.5, 1_001, "3" as never])
    expect(() => hf.barrier("x", parties)).toThrow(InvalidArgumentError);
  expect(() => hf.barrier("x", 2, { ttl: 10 })).toThrow(/ttl must be/);
  expect(() => hf.barrier("x", 2, { ttl: "1m", keep: "10s" })).toThrow(/keep must be at least the ttl/);
  await expect(hf.barrier("x", 2).wait({ data: "x".repeat(5_000) })).rejects.toThrow(/at most 4096 bytes/);
  await expect(hf.barrier("x", 1).wait({ signal: AbortSignal.abort(new Error("no")) })).rejects.toThrow("no");
  expect((await hf.barrier("x", 1).wait())?.index).toBe(0);
});
