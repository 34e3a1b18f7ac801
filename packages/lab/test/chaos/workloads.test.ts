/** Workloads beside the mutex: what is theirs in a round, and what each rule finds in a history made by hand. */
import { expect, it } from "vitest";
import type { Fault } from "../../src/chaos/fault.ts";
import { judge } from "../../src/chaos/judge.ts";
import type { Operation } from "../../src/history/operation.ts";
import { historyOf, roundOf } from "./rounds.ts";

const loss: Fault = {
  ...{ kind: "flushall", target: "server", detail: "", breaks: "memory" },
  ...{ fromMs: 350, toMs: 351 },
};

/** Seven in seven tenths of a second, of a limit that admits five in one. */
function takes(process: string): Operation[] {
  return Array.from({ length: 7 }, (_, seq) => {
    const invMs = seq * 100;
    return {
      process,
      seq,
      f: "take",
      key: "sms",
      invMs,
      retMs: invMs + 5,
      type: "ok",
      value: 1,
      limitMs: 600,
    };
  });
}

function verdictOf(operations: Operation[], faults: Fault[] = [], workload = "limit") {
  const { violations, nouns } = judge(roundOf(historyOf(...operations), faults, { workloads: [workload] }));
  return { properties: violations.map(({ property }) => property), noun: nouns[0] };
}

it("an operation of a workload is judged by its rules, and one of its naive recipe is no violation", () => {
  expect(verdictOf(takes("w1.limit-0"))).toMatchObject({ properties: ["A1"], noun: { done: 7, caught: [] } });
  const naive = verdictOf(takes("w1.naive-limit-0"));
  expect(naive).toMatchObject({ properties: [], noun: { done: 0 } });
  expect(naive.noun?.caught).toHaveLength(1);
});

it("what the server forgot is not counted", () => {
  expect(verdictOf(takes("w1.limit-0"), [loss]).properties).toEqual([]);
});

it("a call that takes longer than it said is late", () => {
  const [first] = takes("w1.limit-0") as [Operation];
  expect(verdictOf([{ ...first, retMs: 5_000 }]).properties).toEqual(["P1"]);
});

it("a signal to one that two waiters heard is found, unless the server forgot in between", () => {
  const heard = (process: string, retMs: number): Operation => ({
    ...{ process, seq: 0, f: "wait", key: "bell", type: "ok", nonce: "w1 1" },
    ...{ invMs: 250, retMs, limitMs: 1_500 },
  });
  const emission: Operation = {
    ...{ process: "w1.signal-0", seq: 0, f: "emitOne", key: "bell", type: "info", nonce: "w1 1" },
    ...{ invMs: 300, retMs: 330, limitMs: 600 },
  };
  const operations = [emission, heard("w2.signal-0", 340), heard("w3.signal-0", 700)];
  expect(verdictOf(operations, [], "signal").properties).toContain("S2");
  expect(verdictOf(operations, [loss], "signal").properties).not.toContain("S2");
});

/** A campaign of a worker that was won, and for how long it led. */
function reign(worker: string, term: bigint, fromMs: number, endMs: number): Operation[] {
  const common = {
    process: `${worker}.election-0`,
    key: "boss",
    token: term,
    nonce: `${worker} ${term}`,
    type: "ok",
  } as const;
  return [
    { ...common, seq: 0, f: "campaign", invMs: fromMs - 5, retMs: fromMs },
    { ...common, seq: 1, f: "hold", invMs: fromMs, retMs: endMs, endMs },
  ];
}

it("two leaders at one time, and terms that fall, are found, unless the server forgot in between", () => {
  const found = (one: Operation[], other: Operation[], faults: Fault[] = []): string[] =>
    verdictOf([...one, ...other], faults, "election").properties;
  expect(found(reign("w1", 1n, 100, 200), reign("w2", 2n, 201, 300))).toEqual([]);
  expect(found(reign("w1", 1n, 100, 250), reign("w2", 2n, 201, 300))).toEqual(["L4"]);
  expect(found(reign("w1", 2n, 100, 200), reign("w2", 1n, 210, 300))).toEqual(["L2"]);
  expect(found(reign("w1", 1n, 100, 450), reign("w2", 1n, 401, 500), [loss])).toEqual([]);
});

/** Permits of a worker, and for how long it had them. */
function permits(worker: string, key: string, count: number, [fromMs, endMs]: [number, number]): Operation[] {
  const common = {
    process: `${worker}.permits-0`,
    key,
    token: BigInt(fromMs),
    nonce: `${worker} ${fromMs}`,
    type: "ok",
  } as const;
  return [
    { ...common, seq: 0, f: "acquire", invMs: fromMs - 5, retMs: fromMs },
    { ...common, seq: 1, f: "hold", invMs: fromMs, retMs: endMs, endMs, value: count },
  ];
}

it("more permits than there are, and a reader beside a writer, are found", () => {
  const found = (...held: Operation[][]): string[] => verdictOf(held.flat(), [], "permits").properties;
  const writer = 1_000_000_000;
  expect(found(permits("w1", "pool", 1, [100, 300]), permits("w2", "pool", 1, [101, 300]))).toEqual([]);
  expect(found(permits("w1", "pool", 1, [100, 300]), permits("w2", "pool", 2, [101, 300]))).toEqual(["L4"]);
  expect(found(permits("w1", "book", 1, [100, 300]), permits("w2", "book", 1, [101, 300]))).toEqual([]);
  expect(found(permits("w1", "book", writer, [100, 200]), permits("w2", "book", 1, [200, 300]))).toEqual([]);
  expect(found(permits("w1", "book", writer, [100, 201]), permits("w2", "book", 1, [200, 300]))).toEqual([
    "L4",
  ]);
});

/** An operation of the workload of all locks together. */
function step(worker: string, f: string, key: string, about: Partial<Operation>): Operation {
  const process = `${worker}.family-0`;
  return { process, seq: 0, f, key, type: "ok", invMs: 0, retMs: 1, ...about } as Operation;
}

it("a grant between a giver and its adopter is found, and a re-entry with another fence", () => {
  const found = (...operations: Operation[]): string[] => verdictOf(operations, [], "family").properties;
  const adoption = step("w2", "adopt", "first", { token: 30n, value: "10", invMs: 300, retMs: 310 });
  const grant = (token: bigint) =>
    step("w3", "acquire", "first", { token, invMs: 100 + Number(token), retMs: 105 + Number(token) });
  expect(found(adoption, grant(9n))).toEqual([]);
  expect(found(adoption, grant(20n))).toEqual(["C4"]);
  expect(found(adoption, { ...grant(20n), key: "second" })).toEqual([]);
  expect(found(step("w1", "re-enter", "first", { value: ["7", "7"] }))).toEqual([]);
  expect(found(step("w1", "re-enter", "first", { value: ["7", "8"] }))).toEqual(["C5"]);
});

it("a grant among many was asked for with the others, and has a token by when its server granted it", () => {
  const grants = (begunMs: number): string[] =>
    verdictOf(
      [
        step("w1", "take all", "first+second", { invMs: begunMs, retMs: 200 }),
        step("w2", "acquire", "first", { token: 9n, invMs: 150, retMs: 160 }),
        step("w1", "acquire", "first", { token: 8n, value: "of many", invMs: 201, retMs: 202 }),
      ].map((one, seq) => ({ ...one, seq })),
      [],
      "family",
    ).properties;
  expect(grants(100)).toEqual([]);
  expect(grants(170)).toEqual(["L2"]);
});

it("a circle whose waits were never at the same time is found", () => {
  const circle = (retMs: number, faults: Fault[] = []): string[] => {
    const told = '[["second","2"],["first","1"]]';
    const operations = [
      step("w1", "acquire", "first", { token: 1n, invMs: 10, retMs: 12 }),
      step("w2", "acquire", "second", { token: 2n, invMs: 10, retMs: 13 }),
      step("w2", "acquire", "first", { type: "fail", invMs: 20, retMs }),
      step("w1", "acquire", "second", { type: "fail", invMs: 400, retMs: 900 }),
      step("w1", "circle", "second", { value: told, invMs: 901, retMs: 902 }),
    ];
    return verdictOf(
      operations.map((one, seq) => ({ ...one, seq })),
      faults,
      "family",
    ).properties;
  };
  expect(circle(950)).toEqual([]);
  // A wait that goes on after the server has forgotten is a wait.
  expect(circle(950, [{ ...loss, fromMs: 940, toMs: 941 }])).toEqual([]);
  expect(circle(300)).toEqual(["C2"]);
});
