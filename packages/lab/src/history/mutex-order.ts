/**
 * A mutex without tokens: is there an order of its acquires and releases in which nobody takes what another one has, and
 * nobody gives back what is not his?
 *
 * A release belongs to the acquire before it, of the same process: one that arrives late must not end a later hold.
 * "ok" says that it ended a hold: a release that found its lease over is "fail".
 * A lease that runs out is a release at any time from `validUntilMs` on.
 */
import { type Call, findOrder, type SequentialModel } from "./linearizable.js";
import type { Operation } from "./operation.js";
import { byKey, ms, type Violation } from "./violation.js";

export interface MutexOrderOptions {
  /** Steps of the search for each key, after which it gives up and says so. @default 150,000,000: about 10 s */
  readonly mostSteps?: number;
}

/** Whose the lock is: the number of the acquire, from 0. */
const FREE = -1;
const NOBODYS = -2;

const mutex: SequentialModel<number> = {
  initial: FREE,
  step: (state, call) => (state === call.from ? (call as Change).to : undefined),
};

interface Change extends Call<number> {
  readonly from: number;
  readonly to: number;
}

/** What "fail" says had no effect is left out: a refusal may be spurious, and is not judged here. */
export function checkMutexOrder(
  operations: Iterable<Operation>,
  options: MutexOrderOptions = {},
): Violation[] {
  return [...byKey(operations)].flatMap(([key, all]): Violation[] => {
    const grants: Grant[] = [];
    const calls = changesOf(all, grants);
    const order = findOrder(calls, mutex, options.mostSteps);
    if (order.verdict === "explained") return [];
    const { operation } = order.call;
    const atMs = operation.retMs ?? operation.invMs;
    if (order.verdict === "unknown") {
      const message = `no verdict on "${key}" from ${ms(atMs)} on: too many orders are possible`;
      return [{ property: "mutex", verdict: "unknown", key, operations: [operation], message, atMs }];
    }
    const holders = order.states.flatMap((state) => grants[state]?.acquire ?? []);
    const message = explain(key, operation, holders, order.states.includes(FREE));
    return [
      { property: "mutex", verdict: "broken", key, operations: [...holders, operation], message, atMs },
    ];
  });
}

/** An acquire, and what may have ended what it got. */
interface Grant {
  readonly acquire: Operation;
  readonly releases: Operation[];
}

function changesOf(operations: readonly Operation[], grants: Grant[]): Change[] {
  const strangers: Operation[] = [];
  const latest = new Map<string, Grant>();
  for (const operation of operations.toSorted((a, b) => a.seq - b.seq)) {
    if (operation.type === "fail") continue;
    if (operation.f === "acquire") {
      const grant = { acquire: operation, releases: [] };
      latest.set(operation.process, grant);
      grants.push(grant);
    } else if (operation.f === "release") {
      const grant = latest.get(operation.process);
      if (grant) grant.releases.push(operation);
      else if (operation.type === "ok") strangers.push(operation);
    }
  }
  return [
    ...grants.flatMap(changesOfGrant),
    ...strangers.map((operation) => change(operation, NOBODYS, FREE, operation.retMs)),
  ];
}

/**
 * What is unknown becomes certain or goes: an acquire with a certain release did happen, before that one returned; an
 * acquire with none may as well not have happened, which leaves more orders, not fewer. Of several releases that may
 * have happened the earliest is possible whenever one of the others is; a certain one leaves room for none.
 */
function changesOfGrant({ acquire, releases }: Grant, grant: number): Change[] {
  const certain = releases.filter(({ type }) => type === "ok");
  const isOk = acquire.type === "ok";
  if (!isOk && certain.length === 0) return [];
  const retMs = isOk ? acquire.retMs : Math.min(...certain.map((release) => release.retMs ?? Infinity));
  const changes = [change(acquire, FREE, grant, retMs)];
  if (certain.length > 0) {
    return [...changes, ...certain.map((release) => change(release, grant, FREE, release.retMs))];
  }
  const ends = releases.map(({ invMs }) => invMs);
  if (acquire.validUntilMs !== undefined) ends.push(acquire.validUntilMs);
  if (ends.length === 0) return changes;
  const invMs = Math.min(...ends);
  return [
    ...changes,
    { operation: acquire, invMs, retMs: Infinity, isCertain: false, from: grant, to: FREE },
  ];
}

function change(operation: Operation, from: number, to: number, retMs: number | null): Change {
  return { operation, invMs: operation.invMs, retMs: retMs ?? Infinity, isCertain: true, from, to };
}

function explain(key: string, operation: Operation, holders: readonly Operation[], isFree: boolean): string {
  const what = `${operation.process}'s ${operation.f} of "${key}" (${ms(operation.invMs)} to ${ms(operation.retMs)})`;
  const had = holders.map((holder) => `${holder.process} has it since ${ms(holder.retMs)}`);
  if (isFree) had.push("nobody has it");
  return `${what} succeeded, which no order of the operations explains: before it, ${had.join(", or ")}`;
}
