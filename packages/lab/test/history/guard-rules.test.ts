/** The rule of guards, on histories that keep it and that break it. */
import { expect, test } from "vitest";
import { checkBars } from "../../src/history/guard-rules.ts";
import type { Operation } from "../../src/history/operation.ts";

function operation(f: string, invMs: number, value: unknown, more: Partial<Operation> = {}): Operation {
  return { process: "p", seq: invMs, f, key: "ann", invMs, retMs: invMs + 10, type: "ok", value, ...more };
}

const hit = (invMs: number, ok: boolean, barredMs = 0): Operation =>
  operation("hit", invMs, { ok, barredMs });

test("U1: a hit that is admitted within a penalty is found, unless the subject was pardoned", () => {
  const barred = hit(100, false, 500);
  expect(checkBars([hit(0, true), barred, hit(200, false), hit(620, true)])).toEqual([]);
  expect(checkBars([barred, hit(300, true)]).map(({ property }) => property)).toEqual(["U1"]);
  expect(checkBars([barred, operation("refund", 150, 2), hit(300, true)])).toEqual([]);
  expect(checkBars([barred, operation("refund", 150, 2, { type: "fail" }), hit(300, true)])).toHaveLength(1);
  expect(checkBars([operation("refund", 50, 2, { type: "info" }), barred, hit(300, true)])).toEqual([]);
});
