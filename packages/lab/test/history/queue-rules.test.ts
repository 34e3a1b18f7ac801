/** The rules of queues, on histories that keep them and that break them. */
import { describe, expect, test } from "vitest";
import { checkLost, Messages } from "../../src/history/messages.ts";
import type { Operation } from "../../src/history/operation.ts";
import { checkQueue, type QueueFacts } from "../../src/history/queue-rules.ts";

const never = (): boolean => false;
const facts: QueueFacts = {
  ...{ endMs: 10_000, order: "fifo", maxAttempts: 3, wasLost: never, wasClockSet: never },
  judgesSeen: true,
  dueMs: (readyMs) => readyMs + 100,
};
let seq = 0;

function operation(f: string, invMs: number, value: unknown, more: Partial<Operation> = {}): Operation {
  return { process: "p", seq: seq++, f, key: "jobs", invMs, retMs: invMs + 10, type: "ok", value, ...more };
}

const push = (invMs: number, ids: readonly string[], more: object = {}, mark?: number): Operation =>
  operation(
    "push",
    invMs,
    { messages: ids.map((id) => ({ body: `body ${id}`, id, isNew: true })), ...more },
    mark === undefined ? {} : { serverUs: mark },
  );
const deliver = (invMs: number, id: string, token: bigint, attempt = 1): Operation =>
  operation("deliver", invMs, { id, body: `body ${id}`, attempt }, { token });
const ack = (invMs: number, id: string, token: bigint, more: Partial<Operation> = {}): Operation =>
  operation("ack", invMs, { id, result: `by ${token}` }, { token, ...more });

const rulesOf = (history: Operation[], more: Partial<QueueFacts> = {}): string[] =>
  checkQueue(history, { ...facts, ...more }).map(({ property }) => property);

test("messages that are pushed, delivered and acknowledged in their order pass", () => {
  const history = [
    ...[push(0, ["11", "12"], {}, 12), deliver(20, "11", 13n), deliver(25, "12", 14n)],
    ...[ack(30, "11", 13n), ack(35, "12", 14n)],
    operation("result", 60, { id: "11", status: "done", result: "by 13", token: "13" }),
    operation("left", 70, { ids: [] }),
  ];
  expect(rulesOf(history)).toEqual([]);
});

test("Q10: a delivery after a cancel is found, and an outcome that nobody asked for is one of Q7", () => {
  const cancel = operation("cancel", 20, { id: "11", isCancelled: true }, { serverUs: 12 });
  const cancelled = operation("result", 60, { id: "11", status: "cancelled" });
  expect(rulesOf([push(0, ["11"]), cancel, cancelled])).toEqual([]);
  expect(rulesOf([push(0, ["11"]), cancel, deliver(40, "11", 13n)])).toEqual(["Q10"]);
  expect(rulesOf([push(0, ["11"]), deliver(20, "11", 13n), ack(30, "11", 13n), cancelled])).toEqual(["Q7"]);
});

describe("Q1", () => {
  test("a message that nobody acknowledged and that is not there is found, unless data was lost", () => {
    const history = [push(0, ["11", "12"]), deliver(20, "11", 13n), ack(30, "11", 13n)];
    expect(rulesOf(history)).toEqual(["Q1"]);
    expect(rulesOf(history, { wasLost: (fromMs, toMs) => fromMs === 0 && toMs === 10_000 })).toEqual([]);
    expect(rulesOf([...history, operation("left", 50, { ids: ["12"] })])).toEqual([]);
  });

  test("an ack without an answer may have counted, a refused one has not, and a pop that died takes one message", () => {
    const begun = [push(0, ["11"]), deliver(20, "11", 13n)];
    expect(rulesOf([...begun, ack(30, "11", 13n, { type: "info" })])).toEqual([]);
    expect(rulesOf([...begun, ack(30, "11", 13n, { type: "fail" })])).toEqual(["Q1"]);
    const pop = operation("pop", 20, undefined, { type: "info", retMs: null });
    expect(rulesOf([push(0, ["11"]), pop])).toEqual([]);
    expect(rulesOf([push(0, ["11", "12"]), pop])).toEqual(["Q1"]);
  });

  test("what is left counts as of the last look, and later pushes are not judged", () => {
    const left = (invMs: number, ids: string[]): Operation => operation("left", invMs, { ids });
    const lost = checkLost("Q1", new Messages([push(0, ["11"]), left(20, ["11"]), left(40, [])]), facts);
    expect(lost).toMatchObject([{ property: "Q1" }]);
    expect(rulesOf([left(20, []), push(15, ["12"])])).toEqual([]);
  });
});

describe("Q2 and Q3", () => {
  const begun = [push(0, ["11"]), deliver(20, "11", 13n), deliver(40, "11", 14n, 2)];

  test("a redelivery with a larger token passes, and so does the refusal of the older one", () => {
    expect(rulesOf([...begun, ack(50, "11", 13n, { type: "fail" }), ack(55, "11", 14n)])).toEqual([]);
  });

  test("two acks that counted are found, and so is a delivery after one", () => {
    expect(rulesOf([...begun, ack(50, "11", 14n), ack(70, "11", 14n)])).toContain("Q2");
    expect(
      rulesOf([push(0, ["11"]), deliver(20, "11", 13n), ack(25, "11", 13n), deliver(40, "11", 14n, 2)]),
    ).toEqual(["Q2"]);
  });

  test("an ack with an older token is found, and so are one token for two deliveries and attempts that fall", () => {
    expect(rulesOf([...begun, ack(50, "11", 13n)])).toContain("Q3");
    expect(rulesOf([...begun, deliver(50, "11", 14n, 2), ack(60, "11", 14n)])).toContain("Q3");
    expect(
      rulesOf([push(0, ["11"]), deliver(20, "11", 13n, 2), deliver(30, "11", 14n, 1), ack(60, "11", 14n)]),
    ).toEqual(["Q3"]);
  });

  test("an ack that is refused in time is found", () => {
    const late = operation("ack", 30, { id: "11", isInTime: true }, { token: 13n, type: "fail" });
    expect(
      rulesOf([push(0, ["11"]), deliver(20, "11", 13n), late, operation("left", 60, { ids: ["11"] })]),
    ).toEqual(["Q3"]);
  });
});

describe("Q4", () => {
  const both = push(0, ["11", "12"], {}, 12);
  const done = [ack(80, "11", 14n, { type: "info" }), ack(85, "12", 13n, { type: "info" })];

  test("the second before the first is found for fifo, and is right for lifo", () => {
    const history = [both, deliver(20, "12", 13n), deliver(25, "11", 14n), ...done];
    expect(rulesOf(history)).toEqual(["Q4"]);
    expect(rulesOf(history, { order: "lifo" })).toEqual([]);
    expect(rulesOf(history, { order: null })).toEqual([]);
  });

  test("a returned message goes before fresh ones", () => {
    const nack = operation("nack", 30, { id: "11", delayMs: 0 }, { token: 13n, serverUs: 13 });
    const again = [deliver(50, "12", 15n), deliver(60, "11", 16n, 2)];
    const end = [ack(80, "11", 16n), ack(85, "12", 15n)];
    expect(rulesOf([both, deliver(20, "11", 13n), nack, ...again, ...end])).toEqual(["Q4"]);
  });
});

describe("Q6", () => {
  test("a push after the next server has begun, whose clock is behind, is not the first one", () => {
    const dedupe = { dedupe: { id: "d", forMs: 500 } };
    expect(
      rulesOf([push(0, ["21"], dedupe), push(1_000, ["11"], dedupe)], { order: null, wasLost: () => true }),
    ).toEqual([]);
    expect(rulesOf([push(0, ["21"], dedupe), push(1_000, ["11"], dedupe)], { order: null })).not.toContain(
      "Q6",
    );
  });

  const dedupe = { dedupe: { id: "a", forMs: 500 } };
  const known = (invMs: number, id: string): Operation =>
    operation("push", invMs, { messages: [{ body: "another", id, isNew: false }], ...dedupe });
  const end = ack(900, "11", 20n, { type: "info" });

  test("one message for a dedupe id within its time, and another one after it, pass", () => {
    const second = [push(600, ["12"], dedupe), ack(900, "12", 20n, { type: "info" })];
    expect(rulesOf([push(0, ["11"], dedupe), known(100, "11"), end, ...second])).toEqual([]);
  });

  test("two messages within its time, a hit after it, and a hit on a stranger, are found", () => {
    const second = [push(300, ["12"], dedupe), ack(900, "12", 20n, { type: "info" })];
    expect(rulesOf([push(0, ["11"], dedupe), end, ...second])).toEqual(["Q6"]);
    expect(rulesOf([push(0, ["11"], dedupe), end, known(600, "11")])).toEqual(["Q6"]);
    expect(rulesOf([known(600, "11")])).toEqual(["Q6"]);
  });

  test("one body under two ids is found", () => {
    const double = operation("deliver", 50, { id: "12", body: "body 11", attempt: 1 }, { token: 14n });
    expect(rulesOf([push(0, ["11"]), deliver(20, "11", 13n), end, double])).toEqual(["Q6"]);
  });

  test("a push that was sent again after data was lost has the second id, and the first one was delivered before", () => {
    const resent = push(0, ["12"]);
    const first = operation("deliver", 5, { id: "11", body: "body 12", attempt: 1 }, { token: 13n });
    const history = [{ ...resent, retMs: 60 }, first, deliver(70, "12", 14n), ack(80, "12", 14n)];
    const lostAt = (atMs: number) => (fromMs: number, toMs: number) => fromMs <= atMs && atMs <= toMs;
    expect(rulesOf(history)).toEqual(["Q6"]);
    expect(rulesOf(history, { wasLost: lostAt(50) })).toEqual([]);
    expect(rulesOf(history, { wasLost: lostAt(65) })).toEqual(["Q6"]);
  });
});

describe("Q7 and Q8", () => {
  const begun = [push(0, ["11"]), deliver(20, "11", 13n), ack(30, "11", 13n)];
  const result = (invMs: number, more: object): Operation =>
    operation("result", invMs, { id: "11", ...more });

  test("a result of another delivery, another value, and a wait that missed it, are found", () => {
    expect(rulesOf([...begun, result(60, { status: "done", result: "by 13", token: "12" })])).toEqual(["Q7"]);
    expect(rulesOf([...begun, result(60, { status: "done", result: "x", token: "13" })])).toEqual(["Q7"]);
    expect(rulesOf([...begun, result(60, { status: null })])).toEqual([]);
    expect(rulesOf([...begun, result(600, { status: null })])).toEqual(["Q7"]);
  });

  test("an attempt too many, and a dead letter that was acknowledged or is another one, are found", () => {
    const dead = (body: string, attempts = 3): Operation =>
      operation("dead", 90, { letters: [{ id: "11", body, attempts, reason: "r" }] });
    expect(rulesOf([push(0, ["11"]), deliver(20, "11", 13n, 4), ack(30, "11", 13n)])).toEqual(["Q8"]);
    const seen = [push(0, ["11"]), deliver(20, "11", 13n, 3)];
    expect(rulesOf([...seen, dead("body 11")])).toEqual([]);
    expect(rulesOf([...seen, dead("body")])).toEqual(["Q8"]);
    expect(rulesOf([...seen, dead("body 11", 2)])).toEqual(["Q8"]);
    expect(rulesOf([...begun, dead("body 11")])).toEqual(["Q8"]);
  });

  test("a dead letter that nobody has seen, and one that nobody failed at, are found", () => {
    const dead = (reason: string): Operation =>
      operation("dead", 90, { letters: [{ id: "11", body: "body 11", attempts: 3, reason }] });
    const seen = [push(0, ["11"]), deliver(20, "11", 13n, 3)];
    expect(rulesOf([push(0, ["11"]), dead("its deadline passed")])).toEqual(["Q13"]);
    expect(rulesOf([...seen, dead("")])).toEqual(["Q13"]);
    expect(rulesOf([...seen, dead("it failed")])).toEqual([]);
  });

  test("what was cleared, redriven, dropped or pushed out of the dead letters is not lost", () => {
    const gone = [push(0, ["11"]), operation("left", 90, { ids: [] })];
    expect(rulesOf(gone)).toEqual(["Q1"]);
    expect(rulesOf([...gone, operation("clear", 10, undefined)])).toEqual([]);
    expect(rulesOf(gone, { dropped: 1 })).toEqual([]);
    expect(rulesOf(gone, { keptDead: 0 })).toEqual([]);
    const again = [push(0, ["11"]), deliver(20, "11", 13n, 2), deliver(40, "11", 14n, 1), ack(50, "11", 14n)];
    expect(rulesOf(again)).toEqual(["Q3"]);
    expect(rulesOf([...again, operation("redrive", 30, undefined)])).toEqual([]);
  });
});
