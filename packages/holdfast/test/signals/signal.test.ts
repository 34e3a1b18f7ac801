/** Signals on a real engine: who hears them, and how many. */
import { describe, expect, test } from "vitest";
import { writeMessage } from "../../src/redis/message.js";
import { begun, name, onEngine, open, redis, started, told, until } from "./signal-lab.js";

onEngine();

describe("emit", () => {
  test("everybody who waits hears it, and it says how many", async () => {
    const [here, there] = [open(), open()];
    const one = await started([name], () => here.signal(name).wait());
    const two = await started([name], () => there.signal(name).wait());
    const listener = await there.signal(name).listen();
    expect(await open().signal(name).emit({ n: 1 })).toBe(3);
    const heard = { name, data: { n: 1 } };
    expect(await Promise.all([one.wait, two.wait])).toEqual([heard, heard]);
    expect(await listener.next()).toEqual({ done: false, value: heard });
  });

  test("nothing is kept: a signal that nobody hears is gone", async () => {
    const hf = open();
    expect(await hf.signal(name).emit("early")).toBe(0);
    await hf.signal(name).listen();
    expect(await hf.signal(name).wait({ wait: 30 })).toBeNull();
    expect(await redis.exists(`holdfast:{${name}}:mail`)).toBe(0);
  });

  test("a seat that its process has not taken back yet does not count when nobody listens", async () => {
    const inbox = redis.duplicate();
    await inbox.subscribe("inbox");
    await redis.hset(`holdfast:{${name}}:signal`, "inbox", `1 ${Date.now() + 10_000} 1 1 0 0  {}`);
    expect(await open().signal(name).emit()).toBe(0);
    inbox.disconnect();
  });

  test("each caller gets a copy of its own", async () => {
    const hf = open();
    const listeners = [await hf.signal<{ n: number }>(name).listen(), await hf.signal(name).listen()];
    await hf.signal(name).emit({ n: 1 });
    const [one, two] = await Promise.all(listeners.map((listener) => listener.next()));
    (one?.value.data as { n: number }).n = 2;
    expect(two?.value.data).toEqual({ n: 1 });
  });

  test.each([
    ["nothing", undefined],
    ["null", null],
    ["text with blanks and lines", " a  b\nc\u0000 "],
    ["an emoji", "🎏"],
    ["an array", [1, [], { a: null }]],
    ["bytes", new Uint8Array([0, 255, 10, 32])],
    ["no bytes", new Uint8Array()],
    ["a large text", "x".repeat(1_000_000)],
  ])("data arrives unchanged, by both ways: %s", async (_title, data) => {
    const [here, there] = [open(), open()];
    const listener = await there.signal(name).listen();
    await here.signal(name).emit(data);
    expect((await listener.next()).value).toEqual({ name, data });
    expect(await here.signal(name).emitOne(data)).toBe(true);
    expect((await listener.next()).value).toEqual({ name, data });
  });

  test("data that JSON would change is refused, and nothing is sent", async () => {
    const hf = open();
    for (const data of [Number.NaN, 1n, new Map(), { a: undefined }, () => 1, "x".repeat(1_100_000)]) {
      await expect(hf.signal(name).emit(data)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
      await expect(hf.signal(name).emitOne(data)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    }
  });

  test("a message of another program is dropped", async () => {
    const hf = open();
    const listener = await hf.signal(name).listen();
    const place = await redis.get("holdfast:place");
    const channel = `holdfast:signal:${name}`;
    for (const text of ["", "x", "id1 {not json", "id2 j{", "🎏 🎏"]) {
      await redis.publish(channel, text);
      await redis.publish(channel, writeMessage(place ?? "", text));
    }
    await hf.signal(name).emit("good");
    const heard = [await listener.next(), await listener.next()].map(({ value }) => value.data);
    // A word alone is a signal without data.
    expect(heard).toContain(undefined);
    expect(await Promise.race([listener.next(), listener.next()])).toMatchObject({ value: { data: "good" } });
  });
});

describe("names", () => {
  test.each([
    "a b",
    "new\nline",
    "{tag}",
    "a}b{c",
    "*",
    "[ab]?",
    "\\",
    "🎏",
    "a:b:signal",
    "%20",
    "x".repeat(512),
  ])("a hostile name is a name like any other: %j", async (hostile) => {
    const [here, there] = [open(), open()];
    const other = await there.signal("ab").listen();
    const listener = await there.signal(hostile).listen();
    expect(await here.signal(hostile).emit(1)).toBe(1);
    expect(await here.signal(hostile).emitOne(2)).toBe(true);
    expect([(await listener.next()).value, (await listener.next()).value]).toEqual([
      { name: hostile, data: 1 },
      { name: hostile, data: 2 },
    ]);
    expect(other.take()).toBeNull();
  });

  test.each(["", "}x", "x".repeat(513), "\ud800", 1, null])("refuses the name %j", (bad) => {
    const hf = open();
    expect(() => hf.signal(bad as string)).toThrow(/name must/);
    expect(() => hf.signals.matching(bad as string)).toThrow(/pattern must/);
  });
});

describe("several names", () => {
  test("any: the first of them, with its name", async () => {
    const hf = open();
    const names = [`${name}-a`, `${name}-b`];
    const { wait } = await started(names, () => hf.signals.any(names));
    await open().signal(`${name}-b`).emit(7);
    expect(await wait).toEqual({ name: `${name}-b`, data: 7 });
  });

  test("all: the first of each, in the order of the names", async () => {
    const hf = open();
    const names = [`${name}-a`, `${name}-b`];
    const { wait } = await started(names, () => hf.signals.all([...names, `${name}-a`]));
    await open().signal(`${name}-b`).emit(1);
    await open().signal(`${name}-b`).emit(2);
    expect(await open().signal(`${name}-a`).emitOne(3)).toBe(true);
    expect(await wait).toEqual([
      { name: `${name}-a`, data: 3 },
      { name: `${name}-b`, data: 1 },
    ]);
  });

  test("all: null where one of them is missing", async () => {
    const hf = open();
    const names = [`${name}-a`, `${name}-b`];
    const { wait } = await started(names, () => hf.signals.all(names, { wait: 1_000 }));
    await hf.signal(`${name}-a`).emit(1);
    expect(await wait).toBeNull();
  });

  test("matching: every name that the pattern matches, and no other; not counted", async () => {
    const hf = open({ prefix: "odd*[prefix]?" });
    const listener = await hf.signals.matching(`${name}:*:[ab]`).listen();
    const emitter = open({ prefix: "odd*[prefix]?" });
    for (const suffix of ["x:a", "x:c", "🎏 {}:b", "x:y:a"])
      await emitter.signal(`${name}:${suffix}`).emit(suffix);
    await open({ prefix: "oddX[prefix]?" }).signal(`${name}:x:a`).emit("another prefix");
    expect(await emitter.signal(`${name}:end:a`).emit("end")).toBe(0);
    const heard = [];
    for await (const { name: its, data } of listener) {
      heard.push([its, data]);
      if (data === "end") break;
    }
    expect(heard.map(([, data]) => data)).toEqual(["x:a", "🎏 {}:b", "x:y:a", "end"]);
    expect(heard[1]?.[0]).toBe(`${name}:🎏 {}:b`);
    expect(await emitter.signal(`${name}:x:a`).emitOne()).toBe(false);
  });

  test("a name and a pattern that matches it both hear it", async () => {
    const hf = open();
    const [one, two] = [await hf.signal(name).listen(), await hf.signals.matching(`${name}*`).listen()];
    await hf.signal(name).emit(1);
    expect([(await one.next()).value, (await two.next()).value]).toEqual([
      { name, data: 1 },
      { name, data: 1 },
    ]);
  });

  test("refuses an empty list, and names that are none", async () => {
    const hf = open();
    await expect(hf.signals.any([])).rejects.toThrow(/names must be a list/);
    await expect(hf.signals.all("ab" as unknown as string[])).rejects.toThrow(/names must be a list/);
    await expect(hf.signals.any(["}"])).rejects.toThrow(/names must not begin/);
  });
});

describe("a wait", () => {
  test("ends by its time with null, and leaves its seat", async () => {
    const hf = open();
    const listener = await hf.signal(name).listen();
    expect(await hf.signal(name).wait({ wait: 40 })).toBeNull();
    expect(await hf.signal(name).wait({ wait: 0 })).toBeNull();
    await listener.return();
    await until(async () => (await open().signal(name).emit()) === 0);
  });

  test("ends by its signal, before and during it", async () => {
    const hf = open();
    const reason = new Error("enough");
    await expect(hf.signal(name).wait({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const controller = new AbortController();
    const { wait } = await started([name], () => hf.signal(name).wait({ signal: controller.signal }));
    controller.abort(reason);
    await expect(wait).rejects.toBe(reason);
  });

  test("ends with ClosedError by close(), and so does a reader", async () => {
    const hf = open();
    const { wait } = await started([name], () => hf.signal(name).wait({ wait: Number.POSITIVE_INFINITY }));
    const listener = await hf.signal(name).listen();
    const next = listener.next();
    next.catch(() => {});
    await hf.close();
    await expect(wait).rejects.toMatchObject({ code: "CLOSED" });
    await expect(next).rejects.toMatchObject({ code: "CLOSED" });
    expect(await listener.next()).toEqual({ done: true, value: undefined });
    for (const late of [
      () => hf.signal(name).wait(),
      () => hf.signal(name).emit(),
      () => hf.signal(name).poll(),
    ])
      await expect(late()).rejects.toMatchObject({ code: "CLOSED" });
    expect(() => hf.signal(name)[Symbol.asyncIterator]()).toThrow(/close/);
  });

  test("rejects where the subscription was never confirmed", async () => {
    const hf = open({ callTimeout: 50 }, "redis://127.0.0.1:1");
    await expect(hf.signal(name).wait({ wait: 50 })).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await expect(hf.signal(name).listen()).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await expect(hf.signal(name).poll()).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });

  test("says whose key it is where another program owns it, and others go on", async () => {
    const hf = open();
    await redis.set(`holdfast:{${name}}:signal`, "mine");
    const good = hf.signal(`${name}-good`).listen();
    await expect(hf.signal(name).wait()).rejects.toMatchObject({
      serverCode: "WRONGTYPE",
      message: expect.stringContaining(`holdfast:{${name}}:signal`),
    });
    await expect(hf.signal(name).emit()).rejects.toMatchObject({ serverCode: "WRONGTYPE" });
    await expect(hf.signal(name).emitOne()).rejects.toMatchObject({ serverCode: "WRONGTYPE" });
    expect(await good).toBeDefined();
  });
});

describe("a reader", () => {
  test("keeps the newest within its buffer, and counts the others", async () => {
    const hf = open();
    const listener = await hf.signal<number>(name).listen({ buffer: 2 });
    for (const n of [1, 2, 3, 4, 5]) await hf.signal(name).emit(n);
    await until(() => Promise.resolve(listener.dropped === 3));
    const kept = [(await listener.next()).value, (await listener.next()).value];
    expect(kept.map((each) => each?.data)).toEqual([4, 5]);
  });

  test("a loop over a signal ends its subscription when it is left", async () => {
    const hf = open();
    const told = begun(name);
    const loop = (async () => {
      for await (const { data } of hf.signal(name)) return data;
      return null;
    })();
    await told;
    await hf.signal(name).emit("out");
    expect(await loop).toBe("out");
    await until(
      async () => ((await redis.pubsub("NUMSUB", `holdfast:signal:${name}`)) as unknown[])[1] === 0,
    );
  });

  test("ends by its AbortSignal", async () => {
    const hf = open();
    const controller = new AbortController();
    const listener = await hf.signal(name).listen({ signal: controller.signal });
    const next = listener.next();
    controller.abort();
    expect(await next).toEqual({ done: true, value: undefined });
  });

  test("listen() rejects with the reason of a signal that aborts before it has begun", async () => {
    const hf = open();
    const reason = new Error("enough");
    await expect(hf.signal(name).listen({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const controller = new AbortController();
    const listening = hf.signal(name).listen({ signal: controller.signal });
    controller.abort(reason);
    await expect(listening).rejects.toBe(reason);
  });
});

describe("poll", () => {
  test("the first begins to listen, later ones take what came, the oldest first", async () => {
    const hf = open();
    expect(await hf.signal(name).poll()).toBeNull();
    for (const n of [1, 2]) expect(await open().signal(name).emit(n)).toBe(1);
    for (const n of [1, 2]) {
      // A loop without a pause must not keep the signal from coming in.
      let heard = null;
      while (heard === null) heard = await hf.signal(name).poll();
      expect(heard).toEqual({ name, data: n });
    }
    expect(await hf.signal(name).poll()).toBeNull();
    expect(await open().signal(name).emitOne()).toBe(false);
    hf.signal(name).stopPolling();
    await until(async () => (await open().signal(name).emit()) === 0);
  });
});

test("an interruption is told, with its length", async () => {
  const hf = open();
  const listener = await hf.signal(name).listen();
  const interrupted = told<{ signal: string; forMs: number }>(
    "holdfast:signal:interrupted",
    ({ signal }) => signal === name,
  );
  await redis.call("CLIENT", "KILL", "TYPE", "pubsub");
  expect((await interrupted).forMs).toBeGreaterThan(0);
  await until(async () => (await open().signal(name).emit("again")) === 1);
  expect((await listener.next()).value?.data).toBe("again");
});
