/** What the rules of events, latches and barriers find in histories made by hand. */
import { describe, expect, it } from "vitest";
import type { Operation } from "../../src/history/operation.ts";
import {
  checkBarriers,
  checkEvents,
  checkLatches,
  type SynchronizerFacts,
} from "../../src/history/synchronizers.ts";

const facts: SynchronizerFacts = {
  size: 2,
  lingersMs: 100,
  wasLost: () => false,
  wasClockSet: () => false,
  dueMs: (readyMs) => readyMs + 50,
  countsUntilMs: ({ retMs }) => (retMs ?? Number.POSITIVE_INFINITY) + 100,
};
const forgetful: SynchronizerFacts = { ...facts, wasLost: () => true };

let seq = 0;
function op(f: string, invMs: number, retMs: number | null, more: Partial<Operation> = {}): Operation {
  seq += 1;
  return {
    process: `p${seq}`,
    seq,
    f,
    key: "k",
    invMs,
    retMs,
    type: retMs === null ? "info" : "ok",
    ...more,
  };
}
const set = (token: bigint, invMs: number) => op("set", invMs, invMs + 5, { token });
const wait = (after: number, invMs: number, retMs: number, token?: bigint) =>
  op("wait", invMs, retMs, { value: String(after), ...(token === undefined ? {} : { token }) });
const count = (invMs: number, by: string | null = null, left: number | null = null) =>
  op("count down", invMs, invMs + 5, { value: { by, counted: true, left } });
const pass = (invMs: number, retMs: number | null, place: number | null, token = 9n) =>
  op("pass", invMs, retMs, place === null ? {} : { token, value: place });
const found = (breaches: readonly { readonly property: string }[]) =>
  breaches.map(({ property }) => property);

describe("events", () => {
  it.each([
    ["versions rise", [set(1n, 0), set(2n, 10)], []],
    ["a version falls", [set(2n, 0), set(1n, 10)], ["Y1"]],
    ["a version comes twice", [set(2n, 0), set(2n, 3)], ["Y1"]],
    ["a set ends a wait", [set(5n, 100), wait(0, 0, 110, 5n)], []],
    ["a set is missed", [set(5n, 100), wait(0, 0, 400)], ["Y2"]],
    ["a set comes just before the time is over", [set(5n, 380), wait(0, 0, 400)], []],
    ["a wait ends with what it has seen", [set(5n, 0), wait(5, 10, 20, 5n)], ["Y3"]],
    ["a wait ends with what nobody set", [set(5n, 0), wait(5, 10, 20, 6n)], ["Y3"]],
    ["nobody knows what a lost set was", [op("set", 0, null), wait(5, 10, 20, 6n)], []],
  ])("%s", (_, operations, broken) => {
    expect(found(checkEvents(operations, facts))).toEqual(broken);
  });

  it("two sets may have one version on both sides of a loss of data, whichever is looked at first", () => {
    const between = { ...facts, wasLost: (fromMs: number, toMs: number) => fromMs <= 50 && 50 <= toMs };
    for (const sets of [
      [set(2n, 0), set(2n, 90)],
      [set(2n, 90), set(2n, 0)],
    ])
      expect(checkEvents(sets, between)).toEqual([]);
  });

  it("what the server lost is no wake-up that was missed, and versions may begin again", () => {
    const operations = [set(2n, 0), set(1n, 10), wait(0, 20, 400)];
    expect(found(checkEvents(operations, forgetful))).toEqual([]);
  });
});

describe("latches", () => {
  const open = (invMs: number, retMs: number, token?: bigint) =>
    op("open", invMs, retMs, token === undefined ? {} : { token });
  it.each([
    ["two counts open it", [count(0), count(10), open(0, 20, 1n)], []],
    ["it is open too early", [count(0), open(0, 20, 1n)], ["Y4"]],
    [
      "a count of which nobody knows may have been one",
      [
        count(0),
        op("count down", 5, null, { value: { by: null, counted: true, left: null } }),
        open(0, 20, 1n),
      ],
      [],
    ],
    ["a party counts twice", [count(0, "a"), count(10, "a")], ["Y4"]],
    ["more is counted than was asked for", [count(0, null, 0)], ["Y4"]],
    ["an opening is missed", [count(0), count(10), open(0, 400)], ["Y5"]],
  ])("%s", (_, operations, broken) => {
    expect(found(checkLatches(operations, facts))).toEqual(broken);
  });
});

describe("barriers", () => {
  it.each([
    ["two pass together", [pass(0, 20, 0), pass(10, 20, 1)], []],
    ["two have one place", [pass(0, 20, 0), pass(10, 20, 0)], ["Y6"]],
    ["one passes alone, and another has given up", [pass(0, 8, null), pass(10, 20, 1)], ["Y6"]],
    ["one passes with another that died", [pass(0, null, null), pass(10, 20, 1)], []],
    ["one leaves before the other comes", [pass(0, 5, 0), pass(10, 20, 1)], ["Y6"]],
    ["two wait, and do not pass", [pass(0, 400, null), pass(10, 400, null)], ["Y7"]],
    ["three come, and one waits", [pass(0, 20, 0), pass(10, 20, 1), pass(15, 400, null)], []],
  ])("%s", (_, operations, broken) => {
    expect(found(checkBarriers(operations, facts))).toEqual(broken);
  });

  it("a server that lost its data may have counted anybody", () => {
    expect(found(checkBarriers([pass(0, 8, null), pass(10, 20, 1)], forgetful))).toEqual([]);
  });
});
