/** The corners of the checkers that histories at random do not reach. */
import { describe, expect, test } from "vitest";
import { checkFence } from "../../src/history/fence.ts";
import { checkIntervals } from "../../src/history/intervals.ts";
import type { Operation } from "../../src/history/operation.ts";
import { checkTokens } from "../../src/history/tokens.ts";
import { checkSettling, checkTries, checkWaiting } from "../../src/history/waiting.ts";

/** "w1 acquire 0-5", and whatever else there is to say. */
function op(said: string, more: Partial<Operation> = {}): Operation {
  const [process = "", f = "", time = ""] = said.split(" ");
  const [invMs, retMs] = time.split("-").map((part) => (part === "" ? null : Number(part)));
  const type = retMs === null ? "info" : "ok";
  return { process, seq: invMs!, f, key: "k", invMs: invMs!, retMs: retMs ?? null, type, ...more };
}

function said(violations: readonly { readonly property: string; readonly message: string }[]): string[] {
  return violations.map(({ property, message }) => `${property}: ${message}`);
}

describe("tokens", () => {
  test("that lie further apart than a number is exact", () => {
    const grants = [
      op("a acquire 9-10", { token: 2n ** 64n - 1n }),
      op("b acquire 0-1", { token: 0n }),
      op("c acquire 5-6", { token: 2n ** 63n + 1n }),
      op("d acquire 7-8", { token: 2n ** 63n }),
    ];
    const violations = checkTokens(grants);
    expect(violations).toMatchObject([{ property: "L2", operations: [grants[2], grants[3]] }]);
  });

  test("in thousands, in no order, one of them twice and one too small", () => {
    const rows = 5_000;
    const grants: Operation[] = [];
    for (let at = 0; at < rows; at++) {
      const token = 10n ** 15n + 1_000_000n * BigInt(at);
      grants[(at * 7_919) % rows] = op(`p${at} acquire ${2 * at}-${2 * at + 1}`, { token });
    }
    expect(checkTokens(grants)).toEqual([]);
    const [early, late] = [(100 * 7_919) % rows, (4_000 * 7_919) % rows];
    grants[late] = { ...grants[late]!, token: grants[early]!.token! };
    const [first, ...others] = checkTokens(grants);
    expect(first).toMatchObject({ property: "L1", key: "k" });
    expect(first?.operations.map(({ process }) => process).sort()).toEqual(["p100", "p4000"]);
    expect(others.map(({ property }) => property)).toEqual(Array.from({ length: 19 }, () => "L2"));
    expect(others[0]?.operations.map(({ process }) => process)).toEqual(["p101", "p4000"]);
  });

  test("of other operations, and of other keys", () => {
    const terms = [op("a lead 0-1", { token: 1n }), op("b lead 2-3", { token: 1n })];
    expect(checkTokens(terms)).toEqual([]);
    expect(said(checkTokens(terms, { f: ["lead"] }))[0]).toBe(
      'L1: a and b were both granted "k" with token 1',
    );
    expect(
      checkTokens([op("a acquire 0-1", { token: 1n }), op("b acquire 2-3", { token: 1n, key: "l" })]),
    ).toEqual([]);
  });

  test("that were seen after all count, from an acquire whose return says nothing", () => {
    const seen = op("a acquire 0-1", { type: "info", token: 9n });
    expect(checkTokens([seen, op("b acquire 2-3", { token: 8n })])).toEqual([]);
    expect(said(checkTokens([op("b acquire 2-3", { token: 10n }), { ...seen, invMs: 4 }]))[0]).toBe(
      'L2: a asked for "k" at 4 ms and was granted token 9, although b had been granted the larger token 10 at 3 ms',
    );
  });
});

describe("intervals", () => {
  const overlap = [op("a hold 0-10"), op("b hold 5-15")];

  test("within an exception, and until its leases have run out, nobody promises anything", () => {
    expect(said(checkIntervals(overlap))).toEqual([
      'L4: from 5 ms on, "k" was held at one time by a until 10 ms, and by b until 15 ms',
    ]);
    expect(checkIntervals(overlap, { exceptions: [{ fromMs: 5, toMs: 10 }] })).toEqual([]);
    expect(checkIntervals(overlap, { exceptions: [{ fromMs: 3, toMs: 6 }], settleMs: 4 })).toEqual([]);
    expect(checkIntervals(overlap, { exceptions: [{ fromMs: 3, toMs: 6 }] })[0]?.atMs).toBe(6);
    expect(checkIntervals(overlap, { exceptions: [{ fromMs: 6, toMs: 12 }] })[0]?.atMs).toBe(5);
  });

  test("permits add up; a writer takes all of them", () => {
    const holds = [...overlap, op("c hold 8-9")];
    expect(checkIntervals(holds, { limit: 3 })).toEqual([]);
    expect(checkIntervals(holds, { limit: 2 })[0]?.message).toContain("with 3 permits of 2");
    const permitsOf = ({ process }: Operation) => (process === "c" ? 100 : 1);
    expect(checkIntervals(overlap, { limit: 100, permitsOf })).toEqual([]);
    expect(checkIntervals(holds, { limit: 100, permitsOf })[0]?.atMs).toBe(8);
  });

  test("the dead hold nothing, and the living what they never gave back", () => {
    const grants = [op("a acquire 0-1"), op("b acquire 5-6")];
    expect(checkIntervals(grants)[0]?.message).toContain("by a and never given back");
    expect(checkIntervals(grants, { deathsMs: new Map([["a", 4]]) })).toEqual([]);
    expect(checkIntervals([{ ...grants[0]!, validUntilMs: 6 }, grants[1]!])).toEqual([]);
    expect(checkIntervals([op("a acquire 0-1"), op("a release 5-9"), op("b acquire 5-6")])).toEqual([]);
  });
});

describe("a fence", () => {
  test("may refuse for whatever may have come before, and for other reasons", () => {
    const late = op("a write 5-6", { type: "fail", token: 1n, error: "STALE_TOKEN" });
    expect(said(checkFence([late]))[0]).toContain("although nobody had come with a larger one");
    expect(checkFence([late, op("b write 0-", { token: 2n })])).toEqual([]);
    expect(checkFence([{ ...late, error: "ECONNREFUSED" }])).toEqual([]);
  });

  test("is judged by time where the resource does not tell its order", () => {
    const visits = [op("b write 0-1", { token: 2n }), op("a write 2-3", { token: 1n })];
    expect(said(checkFence(visits))[0]).toContain("although it had accepted token 2 of b before");
    expect(checkFence([visits[0]!, { ...visits[1]!, invMs: 1 }])).toEqual([]);
  });
});

describe("waiting", () => {
  const terms = { withinMs: 5, ttlMs: 20, endMs: 100 };

  test("behind a free lock is a violation, a fault starts the time anew, and a lost lease is waited for", () => {
    const released = [op("a acquire 0-1"), op("a release 2-3"), op("b acquire 1-30", { seq: 0 })];
    expect(said(checkWaiting(released, terms))).toEqual([
      'W1: b waited for "k", which was free from 3 ms to 30 ms, longer than 5 ms',
    ]);
    expect(checkWaiting(released, { ...terms, faults: [{ fromMs: 8, toMs: 25 }] })).toEqual([]);
    const lost = [op("a acquire 0-1", { validUntilMs: 9 }), op("b acquire 1-30", { seq: 0 })];
    expect(checkWaiting(lost, terms)).toEqual([]);
    // Renewed until close() gave it back.
    const closed = [
      op("a acquire 0-1", { validUntilMs: 5 }),
      op("b acquire 2-62"),
      op("a release 60-61", { type: "fail", error: "closed" }),
    ];
    expect(checkWaiting(closed, terms)).toEqual([]);
    expect(checkWaiting([op("b acquire 1-")], terms)).toHaveLength(1);
    expect(checkWaiting([op("b acquire 1-")], { ...terms, deathsMs: new Map([["b", 4]]) })).toEqual([]);
  });

  test("is what a try does not do, and it may be told busy only where somebody has it or wants it", () => {
    const told = op("b acquire 6-7", { type: "fail", error: "busy" });
    const atOnce = { ...told, retMs: told.invMs };
    for (const busy of [told, atOnce]) {
      const broken = `W1: b was told at ${busy.retMs} ms that "k" is busy, and nobody held it or asked for it`;
      expect(said(checkTries([busy], terms))).toEqual([broken]);
      expect(said(checkTries([op("a acquire 0-1"), op("a release 2-3"), busy], terms))).toEqual([broken]);
      expect(checkTries([op("a acquire 0-1"), op("a release 8-9"), busy], terms)).toEqual([]);
      expect(checkTries([op("a acquire 5-8"), busy], terms)).toEqual([]);
      expect(checkTries([op("a acquire 0-"), busy], terms)).toEqual([]);
      expect(checkTries([busy], { ...terms, faults: [{ fromMs: 0, toMs: 7 }] })).toEqual([]);
    }
  });

  test("is no answer to a try while a lock that lingered goes back", () => {
    const calls = [
      op("a acquire 0-1"),
      op("a release 2-2"),
      op("b acquire 28-29", { type: "fail", error: "busy" }),
    ];
    expect(checkTries(calls, { ...terms, lingerMs: () => 20 })).toHaveLength(1);
    expect(checkTries(calls, { ...terms, lingerMs: () => 23 })).toEqual([]);
  });

  test("for an answer counts outside faults", () => {
    const call = op("a acquire 10-50");
    const withinMs = () => 30;
    expect(said(checkSettling([call], { withinMs, endMs: 100 }))).toEqual([
      'P1: a\'s acquire of "k" took 40 ms without a fault, longer than 30 ms',
    ]);
    expect(checkSettling([call], { withinMs, endMs: 100, faults: [{ fromMs: 0, toMs: 20 }] })).toEqual([]);
    expect(checkSettling([op("a acquire 10-")], { withinMs, endMs: 39 })).toEqual([]);
    expect(checkSettling([op("a acquire 10-")], { withinMs, endMs: 41 })).toHaveLength(1);
  });
});
