/**
 * Waiting and settling: W1 what is free is granted to whoever waits, F1 the line is served in order, P1 and P3 every
 * call settles in its time. Time in which a fault lasted does not count.
 */
import { type HoldOptions, nextReleases } from "./hold.js";
import type { Operation } from "./operation.js";
import { lengthOutside, longestOutside, type Span, union } from "./span.js";
import { byKey, ms, type Violation } from "./violation.js";

export interface WaitingOptions extends HoldOptions {
  /**
   * The longest that a lock may be free while the same caller waits: a round trip where nothing fails, the fallback
   * interval where a wake-up may be lost, the ttl where a waiter ahead may die.
   */
  readonly withinMs: number;
  /** The longest that a server keeps a lease after its last renewal. */
  readonly ttlMs: number;
  /** When the run ended: until then a caller has waited whose acquire never returned. */
  readonly endMs: number;
  readonly faults?: readonly Span[];
  /** For how long this process may keep a lock after a release. @default 0 for all */
  readonly lingerMs?: (process: string) => number;
  /** Several servers vote, so that those who try at one time may all be refused. @default false */
  readonly maySplit?: boolean;
}

/**
 * W1. A lock is free from the return of its release on, or when it has lingered after that, also where that says that `close()` had given the lease back: until
 * then it may have been renewed. A lease that was not certainly released may be kept for `ttlMs`
 * after `validUntilMs`, or after its grant: a renewal whose answer was lost was one. An acquire of unknown outcome may
 * stand in line for as long, and then be granted to nobody. One that still waits at the end is a waiter like others,
 * unless its process has died (`deathsMs`).
 *
 * After a fault the time counts anew: the message that was lost in it may have been the wake-up.
 */
export function checkWaiting(operations: Iterable<Operation>, options: WaitingOptions): Violation[] {
  const faults = options.faults ?? [];
  return [...byKey(operations)].flatMap(([key, all]) => {
    const taken = union([...faults, ...takenSpans(all, options)]);
    return all.flatMap((wait): Violation[] => {
      const free = longestOutside(waitOf(wait, options), taken);
      if (free.toMs - free.fromMs <= options.withinMs) return [];
      const message =
        `${wait.process} waited for "${key}", which was free from ${ms(free.fromMs)} to ${ms(free.toMs)}, ` +
        `longer than ${ms(options.withinMs)}`;
      return [broken("W1", [wait], free.fromMs + options.withinMs, message)];
    });
  });
}

/** W1 of those who do not wait: "busy" is not the answer while nobody holds it, wants it, or may have held it still. */
export function checkTries(operations: Iterable<Operation>, options: WaitingOptions): Violation[] {
  return [...byKey(operations)].flatMap(([key, all]) => {
    const acquires = all.filter(({ f }) => f === "acquire");
    // Who has just given up may be granted it at that moment, and then gives it back.
    const asked = acquires
      .filter((one) => !isBusy(one))
      .map((one) => waitOf(one, options))
      .map(({ fromMs, toMs }) => ({ fromMs, toMs: toMs + options.withinMs }));
    const { lingerMs = () => 0, withinMs } = options;
    // What has lingered goes back by a request that begins then.
    const backMs = (process: string): number => (lingerMs(process) > 0 ? lingerMs(process) + withinMs : 0);
    const taken = takenSpans(all, { ...options, lingerMs: backMs });
    const inUse = union([...(options.faults ?? []), ...asked, ...taken]);
    return acquires.filter(isBusy).flatMap((one): Violation[] => {
      if (options.maySplit && acquires.some((other) => other !== one && areAtOneTime(one, other))) return [];
      const { process, invMs } = one;
      const retMs = one.retMs ?? options.endMs;
      const asks = { fromMs: invMs, toMs: Math.max(retMs, invMs + instantMs) };
      if (lengthOutside(asks, inUse) < asks.toMs - asks.fromMs) return [];
      const message = `${process} was told at ${ms(retMs)} that "${key}" is busy, and nobody held it or asked for it`;
      return [broken("W1", [one], retMs, message)];
    });
  });
}

function areAtOneTime(one: Operation, other: Operation): boolean {
  return one.invMs <= (other.retMs ?? Infinity) && other.invMs <= (one.retMs ?? Infinity);
}

function isBusy({ type, error }: Operation): boolean {
  return type === "fail" && error === "busy";
}

/** It may be known at once. */
const instantMs = 0.001;

const NEVER: Span = { fromMs: 0, toMs: 0 };

/** A call that ended with an unknown outcome may have been given up by the client long before. */
function waitOf({ f, type, process, invMs, retMs }: Operation, { endMs, deathsMs }: WaitingOptions): Span {
  if (f !== "acquire" || (type === "info" && retMs !== null)) return NEVER;
  return { fromMs: invMs, toMs: retMs ?? Math.min(endMs, deathsMs?.get(process) ?? Infinity) };
}

function takenSpans(
  operations: readonly Operation[],
  { ttlMs, deathsMs, lingerMs = () => 0 }: WaitingOptions,
): Span[] {
  const released = nextReleases(operations);
  return operations.flatMap((operation): Span[] => {
    const { f, type, invMs, validUntilMs } = operation;
    if (f !== "acquire" || type === "fail") return [];
    const retMs = operation.retMs ?? deathsMs?.get(operation.process);
    if (retMs === undefined) return [];
    const release = released.get(operation);
    const ended = release?.type === "ok" || release?.error === "closed";
    if (ended && release.retMs !== null)
      return [{ fromMs: retMs, toMs: release.retMs + lingerMs(operation.process) }];
    if (type === "info") return [{ fromMs: invMs, toMs: retMs + 2 * ttlMs }];
    return [{ fromMs: retMs, toMs: Math.max(validUntilMs ?? 0, retMs) + ttlMs }];
  });
}

export interface TurnOptions {
  /**
   * From when on a caller certainly stood in line: when it had the server's answer. undefined: nobody knows.
   */
  readonly queuedMs: (acquire: Operation) => number | undefined;
  /** Callers who gave up their place, or may have lost it in a fault, are in nobody's way. @default all count */
  readonly counts?: (acquire: Operation) => boolean;
}

/** F1: nobody who asked after another one stood in line is granted first. Grants are ordered by token, or by return. */
export function checkTurns(operations: Iterable<Operation>, options: TurnOptions): Violation[] {
  const { queuedMs, counts = () => true } = options;
  return [...byKey(operations)].flatMap(([key, all]) => {
    const grants = all.filter((one) => one.f === "acquire" && one.type === "ok" && counts(one)).sort(byGrant);
    let latest: Operation | undefined;
    return grants.flatMap((grant): Violation[] => {
      const inLineMs = queuedMs(grant) ?? Infinity;
      const overtaker = latest && latest.invMs > inLineMs ? latest : undefined;
      if (!latest || grant.invMs > latest.invMs) latest = grant;
      if (!overtaker) return [];
      const message =
        `${overtaker.process} asked for "${key}" at ${ms(overtaker.invMs)} and had it before ${grant.process}, ` +
        `who stood in line since ${ms(inLineMs)}`;
      return [broken("F1", [grant, overtaker], overtaker.retMs ?? overtaker.invMs, message)];
    });
  });
}

function byGrant(a: Operation, b: Operation): number {
  if (a.token !== undefined && b.token !== undefined)
    return a.token < b.token ? -1 : Number(a.token > b.token);
  return (a.retMs ?? Infinity) - (b.retMs ?? Infinity);
}

export interface SettlingOptions {
  /** How long an operation may take outside the faults; undefined: as long as it likes. */
  readonly withinMs: (operation: Operation) => number | undefined;
  /** Until when the run was watched. */
  readonly endMs: number;
  /** Time that does not count. For "after the heal": one span from the beginning to the heal. */
  readonly faults?: readonly Span[];
  /** The dead settle nothing. */
  readonly deathsMs?: ReadonlyMap<string, number>;
}

/** P1 and P3: every call settles in its time, with whatever outcome. */
export function checkSettling(operations: Iterable<Operation>, options: SettlingOptions): Violation[] {
  const faults = union(options.faults ?? []);
  const violations: Violation[] = [];
  for (const operation of operations) {
    const { process, f, key, invMs, retMs } = operation;
    const withinMs = options.withinMs(operation);
    if (withinMs === undefined) continue;
    const toMs = retMs ?? Math.min(options.endMs, options.deathsMs?.get(process) ?? Infinity);
    const tookMs = lengthOutside({ fromMs: invMs, toMs }, faults);
    if (tookMs <= withinMs) continue;
    const said = retMs === null ? `had not settled after ${ms(tookMs)}` : `took ${ms(tookMs)}`;
    const message = `${process}'s ${f} of "${key}" ${said} without a fault, longer than ${ms(withinMs)}`;
    violations.push(broken("P1", [operation], toMs, message));
  }
  return violations;
}

function broken(
  property: "W1" | "F1" | "P1",
  operations: readonly Operation[],
  atMs: number,
  message: string,
): Violation {
  return { property, key: operations[0]!.key, operations, message, atMs };
}
