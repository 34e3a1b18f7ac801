/** What several nodes say of one lock, as one state. */
import { describe, expect, test } from "vitest";
import { mergeStates } from "../../src/locks/backends/redlock/merged-state.js";
import type { LockState, LockWaiter } from "../../src/locks/inspection.js";

describe("lines of several nodes", () => {
  const waiter = (id: string, silentMs = 5): LockWaiter => ({ id, process: null, silentMs, ttlMs: 100 });
  const state = (ids: readonly string[]): LockState => ({
    name: "n",
    holder: null,
    waiters: ids.map((id) => waiter(id)),
    waiting: ids.length,
    lastFence: 1n,
    banned: 0,
  });
  test.each([
    {
      lines: [
        ["a", "b"],
        ["a", "b"],
        ["a", "b"],
      ],
      merged: "a b",
    },
    { lines: [["a", "c"], ["a", "b", "c"], ["b"]], merged: "a b c" },
    { lines: [["c"], ["b", "c"], ["a", "b"]], merged: "a b c" },
    { lines: [["a.1", "b"], ["a.3", "b.2"], []], merged: "a b" },
    {
      lines: [
        ["a", "b"],
        ["b", "a"],
      ],
      merged: "a b",
    },
    { lines: [[], []], merged: "" },
  ])("$lines are $merged", ({ lines, merged }) => {
    const { waiters, waiting } = mergeStates("n", lines.map(state), 2);
    expect(waiters.map(({ id }) => id).join(" ")).toBe(merged);
    expect(waiting).toBe(waiters.length);
  });
});
