/**
 * Work that is carried out once for a key: an operation "run" for each time that the work ran, with its fence in `token`, and an
 * operation "once" for each call, with the number of the run that answered it in `value`.
 */
import type { Operation } from "./operation.js";
import { type Breach, byKey, ms } from "./violation.js";

/** Whether the data may have been lost between two times. */
type WasLost = (fromMs: number, toMs: number) => boolean;

/** O1: all callers of a key get one result, whoever ran. */
export function checkAnswers(operations: Iterable<Operation>, wasLost: WasLost): Breach[] {
  return [...byKey(operations)].flatMap(([key, all]) => {
    const answers = all.filter(({ f, type, value }) => f === "once" && type === "ok" && value !== undefined);
    const [first, ...others] = answers;
    const other = others.find(({ value }) => value !== first?.value);
    if (!first || !other) return [];
    const retMs = (one: Operation): number => one.retMs ?? Number.POSITIVE_INFINITY;
    // The result of the one may have been stored before its own call began.
    const fromMs = Math.min(...all.map(({ invMs }) => invMs));
    const atMs = Math.max(retMs(first), retMs(other));
    if (wasLost(fromMs, atMs)) return [];
    const message = `"${key}" has two results: ${first.process} got ${first.value}, ${other.process} got ${other.value}`;
    return [{ property: "O1", key, operations: [first, other], message, atMs }];
  });
}

/** O5: of two runs of a key, the later one has the larger fence. */
export function checkFences(operations: Iterable<Operation>, wasLost: WasLost): Breach[] {
  return [...byKey(operations)].flatMap(([key, all]) => {
    const runs = all.filter(({ f, token }) => f === "run" && token !== undefined);
    runs.sort((a, b) => a.invMs - b.invMs);
    for (const [place, run] of runs.entries()) {
      const before = runs[place - 1];
      if (!before || (run.token ?? 0n) > (before.token ?? 0n) || wasLost(before.invMs, run.invMs)) continue;
      const message = `"${key}" ran with fence ${run.token} at ${ms(run.invMs)}, after it had run with ${before.token}`;
      return [{ property: "O5", key, operations: [before, run], message, atMs: run.invMs }];
    }
    return [];
  });
}

/** O3: where nothing failed, one run of the work succeeded. Work that threw ran again. */
export function checkOneRun(operations: Iterable<Operation>): Breach[] {
  return [...byKey(operations)].flatMap(([key, all]) => {
    const runs = all.filter(({ f, type }) => f === "run" && type !== "fail");
    const answered = all.some(({ f, type, value }) => f === "once" && type === "ok" && value !== undefined);
    if (runs.length === 1 || (runs.length === 0 && !answered)) return [];
    const message = `"${key}" ran ${runs.length} times, and nothing had failed`;
    const atMs = Math.max(0, ...runs.map(({ invMs }) => invMs));
    return [{ property: "O3", key, operations: runs, message, atMs }];
  });
}
