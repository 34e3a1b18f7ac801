/** What a round has shown: rules that holdfast broke, and canaries that were caught. */
import { checkIntervals } from "../history/intervals.js";
import { checkLockRules } from "../history/lock-rules.js";
import type { Operation } from "../history/operation.js";
import type { Span } from "../history/span.js";
import { checkTokens } from "../history/tokens.js";
import { type Breach, ms, type Violation } from "../history/violation.js";
import { checkSettling } from "../history/waiting.js";
import { between, breaksOf, isBroken } from "./breaks.js";
import { checkChain } from "./chain.js";
import type { Fault } from "./fault.js";
import type { Bite } from "./nemeses/nemesis.js";
import type { Round } from "./round.js";
import { CANARY } from "./worker/task.js";
import { judgeNouns, type NounVerdict } from "./workloads/judge.js";

export interface Caught {
  readonly canary: string;
  /** The faults of which it may be the work. */
  readonly bites: readonly Bite[];
  readonly violation: Violation;
}

export interface Verdict {
  readonly violations: readonly Breach[];
  readonly caught: readonly Caught[];
  /** Of the workloads beside the mutex; their violations are among those above. */
  readonly nouns: readonly NounVerdict[];
}

/** For a process that is late on a busy machine; what it was stopped for does not count anyway. */
const SLACK_MS = 1_500;
export function judge(round: Round): Verdict {
  const operations = settleHolds(round.history.operations, deathOf(round));
  const ours = operations.filter(({ key, process }) => !key.startsWith("canary:") && isCaller(process));
  const nouns = judgeNouns(round);
  const violations: Breach[] = [
    ...checkLockRules(ours, {
      grants: comparableGrants(ours, round.faults),
      mayOverlap: excusedOverlaps(ours, round.faults),
    }),
    ...checkChain(ours),
    ...checkPace(operations, round),
    ...remainsOf(round),
    ...uncaughtOf(operations),
    ...nouns.flatMap((noun) => noun.violations),
  ];
  const sorted = violations.sort((a, b) => a.atMs - b.atMs);
  return { violations: sorted, caught: caughtIn(operations, round), nouns };
}

/** "w1#2.0" is a caller, "w1#2.probe" and "w1#2.process" are not. */
function isCaller(process: string): boolean {
  return /\.\d+$/.test(process);
}

function workerOf(process: string): string {
  return process.slice(0, process.lastIndexOf("."));
}

function deathOf({ history, deathsMs }: Round): Map<string, number> {
  const actors = new Set(history.operations.map(({ process }) => process));
  return new Map([...actors].map((actor) => [actor, deathsMs.get(workerOf(actor)) ?? Infinity]));
}

/** A hold that its process did not end, because it died, was valid until its last renewal said, or until the death. */
function settleHolds(
  operations: readonly Operation[],
  deathsMs: ReadonlyMap<string, number>,
): readonly Operation[] {
  const renewedMs = new Map<string, number>();
  const place = ({ process, key, token }: Operation) => `${process} ${key} ${token}`;
  for (const one of operations) {
    if (one.f === "renew" && one.validUntilMs !== undefined) renewedMs.set(place(one), one.validUntilMs);
  }
  return operations.map((one) => {
    if (one.f !== "hold" || one.endMs !== undefined) return one;
    const validUntilMs = Math.max(one.validUntilMs ?? Infinity, renewedMs.get(place(one)) ?? 0);
    return { ...one, endMs: Math.min(validUntilMs, deathsMs.get(one.process) ?? Infinity) };
  });
}

/**
 * Tokens rise while the server keeps its data, whatever clocks and processes do. After a loss they rise as long as its
 * clock was not moved: in a round with both, each stretch between two losses is judged by itself.
 *
 * A turn that was passed on inside a process asked no server: it is as good as the lease that it is part of, and where
 * the server forgot that one, or its clock moved, others may have had a larger token before.
 */
function comparableGrants(ours: readonly Operation[], faults: readonly Fault[]): Operation[][] {
  const askedMs = askedFor(ours);
  const breaks = breaksOf(faults);
  const grants = ours.filter(
    (one) =>
      one.f === "acquire" &&
      (askedMs(one) === one.invMs || !isBroken(breaks, askedMs(one), one.retMs ?? Infinity)),
  );
  const losses = faults.filter(({ breaks }) => breaks === "memory");
  const isClockMoved = faults.some(({ breaks }) => breaks === "time");
  if (!isClockMoved || losses.length === 0) return [grants];
  return between(losses).map(({ fromMs, toMs }) =>
    grants.filter((one) => askedMs(one) >= fromMs && (one.retMs ?? Infinity) <= toMs),
  );
}

/** Two holds at one time are a violation unless the server forgot, or its clock moved, after the first had been asked for. */
function excusedOverlaps(
  ours: readonly Operation[],
  faults: readonly Fault[],
): (violation: Violation) => boolean {
  const breaks = breaksOf(faults);
  const askedMs = askedFor(ours);
  const isExcused = (a: Operation, b: Operation): boolean =>
    isBroken(breaks, Math.min(askedMs(a), askedMs(b)), Math.max(a.invMs, b.invMs));
  return ({ operations }) =>
    operations.every((a, place) =>
      operations.slice(place + 1).every((b) => !overlap(a, b) || isExcused(a, b)),
    );
}

/** When the possession that a hold is part of was asked for: for a turn passed on inside a process, by the first turn. */
function askedFor(ours: readonly Operation[]): (hold: Operation) => number {
  const firstMs = new Map<string, number>();
  for (const { f, nonce, invMs } of ours) {
    if (f !== "acquire" || nonce === undefined) continue;
    firstMs.set(nonce, Math.min(firstMs.get(nonce) ?? Infinity, invMs));
  }
  return ({ nonce = "", invMs }) => firstMs.get(nonce) ?? invMs;
}

function overlap(a: Operation, b: Operation): boolean {
  return a.invMs < (b.endMs ?? Infinity) && b.invMs < (a.endMs ?? Infinity);
}

/** Calls settle within their own limit, except for the time in which their process did not run. */
function checkPace(operations: readonly Operation[], round: Round): Violation[] {
  const workers = new Set(operations.map(({ process }) => workerOf(process)));
  const deathsMs = deathOf(round);
  return [...workers].flatMap((worker) => {
    const own = operations.filter(({ process }) => workerOf(process) === worker);
    const stalls = own.filter(({ f }) => f === "stall").map(({ value }) => value as Span);
    return checkSettling(
      own.filter(({ process, limitMs }) => isCaller(process) || limitMs !== undefined),
      {
        withinMs: (one) => limitOf(one, round.callTimeoutMs),
        endMs: round.endMs,
        faults: stalls,
        deathsMs,
      },
    );
  });
}

function limitOf({ f, value, limitMs }: Operation, callTimeoutMs: number): number | undefined {
  if (limitMs !== undefined) return limitMs + SLACK_MS;
  if (f === "acquire") return (value as { waitMs: number }).waitMs + 2 * callTimeoutMs + SLACK_MS;
  return f === "release" ? 2 * callTimeoutMs + SLACK_MS : undefined;
}

function remainsOf({ history, remains, endMs }: Round): Violation[] {
  const lingers = history.operations.filter(({ f }) => f === "lingers");
  return remains.map((message) => ({
    property: "P1",
    key: "",
    operations: lingers.filter(({ process }) => message.startsWith(`${workerOf(process)} `)),
    message: `After all was well again: ${message}`,
    atMs: endMs,
  }));
}

/** The libraries of canaries may do as they like. */
function uncaughtOf(operations: readonly Operation[]): Violation[] {
  const theirs = new RegExp(`node_modules/(redlock5|redis-semaphore)/|at ${CANARY}$`, "m");
  const ours = operations.filter(({ f, error }) => f === "uncaught" && !theirs.test(error ?? ""));
  return ours.map((one) => ({
    property: "P1",
    key: "",
    operations: [one],
    message: `${workerOf(one.process)} at ${ms(one.invMs)}: nobody caught ${one.error}`,
    atMs: one.invMs,
  }));
}

function caughtIn(operations: readonly Operation[], round: Round): Caught[] {
  const theirs = operations.filter(({ key }) => key.startsWith("canary:"));
  const tokens = theirs.filter(({ key, f }) => key === "canary:fixed-ttl" && f === "acquire");
  const violations = [
    ...checkIntervals(theirs, { most: Infinity }),
    ...checkTokens(tokens, { most: Infinity }),
  ];
  return violations.map((violation) => ({
    canary: violation.key.slice("canary:".length),
    bites: bitesBehind(violation, round),
    violation,
  }));
}

/** Faults that lasted, or came, between the first beginning and the moment at which the violation was there. */
function bitesBehind({ operations, atMs }: Violation, { faults }: Round): Bite[] {
  const fromMs = Math.min(...operations.map(({ invMs }) => invMs));
  const workers = new Set(operations.map(({ process }) => workerOf(process).replace(/#.*/, "")));
  const near = faults.filter(
    (fault) =>
      fault.bites &&
      fault.fromMs <= atMs &&
      fault.toMs >= fromMs &&
      (fault.bites !== "pause" || workers.has(fault.target)),
  );
  return [...new Set(near.map(({ bites }) => bites as Bite))];
}
