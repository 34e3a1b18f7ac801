/**
 * L3: what came through a fence. Operations on a resource that carry a token, and the nonce of their holder: "ok" was
 * accepted, "fail" was refused, "info" may have been either.
 */
import type { Operation } from "./operation.js";
import { byKey, ms, type Violation } from "./violation.js";

export interface FenceOptions {
  /** The operations that the fence judges, and that raise it. @default ["enter", "write"] */
  readonly f?: readonly string[];
  /**
   * The place of an operation in the order in which the resource took them (a version, a line of its log): then the
   * rule is checked to the letter. A server's clock is none, it may go back. Without it, or where it is undefined, an
   * operation is before another one only if it had returned when the other began.
   */
  readonly placeOf?: (operation: Operation) => number | undefined;
  /**
   * Refused by the fence, and not for another reason that certainly had no effect.
   * @default no error, or one that says STALE_TOKEN or STALE_HOLDER
   */
  readonly isRefusal?: (operation: Operation) => boolean;
  /** Violations to report for each key. @default 20 */
  readonly most?: number;
}

/** A judged operation, with its place: NaN where the resource does not tell, which is before and after nothing. */
interface Visit {
  readonly operation: Operation;
  readonly token: bigint;
  readonly place: number;
  readonly retMs: number;
}

export function checkFence(operations: Iterable<Operation>, options: FenceOptions = {}): Violation[] {
  const { f = ["enter", "write"], isRefusal = isFenceError, placeOf, most = 20 } = options;
  return [...byKey(operations).values()].flatMap((all) => {
    const visits = all.flatMap((operation): Visit[] => {
      const { token, type, retMs } = operation;
      if (token === undefined || !f.includes(operation.f)) return [];
      if (type === "fail" && !isRefusal(operation)) return [];
      const lastMs = type === "info" ? Infinity : (retMs ?? Infinity);
      return [{ operation, token, place: placeOf?.(operation) ?? Number.NaN, retMs: lastMs }];
    });
    const groups = byToken(visits);
    return [...falling(groups), ...twoHolders(groups), ...unjustified(groups)].slice(0, most);
  });
}

function isFenceError({ error }: Operation): boolean {
  return error === undefined || /STALE_(TOKEN|HOLDER)/.test(error);
}

/** Operations with one token, the groups in the order of tokens. */
function byToken(visits: readonly Visit[]): Visit[][] {
  const groups: Visit[][] = [];
  const sorted = visits.toSorted((a, b) => (a.token < b.token ? -1 : Number(a.token > b.token)));
  for (const visit of sorted) {
    const last = groups.at(-1);
    if (last?.[0]?.token === visit.token) last.push(visit);
    else groups.push([visit]);
  }
  return groups;
}

/** Nothing with a smaller token is accepted after one with a larger: of the smaller ones the latest decides. */
function falling(groups: readonly Visit[][]): Violation[] {
  const violations: Violation[] = [];
  let lastPlaced: Visit | undefined;
  let lastBegun: Visit | undefined;
  for (const group of groups) {
    const accepted = group.filter(({ operation }) => operation.type === "ok");
    for (const visit of accepted) {
      const stale = [lastPlaced, lastBegun].find((smaller) => smaller && isBefore(visit, smaller));
      if (stale) violations.push(acceptedStale(visit, stale));
    }
    for (const visit of accepted) {
      if (!Number.isNaN(visit.place) && !(visit.place < (lastPlaced?.place ?? -Infinity))) lastPlaced = visit;
      if (!lastBegun || visit.operation.invMs > lastBegun.operation.invMs) lastBegun = visit;
    }
  }
  return violations;
}

function isBefore(a: Visit, b: Visit): boolean {
  return a.place < b.place || a.retMs < b.operation.invMs;
}

function twoHolders(groups: readonly Visit[][]): Violation[] {
  return groups.flatMap((group) => {
    const named = group.filter(({ operation }) => operation.type === "ok" && operation.nonce !== undefined);
    const first = named[0]?.operation;
    const other = named.find(({ operation }) => operation.nonce !== first?.nonce)?.operation;
    if (!first || !other) return [];
    const message =
      `"${first.key}" accepted token ${first.token} from two holders: ${first.process} (${first.nonce}) ` +
      `and ${other.process} (${other.nonce})`;
    return [broken([first, other], other, message)];
  });
}

/** Whoever is refused must have been overtaken: a larger token, or his own in other hands, may have been before him. */
function unjustified(groups: readonly Visit[][]): Violation[] {
  const violations: Violation[] = [];
  const larger = new Earliest();
  for (const group of groups.toReversed()) {
    const holders = new Map<string | undefined, Earliest>();
    for (const visit of group) {
      if (visit.operation.type === "fail") continue;
      const { nonce } = visit.operation;
      const own = holders.get(nonce) ?? new Earliest();
      own.add(visit);
      holders.set(nonce, own);
    }
    for (const visit of group) {
      if (visit.operation.type !== "fail" || larger.mayPrecede(visit)) continue;
      const others = [...holders].filter(([nonce]) => nonce !== visit.operation.nonce);
      if (!others.some(([, other]) => other.mayPrecede(visit))) violations.push(refusedFresh(visit));
    }
    for (const visit of group) if (visit.operation.type !== "fail") larger.add(visit);
  }
  return violations.reverse();
}

/** Of many operations, whether one may have been before another: the earliest of each kind decides. */
class Earliest {
  #place = Infinity;
  #invMs = Infinity;
  #unplacedInvMs = Infinity;

  add({ place, operation: { invMs } }: Visit): void {
    this.#invMs = Math.min(this.#invMs, invMs);
    if (Number.isNaN(place)) this.#unplacedInvMs = Math.min(this.#unplacedInvMs, invMs);
    else this.#place = Math.min(this.#place, place);
  }

  mayPrecede({ place, retMs }: Visit): boolean {
    if (Number.isNaN(place)) return this.#invMs <= retMs;
    return this.#place < place || this.#unplacedInvMs <= retMs;
  }
}

function acceptedStale({ operation: larger }: Visit, { operation: stale }: Visit): Violation {
  const message =
    `"${stale.key}" accepted ${stale.process}'s ${stale.f} with token ${stale.token} at ${ms(stale.retMs)}, ` +
    `although it had accepted token ${larger.token} of ${larger.process} before`;
  return broken([larger, stale], stale, message);
}

function refusedFresh({ operation }: Visit): Violation {
  const { process, f, key, token, retMs } = operation;
  const message =
    `"${key}" refused ${process}'s ${f} with token ${token} at ${ms(retMs)}, although nobody had come ` +
    "with a larger one";
  return broken([operation], operation, message);
}

function broken(operations: readonly Operation[], last: Operation, message: string): Violation {
  const atMs = last.retMs ?? last.invMs;
  return { property: "L3", key: last.key, operations, message, atMs };
}
