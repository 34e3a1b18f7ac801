/** Mutant: one small change of the library, as a replacement of a piece of one source file. */

import { type Excuse, Excuses } from "./excuse.js";

/** What is done to the code. */
export type Operator = "negated" | "always" | "never" | "operand" | "boundary" | "arithmetic" | "later";

/** A piece of a source, and what takes its place. */
export interface Change {
  readonly start: number;
  readonly end: number;
  readonly operator: Operator;
  readonly after: string;
}

export interface Mutant {
  /** Names it across versions of the code: no line number in it. */
  readonly key: string;
  /** Path below the sources of the library. */
  readonly file: string;
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly operator: Operator;
  readonly before: string;
  readonly after: string;
  /** Why nobody needs to kill it. */
  readonly excuse: Excuse | undefined;
  /** The whole file, changed. */
  readonly source: string;
}

/** Mutants of one file, in the order of their places. What is changed to the same text twice is one. */
export function mutantsOf(file: string, source: string, changes: readonly Change[]): Mutant[] {
  const excuses = new Excuses(file, source);
  const seen = new Set<string>();
  const times = new Map<string, number>();
  const mutants: Mutant[] = [];
  for (const { start, end, operator, after } of [...changes].sort((a, b) => a.start - b.start)) {
    const changed = source.slice(0, start) + after + source.slice(end);
    if (changed === source || seen.has(changed)) continue;
    seen.add(changed);
    const before = source.slice(start, end);
    const name = `${file}: ${oneLine(before)} → ${oneLine(after)}`;
    const nth = (times.get(name) ?? 0) + 1;
    times.set(name, nth);
    const line = source.slice(0, start).split("\n").length;
    mutants.push({
      key: nth === 1 ? name : `${name} (${nth})`,
      file,
      line,
      start,
      end,
      operator,
      before: oneLine(before),
      after: oneLine(after),
      excuse: excuses.of(line, operator),
      source: changed,
    });
  }
  return mutants;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
