/** All that was seen in one run: the operations of every process, in the order of their beginning. */
import { fromLines, toLine } from "./ndjson.js";
import type { Operation } from "./operation.js";
import { Recorder } from "./recorder.js";

export class History {
  readonly #operations = new Map<string, Operation>();
  readonly #recorders = new Set<string>();
  #sorted: readonly Operation[] | undefined;

  /** @throws {Error} two operations say that they are the same one, and neither is the other's beginning. */
  static of(operations: Iterable<Operation>): History {
    const history = new History();
    for (const operation of operations) history.add(operation);
    return history;
  }

  /**
   * One history of what several processes wrote, each to a file of its own. They must have read the same clock:
   * CLOCK_MONOTONIC is one for all processes of a machine.
   * @throws {Error} a line is damaged, other than the last of a text; or two texts speak for the same process.
   */
  static merge(texts: Iterable<string>): History {
    const history = new History();
    const writers = new Map<string, number>();
    let text = 0;
    for (const lines of texts) {
      for (const operation of fromLines(lines)) {
        const writer = writers.get(operation.process) ?? text;
        if (writer !== text) throw new Error(`two files speak for the process ${operation.process}`);
        writers.set(operation.process, writer);
        history.add(operation);
      }
      text++;
    }
    return history;
  }

  /** By their beginning; what began at once is in the order of process and seq. */
  get operations(): readonly Operation[] {
    this.#sorted ??= [...this.#operations.values()].sort(
      (a, b) => a.invMs - b.invMs || compare(a.process, b.process) || a.seq - b.seq,
    );
    return this.#sorted;
  }

  /** An operation that has ended replaces its beginning. */
  add(operation: Operation): void {
    const id = `${operation.seq} ${operation.process}`;
    const known = this.#operations.get(id);
    if (known && !isBeginning(known, operation)) {
      throw new Error(`operation ${operation.seq} of ${operation.process} is there twice`);
    }
    this.#operations.set(id, operation);
    this.#sorted = undefined;
  }

  /** @throws {Error} this process has one: two would count its operations from 0. */
  recorder(process: string, nowMs: () => number): Recorder {
    if (this.#recorders.has(process)) throw new Error(`${process} has a recorder`);
    this.#recorders.add(process);
    return new Recorder(process, nowMs, (operation) => this.add(operation));
  }

  /**
   * How many of each, by "acquire ok" and the like. A run in which nothing was granted breaks no rule, so a test asks
   * for progress before it believes that no violation was found.
   */
  counts(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { f, type } of this.#operations.values()) {
      counts[`${f} ${type}`] = (counts[`${f} ${type}`] ?? 0) + 1;
    }
    return counts;
  }

  toNdjson(): string {
    return this.operations.map(toLine).join("");
  }
}

function isBeginning(known: Operation, of: Operation): boolean {
  const sameCall = known.f === of.f && known.key === of.key && known.invMs === of.invMs;
  return known.type === "info" && known.retMs === null && sameCall;
}

/** By code unit: the same everywhere, which an order of a language is not. */
function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
