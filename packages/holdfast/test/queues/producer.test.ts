/** Which pushes share a script, and what becomes of those without an answer; on a clock that the test moves and answers that it gives. */
import { ManualClock } from "@holdfast/conformance";
import { beforeEach, expect, test } from "vitest";
import { Producer } from "../../src/deliveries/producer.js";
import { ClosedError, IndeterminateError, QueueFullError, ServerError } from "../../src/errors.js";
import {
  type PushAnswer,
  type Pushed,
  type PushRequest,
  type QueueItem,
  QueuePushes,
} from "../../src/queues/pushes.js";
import type { PushExtras } from "../../src/queues/settings.js";
import { Schedule } from "../../src/time/schedule.js";

interface Sent extends PushRequest {
  readonly timeoutMs: number;
  answer(answer?: Partial<PushAnswer>): void;
  fail(error: Error): void;
}

let clock: ManualClock;
let sent: Sent[];
let producer: Producer<QueueItem, Pushed>;

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const pushedOf = ({ seq, bodies }: PushRequest) =>
  bodies.map((_, place) => ({ id: `${seq}-${place}`, isNew: true }));

beforeEach(() => {
  clock = new ManualClock();
  const own: Sent[] = [];
  sent = own;
  const scripts = {
    name: "q",
    settings: { maxLength: 5 },
    push: (request: PushRequest, timeoutMs: number) =>
      new Promise<PushAnswer>((resolve, reject) => {
        const answer = (given: Partial<PushAnswer> = {}): void =>
          resolve({ pushed: pushedOf(request), length: 1, dropped: 0, ...given });
        own.push({ ...request, timeoutMs, answer, fail: reject });
      }),
  };
  const context = { schedule: new Schedule(clock), random: { fraction: () => 0, id: () => "" } };
  producer = new Producer(
    new QueuePushes(scripts),
    { ...context, callTimeoutMs: 1_000 },
    { pushes: { last: 0 } },
  );
});

const bodiesOf = (): readonly (readonly string[])[] => sent.map(({ bodies }) => bodies);
const item = (body: string, extras: PushExtras | null = null): QueueItem => ({ body, extras });
const push = (body: string): Promise<string> => producer.push(item(body)).then(({ id }) => id);

test("the pushes of one turn share a script, and each gets its own id", async () => {
  const ids = Promise.all([push("a"), push("b"), push("c")]);
  await settled();
  expect(bodiesOf()).toEqual([["a", "b", "c"]]);
  sent[0]?.answer();
  expect(await ids).toEqual(["1-0", "1-1", "1-2"]);
});

test("a script has at most 500 bodies, and at most 64 kB of them unless one is larger", async () => {
  for (let count = 0; count < 501; count += 1) void push("x");
  const kb30 = "é".repeat(15_000);
  for (const body of [kb30, kb30, kb30, "y".repeat(100_000), "z"]) void push(body);
  await settled();
  expect(sent.map(({ bodies }) => bodies.length)).toEqual([500, 3, 1]);
  for (const one of [...sent]) one.answer();
  await settled();
  expect(sent.map(({ bodies }) => bodies.length)).toEqual([500, 3, 1, 1, 1]);
});

test("pushMany has a script of its own, which says that it is all or none, and keeps its place", async () => {
  void push("a");
  const many = producer.pushMany([item("b"), item("c")]);
  void push("d");
  await settled();
  expect(sent.map(({ bodies, isWhole }) => [isWhole, ...bodies])).toEqual([
    [false, "a"],
    [true, "b", "c"],
    [false, "d"],
  ]);
  sent[1]?.answer();
  expect((await many).map(({ id }) => id)).toEqual(["2-0", "2-1"]);
});

test("three scripts are under way at most, and pushes that come meanwhile share the next", async () => {
  for (const body of ["a", "b", "c", "d", "e"]) {
    void push(body);
    await settled();
  }
  expect(bodiesOf()).toEqual([["a"], ["b"], ["c"]]);
  sent[1]?.answer();
  await settled();
  expect(bodiesOf().slice(3)).toEqual([["d", "e"]]);
});

test("no script leaves before the one that is four older is settled, because the server forgets its answer", async () => {
  for (const body of ["a", "b", "c"]) {
    void push(body);
    await settled();
  }
  sent[1]?.answer();
  sent[2]?.answer();
  void push("d");
  await settled();
  sent[3]?.answer();
  void push("e");
  await settled();
  expect(bodiesOf()).toEqual([["a"], ["b"], ["c"], ["d"]]);
  sent[0]?.answer();
  await settled();
  expect(bodiesOf().slice(4)).toEqual([["e"]]);
});

test("extras go with their bodies only where a body has any", async () => {
  const extras = { delayMs: 5, dedupe: null };
  void push("a");
  void producer.push(item("b", extras));
  await settled();
  expect(sent[0]?.extras).toEqual([null, extras]);
  void push("c");
  await settled();
  expect(sent[1]?.extras).toBe(null);
});

test("a full queue refuses those that did not fit, with its length and its limit", async () => {
  const results = Promise.allSettled([push("a"), push("b")]);
  const many = Promise.allSettled([producer.pushMany([item("c"), item("d")])]);
  await settled();
  sent[0]?.answer({ pushed: [{ id: "1", isNew: true }], length: 5 });
  sent[1]?.answer({ pushed: [], length: 5 });
  const [first, second] = await results;
  expect(first).toEqual({ status: "fulfilled", value: "1" });
  expect(second).toMatchObject({ reason: { code: "QUEUE_FULL", queue: "q", length: 5, limit: 5 } });
  expect((await many)[0]).toMatchObject({ reason: expect.any(QueueFullError) });
});

test("a script without an answer is sent again under its number, within the time of the first", async () => {
  const pushed = push("a");
  await settled();
  clock.advance(300);
  sent[0]?.fail(new IndeterminateError("broken"));
  await settled();
  clock.advance(50);
  await settled();
  expect(sent.map(({ seq, timeoutMs }) => [seq, timeoutMs])).toEqual([
    [1, 1_000],
    [1, 650],
  ]);
  sent[1]?.answer();
  expect(await pushed).toBe("1-0");
});

test("an unknown outcome is told as such, with the remedy, also where the copy is refused", async () => {
  const results = Promise.allSettled([
    push("a"),
    producer.push(item("b", { delayMs: 0, dedupe: { id: "d", forMs: 1 } })),
  ]);
  await settled();
  sent[0]?.fail(new IndeterminateError("broken"));
  await settled();
  clock.advance(50);
  await settled();
  sent[1]?.fail(new ServerError("NOPERM this user may not"));
  const errors = (await results).map((one) => (one.status === "rejected" ? one.reason : null));
  expect(errors.map(({ code }) => code)).toEqual(["INDETERMINATE", "INDETERMINATE"]);
  expect(errors[0].message).toMatch(/'q' had no answer: a push with a dedupe id can be repeated; whether/);
  expect(errors[1].message).toMatch(/push again with the same dedupe id/);
});

test("a refusal of the first copy is the answer, and nothing is sent again", async () => {
  const pushed = push("a");
  await settled();
  sent[0]?.fail(new ServerError("OOM command not allowed"));
  await expect(pushed).rejects.toThrow(ServerError);
  expect(sent.length).toBe(1);
});

test("while the server is silent, calls that were not sent end after one to two time-outs, and later ones go on", async () => {
  const outcomes = new Map<string, string>();
  const note = (body: string): void =>
    void push(body).then(
      (id) => outcomes.set(body, id),
      ({ code }) => outcomes.set(body, code),
    );
  const wait = async (ms: number): Promise<void> => {
    clock.advance(ms);
    await settled();
  };
  const fail = async (place: number): Promise<void> => {
    sent[place]?.fail(new IndeterminateError("silent"));
    await settled();
  };
  for (const body of ["a", "b", "c"]) {
    note(body);
    await settled();
  }
  for (let count = 0; count < 2_500; count += 1) note(`${count}`);
  await wait(1_000);
  for (const place of [0, 1, 2]) await fail(place);
  expect(sent.slice(3).map(({ bodies }) => bodies.length)).toEqual([500, 500, 500]);
  await wait(1_000);
  note("later");
  for (const place of [3, 4, 5]) await fail(place);
  expect(outcomes.get("1499")).toBe("INDETERMINATE");
  expect([outcomes.get("1500"), outcomes.get("2499")]).toEqual(["UNAVAILABLE", "UNAVAILABLE"]);
  expect(sent[6]?.bodies).toEqual(["later"]);
  sent[6]?.answer();
  await settled();
  expect(outcomes.get("later")).toBe("7-0");
});

test("a healthy server may take longer than the time-out for many pushes", async () => {
  const ids: string[] = [];
  for (let count = 0; count < 5_000; count += 1) void push("x").then((id) => ids.push(id));
  await settled();
  for (let place = 0; place < 10; place += 1) {
    clock.advance(500);
    sent[place]?.answer();
    await settled();
  }
  expect(ids).toHaveLength(5_000);
});

test("close() refuses what is not sent, and waits for what is", async () => {
  const first = push("a");
  await settled();
  const second = push("b");
  const closing = producer.close();
  await expect(second).rejects.toThrow(ClosedError);
  await expect(push("c")).rejects.toThrow(ClosedError);
  sent[0]?.answer();
  await closing;
  expect(await first).toBe("1-0");
});
