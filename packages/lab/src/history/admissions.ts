/**
 * A1: a limit admits no more than it says, in any window of its time. One operation "take" for each charge, its cost in
 * `value`; of one whose actual cost was told later, that. One operation "refund" for what may have been given back, which may be
 * admitted once more.
 *
 * It happened at some time between its beginning and its return. So only those count for a window that lie in it as a
 * whole: what is found is broken whatever the order was, and a little too much may go unseen.
 */
import type { Operation } from "./operation.js";
import { byKey, ms, type Violation } from "./violation.js";

export interface AdmissionOptions {
  /** So much may be admitted in any window. */
  readonly most: number;
  /** How long a window is, half-open; Infinity: for ever. */
  readonly perMs: number;
}

/** @param optionsOf of each key; null: nothing was promised */
export function checkAdmissions(
  operations: Iterable<Operation>,
  optionsOf: (key: string) => AdmissionOptions | null,
): Violation[] {
  return [...byKey(operations)].flatMap(([key, all]) => {
    const options = optionsOf(key);
    const taken = all.filter(({ f, type, retMs }) => f === "take" && type === "ok" && retMs !== null);
    const refunds = all.filter(({ f, type }) => f === "refund" && type !== "fail");
    const worst = options && worstWindow(taken, refunds, options);
    return worst ? [tooMuch(key, worst, options)] : [];
  });
}

interface Window {
  readonly operations: readonly Operation[];
  /** Without what was given back meanwhile. */
  readonly total: number;
}

/** The window that admits most above what it may, or null. */
function worstWindow(
  taken: Operation[],
  refunds: readonly Operation[],
  { most, perMs }: AdmissionOptions,
): Window | null {
  taken.sort((a, b) => a.invMs - b.invMs);
  let worst: Window | null = null;
  for (const [place, { invMs }] of taken.entries()) {
    const endMs = invMs + perMs;
    const inside: Operation[] = [];
    for (let next = place; next < taken.length; next++) {
      const operation = taken[next]!;
      if (operation.invMs >= endMs) break;
      if (operation.retMs! < endMs) inside.push(operation);
    }
    const total = costOf(inside) - costOf(refunds.filter((refund) => mayBeIn(refund, invMs, endMs)));
    if (total > Math.max(most, worst?.total ?? 0)) worst = { operations: inside, total };
  }
  return worst;
}

function costOf(operations: readonly Operation[]): number {
  return operations.reduce((sum, { value }) => sum + Number(value), 0);
}

function mayBeIn({ type, invMs, retMs }: Operation, fromMs: number, toMs: number): boolean {
  return invMs < toMs && (type === "info" || retMs === null || retMs >= fromMs);
}

function tooMuch(key: string, { operations, total }: Window, { most, perMs }: AdmissionOptions): Violation {
  const fromMs = operations[0]!.invMs;
  const atMs = Math.max(...operations.map(({ retMs }) => retMs!));
  const window = perMs === Infinity ? "ever" : `in the ${ms(perMs)} from ${ms(fromMs)} on`;
  const message = `"${key}" admitted ${total} ${window}, and may admit ${most}`;
  return { property: "A1", key, operations, message, atMs };
}
