/** L4: what is held at one time stays within the limit. One sweep over the beginnings and ends of the holds. */
import { type Hold, type HoldOptions, holdsOf } from "./hold.js";
import type { Operation } from "./operation.js";
import { type Span, union } from "./span.js";
import { byKey, ms, type Violation } from "./violation.js";

export interface IntervalOptions extends HoldOptions {
  /** Permits that may be held at a time. @default 1, which is exclusion */
  readonly limit?: number;
  /**
   * How many a hold takes. For a read-write lock let a reader take 1 and a writer as many as the limit.
   * @default 1 for each
   */
  readonly permitsOf?: (operation: Operation) => number;
  /** When clocks went wrong or a server lost its state: nobody promises anything. */
  readonly exceptions?: readonly Span[];
  /**
   * Added to each exception: leases granted until its end may overlap until they have run out. The longest ttl; no less
   * is sound where an exception may have ended a lease on the server. @default 0
   */
  readonly settleMs?: number;
  /** Violations to report for each key. @default 20 */
  readonly most?: number;
}

interface Change {
  readonly atMs: number;
  /** What comes first at one instant: 0 a hold ends, 1 an exception begins, 2 a hold begins, 3 an exception ends. */
  readonly rank: 0 | 1 | 2 | 3;
  readonly hold?: Hold;
}

export function checkIntervals(operations: Iterable<Operation>, options: IntervalOptions = {}): Violation[] {
  const exceptions = union(options.exceptions ?? [], options.settleMs);
  const permitsOf = options.permitsOf ?? (() => 1);
  return [...byKey(operations)].flatMap(([key, all]) => {
    const holds = holdsOf(all, options).filter(({ fromMs, toMs }) => toMs > fromMs);
    if (!options.permitsOf && mostAtOnce(holds) <= (options.limit ?? 1)) return [];
    const changes = holds.flatMap(beginningAndEnd);
    for (const { fromMs, toMs } of exceptions)
      changes.push({ atMs: fromMs, rank: 1 }, { atMs: toMs, rank: 3 });
    return sweep(key, changes, permitsOf, options);
  });
}

/** How many last at one time, without saying which: most histories are valid, and numbers alone sort much faster. */
function mostAtOnce(holds: readonly Hold[]): number {
  const beginnings = Float64Array.from(holds, ({ fromMs }) => fromMs).sort();
  const ends = Float64Array.from(holds, ({ toMs }) => toMs).sort();
  let most = 0;
  let over = 0;
  for (const [begun, beginningMs] of beginnings.entries()) {
    while (ends[over]! <= beginningMs) over++;
    most = Math.max(most, begun + 1 - over);
  }
  return most;
}

function beginningAndEnd(hold: Hold): Change[] {
  return [
    { atMs: hold.fromMs, rank: 2, hold },
    { atMs: hold.toMs, rank: 0, hold },
  ];
}

function sweep(
  key: string,
  changes: Change[],
  permitsOf: (operation: Operation) => number,
  { limit = 1, most = 20 }: IntervalOptions,
): Violation[] {
  changes.sort((a, b) => a.atMs - b.atMs || a.rank - b.rank);
  const violations: Violation[] = [];
  const held = new Set<Hold>();
  let permits = 0;
  let exceptions = 0;
  for (const { atMs, rank, hold } of changes) {
    if (rank === 0 && held.delete(hold!)) permits -= permitsOf(hold!.operation);
    if (rank === 1) exceptions++;
    if (rank === 2) {
      held.add(hold!);
      permits += permitsOf(hold!.operation);
    }
    if (rank === 3) exceptions--;
    const isNews = rank === 2 || rank === 3;
    if (isNews && permits > limit && exceptions === 0) {
      violations.push(tooMany(key, [...held], atMs, permits, limit));
      if (violations.length === most) break;
    }
  }
  return violations;
}

function tooMany(
  key: string,
  held: readonly Hold[],
  atMs: number,
  permits: number,
  limit: number,
): Violation {
  const operations = held.map(({ operation }) => operation);
  const who = held.map(({ operation, toMs }) => {
    const token = operation.token === undefined ? "" : ` with token ${operation.token}`;
    return `${operation.process}${token} ${toMs === Infinity ? "and never given back" : `until ${ms(toMs)}`}`;
  });
  const what = limit === 1 ? "at one time" : `with ${permits} permits of ${limit}`;
  const message = `from ${ms(atMs)} on, "${key}" was held ${what} by ${who.join(", and by ")}`;
  return { property: "L4", key, operations, message, atMs };
}
