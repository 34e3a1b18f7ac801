/**
 * Does some order explain every answer? Each operation is to take effect at one instant between its beginning and its
 * return, in an order that a sequential model allows.
 *
 * Source  Wing and Gong 1993, Lowe 2017 ("Testing for linearizability"): the search goes from return to return, and before
 *         each one takes effect just what makes the returning operation possible. Of two ways to the same (set of
 *         operations that took effect, state) one is followed. Differs: all ways go forward together instead of one
 *         with backtracking, so that where none is left, the operation that nothing explains is known.
 * Cost    exponential in the number of operations under way at once at worst, near linear for a lock.
 */
import type { Operation } from "./operation.js";

/** An operation to be placed in the order. */
export interface Call<State> {
  readonly operation: Operation;
  readonly invMs: number;
  /** Infinity: it never returned, so it may take effect at any time. */
  readonly retMs: number;
  /** It did take effect. Otherwise it may have, or not. */
  readonly isCertain: boolean;
  /** The only state in which it is possible, where there is but one: saves asking in the others. */
  readonly from?: State;
}

export interface SequentialModel<State extends string | number | bigint> {
  readonly initial: State;
  /** The state afterwards; undefined where the model does not allow it. */
  step(state: State, call: Call<State>): State | undefined;
}

export type Order<State> =
  | { readonly verdict: "explained" }
  /** `call` cannot have taken effect before it returned; `states` are those that were possible when it did. */
  | { readonly verdict: "broken"; readonly call: Call<State>; readonly states: readonly State[] }
  | { readonly verdict: "unknown"; readonly call: Call<State> };

/** One way through the history so far. */
interface Way<State> {
  readonly state: State;
  /** What took effect of the calls that are under way: their numbers, ascending. */
  readonly done: readonly number[];
}

/** Ten seconds or so, and 1 GB; forty for each operation of a lock that thirty clients want. Steps and not seconds, so that the verdict is the same on every machine. */
const MOST_STEPS = 150_000_000;
/** What keeping a way costs, in looks at a call. */
const COST_OF_WAY = 20;

export function findOrder<State extends string | number | bigint>(
  calls: readonly Call<State>[],
  model: SequentialModel<State>,
  mostSteps = MOST_STEPS,
): Order<State> {
  return new Search(calls, model, mostSteps).run();
}

class Search<State extends string | number | bigint> {
  readonly #calls: readonly Call<State>[];
  readonly #model: SequentialModel<State>;
  readonly #mostSteps: number;
  #steps = 0;
  /** Calls that have begun and whose effect is not behind every way, by the state that they need. */
  readonly #open = new Map<State | undefined, Set<number>>();
  #ways: readonly Way<State>[];

  constructor(calls: readonly Call<State>[], model: SequentialModel<State>, mostSteps: number) {
    this.#calls = calls;
    this.#model = model;
    this.#mostSteps = mostSteps;
    this.#ways = [{ state: model.initial, done: [] }];
  }

  run(): Order<State> {
    for (const { call, isReturn } of eventsOf(this.#calls)) {
      const { from } = this.#calls[call]!;
      if (!isReturn) {
        const open = this.#open.get(from);
        if (open) open.add(call);
        else this.#open.set(from, new Set([call]));
        continue;
      }
      // On every way it took effect before another one returned.
      if (!this.#open.get(from)?.has(call)) continue;
      const before = this.#ways;
      const after = this.#until(call);
      if (after === undefined) return { verdict: "unknown", call: this.#calls[call]! };
      if (after.length === 0) {
        const states = [...new Set(before.map(({ state }) => state))];
        return { verdict: "broken", call: this.#calls[call]!, states };
      }
      this.#ways = after;
      this.#forget();
    }
    return { verdict: "explained" };
  }

  /** The ways on which `call` has taken effect; undefined when that takes too many steps. */
  #until(call: number): Way<State>[] | undefined {
    const seen = new Set<string>();
    const found: Way<State>[] = [];
    const ahead = [...this.#ways];
    for (let way = ahead.pop(); way !== undefined; way = ahead.pop()) {
      const id = `${way.state}|${way.done.join()}`;
      if (seen.has(id)) continue;
      seen.add(id);
      if (way.done.includes(call)) {
        found.push(way);
        continue;
      }
      this.#follow(way, call, ahead);
      if (this.#steps > this.#mostSteps) return undefined;
    }
    return found;
  }

  /** Puts what may come next on the list, except where it leads nowhere before `wanted` has taken effect. */
  #follow(way: Way<State>, wanted: number, ahead: Way<State>[]): void {
    for (const from of [way.state, undefined]) {
      for (const call of this.#open.get(from) ?? []) {
        this.#steps++;
        if (way.done.includes(call)) continue;
        const state = this.#model.step(way.state, this.#calls[call]!);
        if (state === undefined) continue;
        const isAlive = call === wanted || this.#open.has(state) || this.#open.has(undefined);
        if (!isAlive) continue;
        this.#steps += COST_OF_WAY + way.done.length;
        ahead.push({ state, done: withCall(way.done, call) });
      }
    }
  }

  /** What every way has behind it need not be carried on. */
  #forget(): void {
    const [first, ...others] = this.#ways;
    const common = first!.done.filter((call) => others.every(({ done }) => done.includes(call)));
    if (common.length === 0) return;
    for (const call of common) {
      const { from } = this.#calls[call]!;
      const open = this.#open.get(from)!;
      open.delete(call);
      if (open.size === 0) this.#open.delete(from);
    }
    this.#ways = this.#ways.map(({ state, done }) => ({
      state,
      done: done.filter((call) => !common.includes(call)),
    }));
  }
}

interface Event {
  readonly call: number;
  readonly atMs: number;
  readonly isReturn: boolean;
}

/** Beginnings before returns at one instant: what touches may have overlapped. Only what is certain must take effect. */
function eventsOf<State>(calls: readonly Call<State>[]): Event[] {
  const events: Event[] = [];
  for (const [call, { invMs, retMs, isCertain }] of calls.entries()) {
    events.push({ call, atMs: invMs, isReturn: false });
    if (isCertain) events.push({ call, atMs: retMs, isReturn: true });
  }
  const order = (a: Event, b: Event) => (a.atMs < b.atMs ? -1 : Number(a.atMs > b.atMs));
  return events.sort((a, b) => order(a, b) || Number(a.isReturn) - Number(b.isReturn) || a.call - b.call);
}

function withCall(done: readonly number[], call: number): number[] {
  const at = done.findIndex((other) => other > call);
  return at === -1 ? [...done, call] : [...done.slice(0, at), call, ...done.slice(at)];
}
