/** record.update(): no change is lost or made twice, nobody starves, and a lost answer is cleared up. */
import { FaultProxy, inTime, ManualClock, UNHURRIED, until } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { ConflictError, Holdfast, type HoldfastOptions, IndeterminateError } from "../../src/index.js";

/** Of a process whose clock the test moves. */
const CALL_MS = 300;

let server: EmbeddedValkey;
let redis: Redis;
let opened: { hf: Holdfast; client: Redis }[];

beforeAll(async () => {
  server = await EmbeddedValkey.start();
  redis = new Redis(server.url);
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});
beforeEach(async () => {
  opened = [];
  await redis.flushall();
});
afterEach(async () => {
  for (const { hf, client } of opened) {
    await hf.close();
    client.disconnect();
  }
});

function open(options: HoldfastOptions = {}, port = server.port): Holdfast {
  const client = new Redis(port, "127.0.0.1");
  client.on("error", () => {});
  const hf = new Holdfast(client, { ...UNHURRIED, ...options });
  opened.push({ hf, client });
  return hf;
}

const add = (value: number | null): number => (value ?? 0) + 1;

test("writes what the change returns, and leaves the record as it is for undefined", async () => {
  const record = open().record<{ n: number }>("it");
  expect(await record.update((value, version) => void expect([value, version]).toEqual([null, 0n]))).toEqual({
    value: null,
    version: 0n,
  });
  expect(await record.get()).toBeNull();
  const first = await record.update(() => ({ n: 1 }));
  expect(await record.get()).toMatchObject({ value: { n: 1 }, version: first.version });
  const second = await record.update(async (value, version) => {
    expect(version).toBe(first.version);
    if (value) value.n += 1;
    return value ?? undefined;
  });
  expect(second).toEqual({ value: { n: 2 }, version: expect.any(BigInt) });
  expect(await record.update(() => undefined)).toEqual(second);
  await record.delete();
  expect(
    (await record.update((value, version) => ({ n: value === null && version === 0n ? 5 : 0 }))).value,
  ).toEqual({ n: 5 });
});

test("a change that throws, or returns what is no value, changes nothing and holds up nobody", async () => {
  const record = open().record("it");
  await record.put(1);
  const outcomes = await Promise.allSettled([
    record.update(() => Promise.reject(new Error("mine"))),
    record.update(() => new Map()),
    record.update(add as never),
    record.update(() => {
      throw new Error("mine too");
    }),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled", "rejected"]);
  expect((await record.get())?.value).toBe(2);
});

test("callers of one process take turns in order, with one request each", async () => {
  const hf = open();
  const record = hf.record<number[]>("it");
  await record.update(() => []);
  const before = await commands();
  await Promise.all(
    Array.from({ length: 50 }, (_, at) =>
      (at % 2 ? record : hf.record<number[]>("it")).update((value) => [...(value ?? []), at]),
    ),
  );
  expect(await commands()).toBe(before + 51); // one of them reads
  expect((await record.get())?.value).toEqual(Array.from({ length: 50 }, (_, at) => at));
});

/** Requests about records so far: a script reads once itself, a reading outside is another such command. */
async function commands(): Promise<number> {
  const stats = await redis.info("commandstats");
  return Number(/cmdstat_hmget:calls=(\d+)/.exec(stats)?.[1] ?? 0);
}

test("32 writers on connections of their own all get through, each change is there once", async () => {
  const WRITERS = 32;
  const ROUNDS = 5;
  const worst: number[] = [];
  await Promise.all(
    Array.from({ length: WRITERS }, async (_, writer) => {
      const record = open().record<Record<string, number>>("it");
      for (let round = 0; round < ROUNDS; round += 1) {
        let calls = 0;
        await record.update((value) => {
          calls += 1;
          return { ...value, [writer]: (value?.[writer] ?? 0) + 1 };
        });
        worst.push(calls);
      }
    }),
  );
  const { value } = (await open().record<Record<string, number>>("it").get()) ?? {};
  expect(Object.values(value ?? {})).toEqual(Array.from({ length: WRITERS }, () => ROUNDS));
  // The eldest goes first: all others may be older, and each may have one more change under way. Without turns it would be 160.
  expect(Math.max(...worst)).toBeLessThan(2 * WRITERS);
});

test("a slow change gets its turn among quick ones", async () => {
  const [slow, quick] = [open().record<number>("it"), open().record<number>("it")];
  await quick.put(0);
  let done = false;
  const others = (async () => {
    while (!done) await quick.update(add);
  })();
  let calls = 0;
  await slow.update(async (value) => {
    calls += 1;
    await new Promise((resolve) => setTimeout(resolve, 60));
    return add(value);
  });
  done = true;
  await others;
  expect(calls).toBeLessThan(6);
});

test("other writers that are quicker again and again end in the conflict, with what is there", async () => {
  const [record, other] = [open().record<number>("it"), open().record<number>("it")];
  let calls = 0;
  const update = record.update(
    async () => {
      calls += 1;
      await other.put(calls);
      return -1;
    },
    { retries: 3 },
  );
  await expect(update).rejects.toMatchObject({ code: "CONFLICT", value: 4 });
  await expect(update).rejects.toBeInstanceOf(ConflictError);
  expect(calls).toBe(4);
});

test("an overtaken holder changes nothing, and a fence with a conflict is not raised", async () => {
  const record = open().record<number>("it");
  await record.put(1, { fence: { fence: 5n, id: "a" } });
  const stale = { code: "STALE_TOKEN", token: 4n, seen: 5n };
  await expect(record.update(add, { fence: { fence: 4n, id: "a" } })).rejects.toMatchObject(stale);
  expect((await record.update(add, { fence: { fence: 6n, id: "a" } })).value).toBe(2);
  expect(await record.get()).toMatchObject({ value: 2, fence: 6n });
});

test("ends with its signal, and with close, where the caller's function never does", async () => {
  const hf = open();
  const record = hf.record<number>("it");
  for (const isEarly of [true, false]) {
    const controller = new AbortController();
    const stop = (): void => controller.abort(new Error("enough"));
    const change = (): Promise<number> => {
      if (isEarly) stop();
      else setImmediate(stop);
      return new Promise(() => {});
    };
    await expect(record.update(change, { signal: controller.signal })).rejects.toThrow("enough");
    expect((await record.update(add)).value).toBe(isEarly ? 1 : 2);
  }
  const left = record.update(() => new Promise<number>(() => void setImmediate(() => void hf.close())));
  await expect(left).rejects.toMatchObject({ code: "CLOSED" });
});

test("ends with its signal, in the queue and between two tries, and with close", async () => {
  const hf = open();
  const record = hf.record<number>("it");
  let go: ((value: number) => void) | null = null;
  const first = record.update(
    () =>
      new Promise<number>((resolve) => {
        go = resolve;
      }),
  );
  const controller = new AbortController();
  const second = record.update(add, { signal: controller.signal });
  const third = record.update(add);
  controller.abort(new Error("enough"));
  await expect(second).rejects.toThrow("enough");
  await expect(record.update(add, { signal: AbortSignal.abort(new Error("before")) })).rejects.toThrow(
    "before",
  );
  await until("it is called", () => go !== null);
  const closing = hf.close();
  await expect(third).rejects.toMatchObject({ code: "CLOSED" });
  (go as ((value: number) => void) | null)?.(1);
  await expect(first).rejects.toMatchObject({ code: "CLOSED" });
  await closing;
  await expect(record.update(add)).rejects.toMatchObject({ code: "CLOSED" });
});

test("ends with its signal while a request is under way, which is carried out all the same", async () => {
  const proxy = await FaultProxy.start({ host: "127.0.0.1", port: server.port });
  try {
    const [record, other] = [open({}, proxy.port).record<number>("it"), open().record<number>("it")];
    await record.update(add);
    await other.update(add);
    for (const isRead of [true, false]) {
      const controller = new AbortController();
      if (isRead) proxy.set({ down: "hold" });
      const update = record.update(
        (value) => {
          proxy.set({ down: "hold" });
          return add(value);
        },
        { signal: controller.signal },
      );
      update.catch(() => {});
      if (!isRead) await until("it is written", async () => (await other.get())?.value === 3);
      controller.abort(new Error("enough"));
      await expect(update).rejects.toThrow("enough");
      proxy.heal();
    }
    expect((await record.update(add)).value).toBe(4);
  } finally {
    await proxy.close();
  }
});

test("a change that returns undefined answers by what was written before the update began, not by a memory", async () => {
  const proxy = await FaultProxy.start({ host: "127.0.0.1", port: server.port });
  onTestFinished(() => proxy.close());
  const [record, other] = [open({}, proxy.port).record<number>("it"), open().record<number>("it")];
  await record.update(() => 1);
  const first = record.update(() => {
    proxy.set({ down: "hold" });
    return 2;
  });
  await until("it is written", async () => (await other.get())?.value === 2);
  await other.put(3);
  const seen: (number | null)[] = [];
  const second = record.update((value) => void seen.push(value));
  proxy.heal();
  expect((await first).value).toBe(2);
  expect((await second).value).toBe(3);
  expect(seen).toEqual([2, 3]);
});

test("an overtaken holder is refused also where its change returns undefined", async () => {
  const [record, other] = [open().record<number>("it"), open().record<number>("it")];
  await other.put(1, { fence: { fence: 8n, id: "new" } });
  const overtaken = { fence: { fence: 7n, id: "old" } };
  const stale = { code: "STALE_TOKEN", token: 7n, seen: 8n };
  await expect(record.update(() => undefined, overtaken)).rejects.toMatchObject(stale);
  const writing = record.update(add);
  await expect(record.update(() => undefined, overtaken)).rejects.toMatchObject(stale);
  expect((await writing).value).toBe(2);
  const newest = { fence: { fence: 9n, id: "newest" } };
  expect((await record.update(() => undefined, newest)).value).toBe(2);
  await expect(other.put(3, { fence: { fence: 8n, id: "new" } })).rejects.toMatchObject({ seen: 9n });
});

test("wrong arguments are refused", async () => {
  const record = open().record<number>("it");
  for (const options of [{ retries: -1 }, { retries: 0.5 }, { signal: 5 }, { fence: 5 }, { keep: 5 }])
    await expect(record.update(add, options as never)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  await expect(record.update(5 as never)).rejects.toMatchObject({ argument: "change" });
});

test("a write whose answer is lost is counted once, and one that never arrived is sent again", async () => {
  const proxy = await FaultProxy.start({ host: "127.0.0.1", port: server.port });
  try {
    const clock = new ManualClock();
    const record = open({ clock, callTimeout: CALL_MS }, proxy.port).record<number>("it");
    await record.update(add);
    const heard: number[] = [];
    const update = record.update((value) => {
      heard.push(value ?? 0);
      proxy.set({ down: "hold" });
      return add(value);
    });
    const other = open().record<number>("it");
    await until("it is written", async () => (await other.get())?.value === 2);
    await other.update(add);
    clock.advance(CALL_MS); // nobody waits for that answer any more
    proxy.heal();
    expect((await inTime(update, clock, 1)).value).toBe(2);
    expect(heard).toEqual([1]);
    expect((await other.get())?.value).toBe(3);
  } finally {
    await proxy.close();
  }
});

test("an update that hears nothing for three tries is unknown", async () => {
  const proxy = await FaultProxy.start({ host: "127.0.0.1", port: server.port });
  try {
    const clock = new ManualClock();
    const record = open({ clock, callTimeout: CALL_MS }, proxy.port).record<number>("it");
    await record.update(add);
    const update = record.update((value) => {
      proxy.set({ up: "drop" });
      return add(value);
    });
    await expect(inTime(update, clock)).rejects.toBeInstanceOf(IndeterminateError);
  } finally {
    await proxy.close();
  }
});

test("a turn of a process that is gone holds up others for as long as it lasts only", async () => {
  const record = open().record<number>("it");
  await record.put(1);
  const [seconds = 0] = await redis.time();
  await redis.hset(record.key, "turn", `gone ${seconds - 5}000000 ${seconds}500000`);
  const turn = record.update(add);
  expect((await turn).value).toBe(2);
  await redis.hset(record.key, "turn", `gone ${seconds - 5}000000 ${seconds + 3_600}000000`); // the clock was set back
  expect((await record.update(add)).value).toBe(3);
  expect(await redis.hexists(record.key, "turn")).toBe(0);
});
