/** What got lost on its way, or was meant for another noun, is refused before anything is sent. The client never connects here. */
import { Holdfast, InvalidArgumentError } from "holdfast";
import { Redlock } from "holdfast/redlock";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

let client: Redis;
let hf: Holdfast;

beforeAll(() => {
  client = new Redis({ lazyConnect: true });
  hf = new Holdfast(client);
});

afterAll(async () => {
  expect(client.status).toBe("wait"); // nothing was sent
  await hf.close();
});

const limit = () => hf.limit("l", { max: 1, per: "1s" });

/** One object of every class whose methods are calls. */
const NOUNS: Readonly<Record<string, () => object | Promise<object>>> = {
  Holdfast: () => hf,
  Locks: () => hf.locks,
  Redlock: () => new Redlock(["redis://127.0.0.1:1", "redis://127.0.0.1:2", "redis://127.0.0.1:3"]),
  Mutex: () => hf.mutex("m"),
  Semaphore: () => hf.semaphore("s", { permits: 1 }),
  RwLock: () => hf.rwLock("r"),
  ReadLock: () => hf.rwLock("r").read(),
  WriteLock: () => hf.rwLock("r").write(),
  MultiLock: () => hf.multiLock([hf.mutex("m")]),
  Limit: limit,
  LimitGroup: () => hf.limits.all([limit().of("a")]),
  LimitIndex: () => hf.limits.index("i"),
  Limits: () => hf.limits,
  Guard: () => hf.guard("g", { hits: 1, per: "1s", penalties: [{ kind: "refuse", for: "1s" }] }),
  VersionedRecord: () => hf.record("r"),
  Records: () => hf.records,
  Queue: () => hf.queue("q"),
  Lanes: () => hf.lanes("l"),
  Signal: () => hf.signal("s"),
  SignalPattern: () => hf.signals.matching("*"),
  Signals: () => hf.signals,
  SharedEvent: () => hf.event("e"),
  Latch: () => hf.latch("l", 1),
  Barrier: () => hf.barrier("b", 1),
  Election: () => hf.election("e"),
  Inspector: () => hf.inspector(),
};

/** More than any of them has. */
const SURPLUS = ["a", "b", "c", "d", "e"];

function methodsOf(noun: object): string[] {
  const descriptors = Object.entries(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(noun)));
  return descriptors.filter(([, { value }]) => typeof value === "function").map(([name]) => name);
}

/** A Redlock has methods that only say that it lacks a noun. What ends is handed to listeners, whose arguments say nothing. */
const isFree = (noun: object, name: string): boolean =>
  name === "constructor" ||
  name === "close" ||
  (noun instanceof Redlock && !["mutex", "multiLock", "votes"].includes(name));

describe("an argument beyond the last", () => {
  test.each(Object.entries(NOUNS))("is refused by every method: %s", async (title, make) => {
    const noun = await make();
    expect(noun.constructor.name).toBe(title);
    for (const name of methodsOf(noun)) {
      if (isFree(noun, name)) continue;
      const call = async (): Promise<unknown> => Reflect.get(noun, name).apply(noun, SURPLUS);
      const error = await call().catch((caught: unknown) => caught);
      expect(error, name).toBeInstanceOf(InvalidArgumentError);
      expect(error, name).toMatchObject({
        argument: "arguments",
        message: expect.stringContaining(`${name}()`),
      });
    }
    if (noun instanceof Redlock) await noun.close();
  });

  test("is refused by hf.once, and named with the place of the call", async () => {
    const surplus = ["key", () => 1, { keep: "1h" }, "more"] as never as Parameters<typeof hf.once>;
    await expect(hf.once(...surplus)).rejects.toMatchObject({ argument: "arguments" });
    await expect((hf.once.forget as (...words: string[]) => Promise<unknown>)("key", "more")).rejects.toThrow(
      "arguments of forget() are 1 at most, not 2",
    );
    const drain = hf.queue("q").drain as (lane: string) => Promise<number>;
    const error = await drain.call(hf.queue("q"), "lane").catch((caught: Error) => caught);
    expect(error).toMatchObject({ message: "arguments of drain() are none, not 1" });
    expect((error as Error).stack?.split("\n")[1]).toContain("surplus.test");
  });
});

describe("what would mean all", () => {
  const lanes = () => hf.lanes("l");
  const calls: Readonly<Record<string, (given: never) => Promise<unknown>>> = {
    "lanes.pause": (lane) => lanes().pause(lane),
    "lanes.resume": (lane) => lanes().resume(lane),
    "lanes.drain": (lane) => lanes().drain(lane),
    "lanes.redrive": (tickets) => lanes().redrive(tickets),
    "queue.redrive": (ids) => hf.queue("q").redrive(ids),
    "index.reset": async (name) => (await hf.limits.index("i")).reset(name),
  };

  test.each(Object.entries(calls))("is said aloud: %s", async (_title, call) => {
    for (const given of [undefined, null, "", {}, { all: false }, { all: undefined }, { every: true }, 5])
      await expect(call(given as never)).rejects.toBeInstanceOf(InvalidArgumentError);
    await expect(call(undefined as never)).rejects.toThrow(
      "is undefined: name it, or give { all: true } for all",
    );
  });

  test("is no condition that got lost", async () => {
    const inspector = await hf.inspector();
    const record = hf.record("r");
    for (const call of [
      () => inspector.forceRelease("m", { fence: undefined } as never),
      () => record.put(1, { version: undefined } as never),
      () => record.delete({ fence: undefined } as never),
    ])
      await expect(call()).rejects.toThrow("is undefined: leave it out where no condition is meant");
  });
});

test("an option that is undefined is one that was left out", async () => {
  const signal = AbortSignal.abort(new Error("enough"));
  const given = { signal, wait: undefined, owner: undefined, unless: undefined, floor: undefined };
  await expect(hf.mutex("m").acquire(given)).rejects.toThrow("enough");
  expect(() => hf.mutex("m", { ttl: undefined, maxHold: undefined })).not.toThrow();
  expect(hf.queue("undefined", { maxAttempts: undefined, order: undefined }).name).toBe("undefined");
  expect(hf.queue("undefined", undefined).name).toBe("undefined");
});
