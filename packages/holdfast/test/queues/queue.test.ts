/** Queues as programs use them, on the engine itself. */
import { until } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import {
  ClosedError,
  type Delivery,
  DeliveryLostError,
  Holdfast,
  InvalidArgumentError,
  type Message,
  OrderMismatchError,
  type Outcome,
  type Queue,
  QueueFullError,
  type QueueOptions,
} from "holdfast";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, expect, expectTypeOf, test } from "vitest";

const PATIENT = { timeout: 30_000 };
let server: EmbeddedValkey;
let redis: Redis;
let opened: Holdfast[] = [];
let name: string;
let count = 0;

beforeAll(async () => {
  server = await EmbeddedValkey.start();
  redis = new Redis(server.url);
});

afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

beforeEach(() => {
  name = `queue-${count++}`;
});

afterEach(async () => {
  await Promise.all(opened.map((hf) => hf.close()));
  opened = [];
});

function open(): Holdfast {
  // Nothing here goes by how quick the machine is.
  const hf = new Holdfast(server.url, { callTimeout: "20s" });
  opened.push(hf);
  return hf;
}

const queueOf = <Body = unknown, Result = unknown>(options?: QueueOptions): Queue<Body, Result> =>
  open().queue<Body, Result>(name, options);
const soon = { wait: "30s" } as const;
const bodiesOf = (messages: readonly { readonly body: unknown }[]): unknown[] =>
  messages.map(({ body }) => body);

async function popAll(queue: Queue): Promise<unknown[]> {
  const bodies: unknown[] = [];
  for (let message = await queue.pop({ wait: 0 }); message; message = await queue.pop({ wait: 0 }))
    bodies.push(message.body);
  return bodies;
}

test("a message is pushed, received, and done with its result", async () => {
  const queue = queueOf<{ n: number }, string>();
  const { id, isNew } = await queue.push({ n: 1 });
  expect([id, isNew]).toEqual([expect.stringMatching(/^\d{16}$/), true]);
  const delivery = await queue.receive(soon);
  expect(delivery).toMatchObject({ id, body: { n: 1 }, attempt: 1, isLive: true });
  const token = delivery?.token ?? 0n;
  expect(token > BigInt(id)).toBe(true);
  await delivery?.ack("fine");
  expect(await queue.result(id)).toEqual({ status: "done", result: "fine", token });
  expect(await queue.state()).toMatchObject({ waiting: 0, inFlight: 0, delayed: 0 });
});

test("bodies are JSON or bytes, and come back as they were", async () => {
  const queue = queueOf();
  const bodies = [null, 0, "ä \n 𝄞", [1, [2]], { a: { b: "c d" } }, new Uint8Array([0, 255, 32])];
  await queue.pushMany(bodies);
  expect(await popAll(queue)).toEqual(bodies);
  expect(() => queueOf({ maxBytes: 10 })).not.toThrow();
});

test("any name and any body reach one who waits already", async () => {
  for (const odd of ["a b", "%20:{x}", "Ä𝄞", "line\n"]) {
    name = `${name} ${odd}`;
    const [queue, other] = [queueOf(), queueOf()];
    for (const body of ["two  words\n", " ", "", { "a b": " c" }, new Uint8Array([32, 10, 0])]) {
      const waiting = other.receive(soon);
      await expect.poll(async () => (await queue.state()).idle, PATIENT).toBe(1);
      const { id } = await queue.push(body);
      const delivery = await waiting;
      expect([delivery?.id, delivery?.body]).toEqual([id, body]);
      await delivery?.ack(body);
      expect(await queue.result(id)).toMatchObject({ result: body });
    }
  }
});

test("the largest bodies, alone and many at once", async () => {
  const queue = queueOf<string>({ maxBytes: 1_048_576 });
  const large = "x".repeat(1_048_573);
  await queue.push(large);
  await expect(queue.push(`${large}x`)).rejects.toThrow(/at most 1 MiB/);
  const bodies = Array.from({ length: 500 }, (_, place) => `${place}`.padEnd(2_090, "y"));
  await queue.pushMany(bodies);
  await expect(queue.pushMany([...bodies.slice(1), "z".repeat(9_000)])).rejects.toThrow(
    /^bodies must have at most 1 MiB \(1048576 bytes\) together as they are stored, not 1/,
  );
  expect((await queue.pop(soon))?.body.length).toBe(large.length);
  expect(await popAll(queue)).toEqual(bodies);
});

test("a body that is no JSON, or too large, is refused, and nothing is pushed", async () => {
  const queue = queueOf({ maxBytes: 100 });
  await expect(queue.push(new Date())).rejects.toThrow(/^body must be JSON or bytes/);
  await expect(queue.push("x".repeat(98))).rejects.toThrow(
    /^body must have at most 100 bytes as it is stored, not 101/,
  );
  await expect(queue.pushMany(["a", "x".repeat(98)])).rejects.toThrow(/^bodies\[1\] must have at most 100/);
  await expect(queue.pushMany(Array.from({ length: 501 }, () => 1))).rejects.toThrow(
    /^bodies must be at most 500, not 501/,
  );
  expect(await queue.pushMany([])).toEqual([]);
  expect(await queue.peek()).toEqual([]);
});

test("fifo and lifo, with pushes of one turn, of pushMany and one after the other", async () => {
  const orders: [QueueOptions, unknown[]][] = [
    [{}, [1, 2, 3, 4, 5, 6]],
    [{ order: "lifo" }, [6, 5, 4, 3, 2, 1]],
  ];
  for (const [options, expected] of orders) {
    name = `${name}-${options.order}`;
    const queue = queueOf(options);
    await Promise.all([queue.push(1), queue.push(2), queue.pushMany([3, 4]), queue.push(5)]);
    await queue.push(6);
    expect(bodiesOf(await queue.peek())).toEqual(expected);
    expect(await popAll(queue)).toEqual(expected);
  }
});

test("a queue keeps its order: another is refused, and none given is the queue's own", async () => {
  const lifo = queueOf({ order: "lifo" });
  await lifo.pushMany([1, 2]);
  const fifo = queueOf({ order: "fifo" });
  await expect(fifo.push(3)).rejects.toThrow(OrderMismatchError);
  await expect(fifo.receive({ wait: 0 })).rejects.toMatchObject({ given: "fifo", actual: "lifo" });
  const plain = queueOf();
  await plain.push(3);
  expect((await plain.state()).order).toBe("lifo");
  expect(await popAll(plain)).toEqual([3, 2, 1]);
});

test("the types of bodies and results are those of the queue", () => {
  const queue = queueOf<{ n: number }, string>();
  expectTypeOf(queue.push).parameter(0).toEqualTypeOf<{ n: number }>();
  expectTypeOf(queue.receive).returns.resolves.toEqualTypeOf<Delivery<{ n: number }, string> | null>();
  expectTypeOf<Delivery<{ n: number }, string>["ack"]>().parameter(0).toEqualTypeOf<string | undefined>();
  expectTypeOf(queue.result).returns.resolves.toEqualTypeOf<Outcome<string> | null>();
  expectTypeOf(queue.peek).returns.resolves.toEqualTypeOf<readonly Message<{ n: number }>[]>();
  // @ts-expect-error a handler returns a result of the queue, or nothing
  queue.consume(async () => 5);
  queue.consume(({ body }) => (body.n > 0 ? "more" : undefined));
  queue.consume(async () => {});
});

test("one program gives a queue one set of options", () => {
  const hf = open();
  hf.queue(name, { maxLength: 5 });
  expect(() => hf.queue(name, { maxLength: 5 })).not.toThrow();
  expect(() => hf.queue(name)).not.toThrow();
  expect(() => hf.queue(name, { deadline: "1m", maxLength: 6 })).toThrow(
    /^maxLength of the queue 'queue-\d+' is 6 here, and 5 in an earlier hf.queue\(\) of this program: make one object/,
  );
  expect(() => hf.queue(name, { maxLength: 5, deadline: "1m" })).toThrow(
    /^deadline .* is "1m" here, and 30000 ms/,
  );
  expect(() => hf.queue(name, { maxAttempts: 5 })).toThrow(/^maxLength .* is the default here, and 5 in/);
  expect(() => hf.queue(name, { maxLength: 5, whenFull: "drop-oldest" })).toThrow(
    /^whenFull .* "drop-oldest"/,
  );
});

test("dedupe: the second push with an id gives the first message, until its time is over", async () => {
  const queue = queueOf();
  const dedupe = { id: "x}:queue", for: "1h" } as const;
  const first = await queue.push(1, { dedupe });
  const [second, third] = await Promise.all([queue.push(2, { dedupe }), queue.push(3)]);
  expect([second, third.isNew]).toEqual([{ id: first.id, isNew: false }, true]);
  expect(await popAll(queue)).toEqual([1, 3]);
  const short = { dedupe: { id: "short", for: 1 } } as const;
  await queue.push(4, short);
  await expect.poll(async () => (await queue.push(5, short)).isNew, PATIENT).toBe(true);
});

test("a delayed message comes when it is due, also to one that waits already", async () => {
  const queue = queueOf();
  await queue.push("much later", { delay: "1h" });
  expect(await queue.pop({ wait: 0 })).toBe(null);
  expect(await queue.state()).toMatchObject({ waiting: 0, delayed: 1 });
  const waiting = queue.pop(soon);
  await expect.poll(async () => (await queue.state()).idle, PATIENT).toBe(1);
  const before = performance.now();
  await queue.push("later", { delay: 100 });
  expect((await waiting)?.body).toBe("later");
  expect(performance.now() - before).toBeGreaterThan(95);
});

test("a full queue refuses, counts what is in flight, and takes again when there is room", async () => {
  const queue = queueOf<number>({ maxLength: 2 });
  const outcomes = await Promise.allSettled([queue.push(1), queue.push(2), queue.push(3)]);
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
  const delivery = await queue.receive(soon);
  await expect(queue.push(4)).rejects.toThrow(QueueFullError);
  await expect(queue.pushMany([4, 5])).rejects.toMatchObject({ queue: name, length: 2, limit: 2 });
  await delivery?.ack();
  await expect(queue.pushMany([4, 5])).rejects.toMatchObject({ length: 1, limit: 2 });
  await queue.push(4);
  expect(await popAll(queue)).toEqual([2, 4]);
});

test("drop-oldest displaces what waits, and not what is in flight", async () => {
  const queue = queueOf<number>({ maxLength: 3, whenFull: "drop-oldest" });
  await queue.push(1);
  const held = await queue.receive(soon);
  await queue.pushMany([2, 3]);
  await queue.pushMany([4, 5]);
  expect(await popAll(queue)).toEqual([4, 5]);
  await held?.ack();
});

test("a nack returns the message before later ones, with a larger token; the earlier ack is refused", async () => {
  const queue = queueOf<number>();
  await queue.pushMany([1, 2]);
  const first = await queue.receive(soon);
  await first?.nack();
  const second = await queue.receive(soon);
  expect([second?.body, second?.attempt]).toEqual([1, 2]);
  expect((second?.token ?? 0n) > (first?.token ?? 0n)).toBe(true);
  await expect(first?.ack()).rejects.toThrow(DeliveryLostError);
  await second?.ack();
});

test("a result waits for its message, is null without one in time, and tells of a dead letter", async () => {
  const queue = queueOf<number, number>({ maxAttempts: 1 });
  const { id } = await queue.push(7);
  expect(await queue.result(id, { wait: 0 })).toBe(null);
  expect(await queue.result(id, { wait: 20 })).toBe(null);
  const waiting = queue.result(id, soon);
  const doubled = queue.consume(async ({ body }) => body * 2);
  expect(await waiting).toMatchObject({ status: "done", result: 14 });
  await doubled.stop();
  const failing = queue.consume(async () => {
    throw new Error("no paper");
  });
  const dead = await queue.push(8);
  expect(await queue.result(dead.id, soon)).toEqual({ status: "dead", attempts: 1, reason: "no paper" });
  await failing.stop();
  await expect(queue.result("8")).rejects.toThrow(InvalidArgumentError);
  const controller = new AbortController();
  const aborted = queue.result("1763800000000000", { signal: controller.signal });
  controller.abort(new Error("enough"));
  await expect(aborted).rejects.toThrow("enough");
});

test("nothing is stored for undefined, and null is a result", async () => {
  const queue = queueOf<number, null>();
  const { id } = await queue.push(1);
  await (await queue.receive(soon))?.ack();
  expect(await queue.result(id, { wait: 0 })).toBe(null);
  const other = await queue.push(2);
  await (await queue.receive(soon))?.ack(null);
  expect(await queue.result(other.id)).toMatchObject({ status: "done", result: null });
});

test("dead letters are listed, the newest first, and driven back with all their attempts", async () => {
  const queue = queueOf<string>({ maxAttempts: 1 });
  const pushed = await queue.pushMany(["a", "b", "c"]);
  for (let place = 0; place < 3; place += 1) await (await queue.receive(soon))?.nack();
  const letters = await queue.dead();
  expect(bodiesOf(letters)).toEqual(["c", "b", "a"]);
  expect(letters[0]).toMatchObject({ id: pushed[2]?.id, attempts: 1, reason: expect.any(String) });
  expect(Math.abs((letters[0]?.atMs ?? 0) - Date.now())).toBeLessThan(60_000);
  expect(await queue.dead({ count: 1 })).toHaveLength(1);
  expect(await queue.redrive([pushed[1]?.id ?? ""])).toBe(1);
  expect(await queue.receive(soon)).toMatchObject({ body: "b", attempt: 1 });
  expect(await queue.redrive({ all: true })).toBe(2);
  expect((await queue.state()).dead).toBe(0);
});

test("keepDead bounds the dead letters", async () => {
  const queue = queueOf<number>({ maxAttempts: 1, keepDead: 2 });
  await queue.pushMany([1, 2, 3, 4]);
  for (let place = 0; place < 4; place += 1) await (await queue.receive(soon))?.nack();
  expect(bodiesOf(await queue.dead())).toEqual([4, 3]);
});

test("a paused queue delivers nothing in any process, and resume() wakes who waits", async () => {
  const [queue, other] = [queueOf<number>(), queueOf<number>()];
  await queue.pause();
  await queue.pause();
  await other.push(1);
  expect(await other.receive({ wait: 0 })).toBe(null);
  expect(await queue.state()).toMatchObject({ isPaused: true, waiting: 1 });
  const waiting = other.pop(soon);
  await queue.resume();
  expect((await waiting)?.body).toBe(1);
  expect((await queue.state()).isPaused).toBe(false);
});

test("drain() deletes what waits and what is delayed, and returns the number", async () => {
  const queue = queueOf<number>();
  await queue.pushMany([1, 2, 3]);
  await queue.push(4, { delay: "1h" });
  const held = await queue.receive(soon);
  expect(await queue.drain()).toBe(3);
  expect(await queue.state()).toMatchObject({ waiting: 0, delayed: 0, inFlight: 1 });
  await held?.ack();
});

test("reset() leaves no key, and the ack of a delivery in hands is refused", async () => {
  const queue = queueOf<number, number>({ maxAttempts: 1 });
  await queue.pushMany([1, 2, 3]);
  await queue.push(4, { delay: "1h", dedupe: { id: "x" } });
  await (await queue.receive(soon))?.nack();
  await (await queue.receive(soon))?.ack(5);
  const held = await queue.receive(soon);
  expect(await queue.reset()).toBe(true);
  const left = await redis.keys(`holdfast:{${name}}:queue*`);
  expect(left.filter((key) => !/:(dedupe|result):/.test(key))).toEqual([]);
  expect(await queue.reset()).toBe(false);
  await expect(held?.ack()).rejects.toMatchObject({ code: "DELIVERY_LOST", reason: "taken" });
  await queue.push(9);
  expect(await popAll(queue)).toEqual([9]);
});

test("state() of a queue that nobody has used", async () => {
  expect(await queueOf().state()).toMatchObject({
    name,
    exists: false,
    isPaused: false,
    waiting: 0,
    delayed: 0,
    inFlight: 0,
    returned: 0,
    dead: 0,
    idle: 0,
    processes: 0,
    oldestMs: null,
  });
});

test("close() ends waits and results, and refuses pushes", async () => {
  const hf = open();
  const queue = hf.queue(name);
  const waits = [queue.receive(), queue.pop(), queue.result("1763800000000000")].map((wait) =>
    wait.catch((error: unknown) => error),
  );
  await redis.ping();
  await hf.close();
  for (const error of await Promise.all(waits)) expect(error).toBeInstanceOf(ClosedError);
  await expect(queue.push(1)).rejects.toThrow(ClosedError);
  expect(() => hf.queue(name)).toThrow(ClosedError);
});

test("a promise of a handler that throws when it is touched is a failure, and ends no process", async () => {
  const queue = queueOf({ maxAttempts: 1 });
  const failed: unknown[] = [];
  const odd = new Error("odd");
  const throwing = (): Promise<void> =>
    Object.defineProperty(Promise.resolve(), "constructor", {
      get() {
        throw odd;
      },
    });
  const consumer = queue.consume(throwing, { onFailed: (error) => void failed.push(error) });
  await queue.push("a");
  await until("it is dead", async () => (await queue.state()).dead === 1);
  expect([failed, consumer.running]).toEqual([[odd], 0]);
});
