/** F2: a grant is passed on inside its process for a bounded number of turns and a bounded time, and lingers no longer than it may. */
import type { Operation } from "./operation.js";
import { ms, type Violation } from "./violation.js";

/** What a process may do with one grant. */
export interface PassingBounds {
  readonly localTurns: number;
  readonly lingerMs: number;
  readonly ttlMs: number;
}

export interface PassedOnOptions {
  readonly boundsOf: (process: string) => PassingBounds | undefined;
  /** From when on no clock is wrong and no process stands still: times are judged from here. */
  readonly calmFromMs: number;
}

/** No turn begins later than this share of the ttl after the grant. */
const timeShare = 1 / 3;
/** Timers are late by a part of a millisecond. */
const slackMs = 2;

export function checkPassedOn(operations: Iterable<Operation>, options: PassedOnOptions): Violation[] {
  const all = [...operations];
  return turnsOf(all).flatMap((turns): Violation[] => {
    const first = turns[0] as Operation;
    const bounds = options.boundsOf(first.process);
    if (!bounds || turns.length === 1) return [];
    const found: Violation[] = [];
    if (turns.length > bounds.localTurns)
      found.push(broken(turns, `served ${turns.length} turns of ${bounds.localTurns}`));
    if (first.invMs >= options.calmFromMs) found.push(...lateTurns(turns, bounds, all));
    return found;
  });
}

function lateTurns(
  turns: readonly Operation[],
  { ttlMs, lingerMs }: PassingBounds,
  all: readonly Operation[],
): Violation[] {
  return turns.slice(1).flatMap((turn, place): Violation[] => {
    const [first, before] = [turns[0] as Operation, turns[place] as Operation];
    const passed = [first, before, turn];
    const afterMs = (turn.retMs ?? 0) - (first.retMs ?? 0);
    if (afterMs > ttlMs * timeShare + slackMs)
      return [broken(passed, `began a turn ${ms(afterMs)} after the grant, with a ttl of ${ms(ttlMs)}`)];
    const release = all.find(
      ({ f, key, process, token }) =>
        f === "release" && key === before.key && process === before.process && token === before.token,
    );
    // A caller that waited already is served by the release.
    if (!release || turn.invMs <= release.invMs) return [];
    const lingeredMs = (turn.retMs ?? 0) - release.invMs;
    if (lingeredMs <= lingerMs + slackMs) return [];
    return [broken([...passed, release], `lingered for ${ms(lingeredMs)}, of ${ms(lingerMs)}`)];
  });
}

/** Whether this grant is the first turn of its claim: the process asked for it, and did not pass it on. */
export function isFirstTurn(operations: Iterable<Operation>): (grant: Operation) => boolean {
  const first = new Set(turnsOf(operations).map(([turn]) => turn));
  return (grant) => first.has(grant);
}

/** The turns of each claim that was granted, in the order of their tokens. */
function turnsOf(operations: Iterable<Operation>): Operation[][] {
  const claims = new Map<string, Operation[]>();
  for (const operation of operations) {
    const { f, type, nonce, key } = operation;
    if (f !== "acquire" || type !== "ok" || nonce === undefined) continue;
    const claim = `${key} ${nonce}`;
    claims.set(claim, [...(claims.get(claim) ?? []), operation]);
  }
  return [...claims.values()].map((turns) =>
    turns.sort((one, other) => Number((one.token ?? 0n) - (other.token ?? 0n))),
  );
}

function broken(operations: readonly Operation[], what: string): Violation {
  const { key, process, retMs, invMs } = operations.at(-1) as Operation;
  return {
    property: "F2",
    key,
    operations,
    message: `the grant of "${key}" to ${process} ${what}`,
    atMs: retMs ?? invMs,
  };
}
