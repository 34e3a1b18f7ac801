/**
 * Which seeds come by which places of the library, and with what outcome: a condition that was never false cannot show
 * that it was replaced by true. So a mutant is run only on seeds that can show it.
 */
import type { Change, Mutant } from "./mutant.js";

/** Name under which a library that is watched reports where it is. */
export const reporter = "holdfastMutationReach";

/** Places of all sources, in one order. */
export class Places {
  readonly #numbers = new Map<string, number>();

  get count(): number {
    return this.#numbers.size;
  }

  of({ file, start, end }: Pick<Mutant, "file" | "start" | "end">): number | undefined {
    return this.#numbers.get(`${file} ${start} ${end}`);
  }

  /** The source, with a report around every place where something is changed. */
  watch(file: string, source: string, changes: readonly Change[]): string {
    const ranges = new Map<string, readonly [start: number, end: number]>();
    for (const { start, end, operator } of changes) {
      const text = source.slice(start, end);
      // A name cannot be wrapped.
      if (operator !== "later" && text !== "min" && text !== "max")
        ranges.set(`${file} ${start} ${end}`, [start, end]);
    }
    const insertions: { at: number; order: number; text: string }[] = [];
    for (const [key, [start, end]] of ranges) {
      const number = this.#numbers.size;
      this.#numbers.set(key, number);
      // Outer ones open first and close last.
      insertions.push({ at: start, order: -end, text: `globalThis.${reporter}(${number}, (` });
      insertions.push({ at: end, order: -source.length - start, text: "))" });
    }
    insertions.sort((a, b) => b.at - a.at || b.order - a.order);
    let watched = source;
    for (const { at, text } of insertions) watched = watched.slice(0, at) + text + watched.slice(at);
    return watched;
  }
}

const wasTrue = 1;
const wasFalse = 2;

/** What a watched library reports to. */
export class Reach {
  #outcomes: Uint8Array;
  /** What was met while the library was loaded: its constants. */
  #loaded = new Uint8Array();

  constructor(places: number) {
    this.#outcomes = new Uint8Array(places);
  }

  readonly report = <Value>(place: number, value: Value): Value => {
    this.#outcomes[place] = (this.#outcomes[place] ?? 0) | (value ? wasTrue : wasFalse);
    return value;
  };

  loaded(): void {
    this.#loaded = this.#outcomes.slice();
  }

  /** Of each place since the last call, in letters. */
  take(): string {
    const taken = Buffer.from(this.#outcomes).toString("base64");
    this.#outcomes.fill(0);
    this.#outcomes.set(this.#loaded);
    return taken;
  }
}

/** Whether a run that had these outcomes can be another one with the mutant. */
export function canShow({ operator }: Mutant, place: number | undefined, outcomes: Uint8Array): boolean {
  if (place === undefined) return true;
  const outcome = outcomes[place] ?? 0;
  if (operator === "always") return (outcome & wasFalse) > 0;
  if (operator === "never") return (outcome & wasTrue) > 0;
  return outcome > 0;
}
