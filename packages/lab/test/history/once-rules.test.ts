/** The rules of work that is carried out once, on histories that keep them and that break them. */
import { describe, expect, test } from "vitest";
import { checkAnswers, checkFences, checkOneRun } from "../../src/history/once-rules.ts";
import type { Operation } from "../../src/history/operation.ts";

const never = (): boolean => false;
let seq = 0;

function operation(process: string, f: string, invMs: number, more: Partial<Operation> = {}): Operation {
  return { process, seq: seq++, f, key: "k", invMs, retMs: invMs + 10, type: "ok", ...more };
}

const run = (process: string, invMs: number, token: bigint, more: Partial<Operation> = {}): Operation =>
  operation(process, "run", invMs, { token, ...more });
const answer = (process: string, invMs: number, value: number, key = "k"): Operation =>
  operation(process, "once", invMs, { value, key });

describe("O1", () => {
  test("one result for all, and another one for another key, pass", () => {
    const history = [answer("a", 0, 1), answer("b", 5, 1), answer("b", 20, 2, "other"), answer("c", 900, 1)];
    expect(checkAnswers(history, never)).toEqual([]);
  });

  test("a call without an answer is none", () => {
    const failed = operation("b", "once", 5, { type: "fail", error: "ACQUIRE_TIMEOUT" });
    expect(checkAnswers([answer("a", 0, 1), failed], never)).toEqual([]);
  });

  test("two results of one key are found, unless data was lost in between", () => {
    const history = [answer("a", 3, 1), answer("b", 500, 2)];
    expect(checkAnswers(history, never)).toMatchObject([{ property: "O1", key: "k", atMs: 510 }]);
    expect(checkAnswers(history, (fromMs, toMs) => fromMs === 3 && toMs === 510)).toEqual([]);
  });
});

describe("O5", () => {
  test("rising fences pass, of a run that died as well", () => {
    const history = [run("a", 0, 1n, { retMs: null, type: "info" }), run("b", 500, 2n)];
    expect(checkFences(history, never)).toEqual([]);
  });

  test.each([1n, 2n])("a later run with fence %s after 2 is found, unless data was lost", (token) => {
    const history = [run("b", 500, token), run("a", 0, 2n)];
    expect(checkFences(history, never)).toMatchObject([{ property: "O5", atMs: 500 }]);
    expect(checkFences(history, () => true)).toEqual([]);
  });
});

describe("O3", () => {
  test("one run passes, after any number that failed; no call, no run", () => {
    const history = [run("a", 0, 1n, { type: "fail" }), run("b", 20, 2n), answer("b", 15, 2)];
    expect(checkOneRun(history)).toEqual([]);
    expect(checkOneRun([])).toEqual([]);
  });

  test("two runs, and an answer without a run, are found", () => {
    expect(checkOneRun([run("a", 0, 1n), run("b", 20, 2n)])).toMatchObject([{ property: "O3", atMs: 20 }]);
    expect(checkOneRun([answer("a", 0, 1)])).toMatchObject([{ property: "O3" }]);
  });
});
