/**
 * Events, latches and barriers: what a history of them must keep. In the simulator and in the chaos the same rules judge.
 *
 * Of an event: "set", whose `token` is its version, and "wait", whose `value` is the version after which it waits and
 * whose `token` is that of the set that ended it. Of a latch: "count down", whose `value` is what came of it, and "open", a wait,
 * whose `token` is there when the latch was open. Of a barrier: "pass", whose `token` is the generation and whose `value` is
 * the place in it. A wait without a token ran out of time.
 */
import type { Operation } from "./operation.js";
import { type Breach, byKey, ms } from "./violation.js";

export const synchronizerRules = {
  Y1: "the versions of an event rise",
  Y2: "a set ends every wait for it in time",
  Y3: "a wait for an event ends with a set above its version",
  Y4: "a latch opens when it was counted down and not before, and a party counts once",
  Y5: "an open latch ends every wait for it in time",
  Y6: "a generation of a barrier has exactly its parties, all of which waited at one time",
  Y7: "parties that are complete go on in time",
} as const;

type Rule = keyof typeof synchronizerRules;

/** What surrounded the operations. */
export interface SynchronizerFacts {
  /** How often a latch must be counted down, and how many parties a barrier has. */
  readonly size: number;
  /** Whether the server may have lost data in this time. */
  wasLost(fromMs: number, toMs: number): boolean;
  /** Whether its clock was set in this time: it may have forgotten which requests it has seen, and leases may be too long. */
  wasClockSet(fromMs: number, toMs: number): boolean;
  /** By when a wait must have ended whose reason was there at `readyMs`. */
  dueMs(readyMs: number, process: string): number;
  /** For how long an arrival may count when nobody renews it any more. */
  readonly lingersMs: number;
  /** Until when an arrival may count of which the party knows no outcome. */
  countsUntilMs(arrival: Operation): number;
}

/** What came of a "count down". */
export interface Counted {
  readonly by: string | null;
  readonly counted: boolean;
  /** The count that was left; null: no answer came. */
  readonly left: number | null;
}

export function checkEvents(operations: Iterable<Operation>, facts: SynchronizerFacts): Breach[] {
  return [...byKey(operations)].flatMap(([key, all]) => {
    const sets = all.filter(({ f }) => f === "set");
    const waits = all.filter(({ f }) => f === "wait");
    return [
      ...checkVersions(key, sets.filter(isOk), facts),
      ...waits.flatMap((wait) => checkEventWait(key, wait, sets, facts)),
    ];
  });
}

/** Y1 */
function checkVersions(key: string, sets: readonly Operation[], { wasLost }: SynchronizerFacts): Breach[] {
  for (const later of sets)
    for (const earlier of sets) {
      // Of two with one version either may be the earlier one.
      const fromMs = Math.min(earlier.invMs, later.invMs);
      const toMs = Math.max(endOf(earlier), endOf(later));
      if (earlier === later || wasLost(fromMs, toMs)) continue;
      const isAfter = endOf(earlier) < later.invMs && versionOf(later) <= versionOf(earlier);
      if (!isAfter && versionOf(earlier) !== versionOf(later)) continue;
      const message = `"${key}" had version ${earlier.token}, and then ${later.token}`;
      return [breach("Y1", key, message, endOf(later), [earlier, later])];
    }
  return [];
}

/** Y2 and Y3 */
function checkEventWait(
  key: string,
  wait: Operation,
  sets: readonly Operation[],
  facts: SynchronizerFacts,
): Breach[] {
  const after = BigInt(String(wait.value));
  if (wait.type === "ok" && wait.token !== undefined) {
    const { token } = wait;
    // A set of which nobody knows the version may have been it.
    const isKnown = sets.some((set) => set.token === token || (!isOk(set) && set.invMs < endOf(wait)));
    if (token <= after || !isKnown) {
      const message = `a wait for "${key}" after ${after} ended with ${token}${isKnown ? "" : ", which nobody set"}`;
      return [breach("Y3", key, message, endOf(wait), [wait])];
    }
  }
  const missed = sets.find(
    (set) =>
      isOk(set) &&
      versionOf(set) > after &&
      isLate(wait, endOf(set), facts) &&
      !lostBetween(set, wait, facts),
  );
  if (!missed) return [];
  const message = `a wait for "${key}" after ${after} did not see version ${missed.token} in time`;
  return [breach("Y2", key, message, endOf(wait), [missed, wait])];
}

export function checkLatches(operations: Iterable<Operation>, facts: SynchronizerFacts): Breach[] {
  return [...byKey(operations)].flatMap(([key, all]) => {
    const counts = all.filter(({ f }) => f === "count down");
    const waits = all.filter(({ f }) => f === "open");
    return [
      ...checkParties(key, counts, facts),
      ...counts.flatMap((count) => checkLeft(key, count, counts, facts)),
      ...waits.flatMap((wait) => checkLatchWait(key, wait, counts, facts)),
    ];
  });
}

/** Y4: of one party, one call counts. */
function checkParties(key: string, counts: readonly Operation[], facts: SynchronizerFacts): Breach[] {
  const first = new Map<string, Operation>();
  for (const count of counts) {
    const { by, counted } = countedOf(count);
    if (!isOk(count) || !counted || by === null) continue;
    const before = first.get(by);
    first.set(by, before ?? count);
    if (!before || isExcused(before.invMs, endOf(count), facts)) continue;
    return [breach("Y4", key, `${by} counted twice on "${key}"`, endOf(count), [before, count])];
  }
  return [];
}

/** Y4: no more is counted than was asked for. */
function checkLeft(
  key: string,
  count: Operation,
  counts: readonly Operation[],
  facts: SynchronizerFacts,
): Breach[] {
  const { left } = countedOf(count);
  if (!isOk(count) || left === null || isExcused(firstOf(counts), endOf(count), facts)) return [];
  const possible = possibleBefore(endOf(count), counts);
  const most = amountOf(possible);
  if (facts.size - left <= most) return [];
  const message = `"${key}" had ${left} of ${facts.size} left after ${most} counts`;
  return [breach("Y4", key, message, endOf(count), possible)];
}

/** What may have counted before that time. */
function possibleBefore(beforeMs: number, counts: readonly Operation[]): Operation[] {
  return counts.filter(
    (count) => count.type !== "fail" && count.invMs < beforeMs && (!isOk(count) || countedOf(count).counted),
  );
}

/** Y4 and Y5 */
function checkLatchWait(
  key: string,
  wait: Operation,
  counts: readonly Operation[],
  facts: SynchronizerFacts,
): Breach[] {
  const { size } = facts;
  if (isExcused(Math.min(wait.invMs, firstOf(counts)), endOf(wait), facts)) return [];
  if (wait.type === "ok" && wait.token !== undefined) {
    const possible = possibleBefore(endOf(wait), counts);
    const most = amountOf(possible);
    if (most < size) {
      const message = `"${key}" was open after ${most} of ${size} counts`;
      return [breach("Y4", key, message, endOf(wait), [...possible, wait])];
    }
  }
  const certain = counts
    .filter((count) => isOk(count) && countedOf(count).counted)
    .toSorted((a, b) => endOf(a) - endOf(b));
  const last = certain.find((_, place) => amountOf(certain.slice(0, place + 1)) >= size);
  if (!last || !isLate(wait, endOf(last), facts)) return [];
  const message = `a wait for "${key}" did not see in time that it opened at ${ms(endOf(last))}`;
  return [breach("Y5", key, message, endOf(wait), [last, wait])];
}

/** How much these counts are, where a party counts once. */
function amountOf(counts: readonly Operation[]): number {
  const parties = new Set(counts.map((count, place) => countedOf(count).by ?? place));
  return parties.size;
}

export function checkBarriers(operations: Iterable<Operation>, facts: SynchronizerFacts): Breach[] {
  return [...byKey(operations)].flatMap(([key, all]) => {
    const passes = all.filter(({ f }) => f === "pass");
    const generations = new Map<bigint, Operation[]>();
    for (const pass of passes) {
      if (!isOk(pass) || pass.token === undefined) continue;
      const together = generations.get(pass.token);
      if (together) together.push(pass);
      else generations.set(pass.token, [pass]);
    }
    const doubtful = passes.filter(({ type }) => type === "info");
    return [
      ...[...generations.values()].flatMap((together) => checkGeneration(key, together, doubtful, facts)),
      ...checkComplete(key, passes, facts),
    ];
  });
}

/** Y6 */
function checkGeneration(
  key: string,
  together: readonly Operation[],
  doubtful: readonly Operation[],
  facts: SynchronizerFacts,
): Breach[] {
  const { size, countsUntilMs, lingersMs } = facts;
  const lastMs = Math.max(...together.map(({ invMs }) => invMs));
  const firstMs = Math.min(...together.map(endOf));
  // A server that falls back may count a party again that has withdrawn since.
  const sinceMs = Math.min(...together.map(({ invMs }) => invMs)) - lingersMs;
  const untilMs = Math.max(...together.map(endOf));
  if (isExcused(sinceMs, untilMs, facts)) return [];
  const generation = together[0]?.token;
  const fail = (what: string): Breach[] => [
    breach("Y6", key, `generation ${generation} of "${key}" ${what}`, untilMs, together),
  ];
  const places = new Set(together.map(({ value }) => value));
  if (places.size < together.length || [...places].some((place) => Number(place) >= size))
    return fail(`has the places ${together.map(({ value }) => value).join(", ")}`);
  if (lastMs > firstMs) return fail(`let a party go at ${ms(firstMs)}, and another arrived at ${ms(lastMs)}`);
  const possible = doubtful.filter((one) => one.invMs <= firstMs && countsUntilMs(one) >= lastMs);
  if (together.length + possible.length < size)
    return fail(
      `tripped with ${together.length} parties of ${size}, and ${possible.length} that may have been in it`,
    );
  return [];
}

/** Y7: at no time so many wait for longer than they may that they are complete. */
function checkComplete(key: string, passes: readonly Operation[], facts: SynchronizerFacts): Breach[] {
  const { size, dueMs, wasLost } = facts;
  const certain = passes.filter(({ type }) => type !== "info");
  for (const last of certain) {
    const dueAtMs = dueMs(last.invMs, last.process);
    const waiting = certain.filter(
      (pass) => pass.invMs <= last.invMs && endOf(pass) > Math.max(dueAtMs, dueMs(last.invMs, pass.process)),
    );
    if (waiting.length < size || wasLost(last.invMs, dueAtMs)) continue;
    const message = `${waiting.length} parties of ${size} waited at "${key}" until ${ms(dueAtMs)}`;
    return [breach("Y7", key, message, dueAtMs, waiting)];
  }
  return [];
}

function isExcused(fromMs: number, toMs: number, { wasLost, wasClockSet }: SynchronizerFacts): boolean {
  return wasLost(fromMs, toMs) || wasClockSet(fromMs, toMs);
}

function firstOf(operations: readonly Operation[]): number {
  return Math.min(...operations.map(({ invMs }) => invMs));
}

/** Whether a wait was there for longer than it may after its reason was. */
function isLate(wait: Operation, reasonMs: number, { dueMs }: SynchronizerFacts): boolean {
  // What did not end as it should, by its caller or with its process, says nothing.
  if (wait.type !== "ok") return false;
  return endOf(wait) > dueMs(Math.max(wait.invMs, reasonMs), wait.process);
}

function lostBetween(set: Operation, wait: Operation, { wasLost }: SynchronizerFacts): boolean {
  return wasLost(Math.min(set.invMs, wait.invMs), endOf(wait));
}

function breach(
  property: Rule,
  key: string,
  message: string,
  atMs: number,
  operations: readonly Operation[],
): Breach {
  return { property, key, message, atMs, operations };
}

function isOk({ type }: Operation): boolean {
  return type === "ok";
}

function endOf({ retMs }: Operation): number {
  return retMs ?? Number.POSITIVE_INFINITY;
}

function versionOf({ token }: Operation): bigint {
  return token ?? 0n;
}

/** What was asked for, where nothing came of it. */
function countedOf({ value }: Operation): Counted {
  return value as Counted;
}
