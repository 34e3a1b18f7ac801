/**
 * Whether what is hoped for stays possible: from every state that can be reached, does a way of allowed
 * steps lead to a goal? Where none does, something has been lost for good, and the shortest way there is
 * the counter-example. In a finite graph this is the same as: no set of states that cannot be left any
 * more is without a goal.
 */
import type { Model, State } from "./model.js";
import type { Space } from "./space.js";
import { type TraceStep, traceTo } from "./trace.js";

export interface Hope {
  readonly rule: string;
  goal(state: State): boolean;
  /** Whether a way may take this step: faults do not count as ways. */
  allows(action: number): boolean;
}

export interface Reach {
  /** From how many states a goal can be reached. */
  readonly hopeful: number;
  /** The way to the nearest state from which none can. */
  readonly trace?: readonly TraceStep[];
}

export function reach(model: Model, space: Space, hope: Hope): Reach {
  const { store } = space;
  const hopeful = new Uint8Array(store.size);
  const { from, targets } = edges(model, space, hope, hopeful);
  const queue = new Uint32Array(store.size);
  let [head, tail] = [0, 0];
  for (let id = 0; id < store.size; id++) if (hopeful[id] === 1) queue[tail++] = id;
  const { first, sources } = reversed(from, targets, store.size);
  while (head < tail) {
    const id = queue[head++] as number;
    for (let place = first[id] as number; place < (first[id + 1] as number); place++) {
      const source = sources[place] as number;
      if (hopeful[source] === 1) continue;
      hopeful[source] = 1;
      queue[tail++] = source;
    }
  }
  const lost = hopeful.indexOf(0);
  return lost < 0 ? { hopeful: tail } : { hopeful: tail, trace: traceTo(model, space, lost) };
}

/** Steps that are allowed, as pairs of numbers; the goals are marked on the way. */
function edges(model: Model, { layout, store }: Space, hope: Hope, goals: Uint8Array) {
  let [from, targets, count] = [new Uint32Array(2 ** 20), new Uint32Array(2 ** 20), 0];
  const now = new Uint8Array(model.fields.length);
  const to = new Uint8Array(model.fields.length);
  const words = new Uint32Array(layout.words);
  let id = 0;
  const emit = (action: number): void => {
    if (hope.allows(action)) {
      model.canonical?.(to);
      layout.pack(to, words);
      if (count === targets.length) [from, targets] = [doubled(from), doubled(targets)];
      from[count] = id;
      targets[count++] = store.find(words);
    }
    to.set(now);
  };
  for (; id < store.size; id++) {
    layout.unpack(store.chunk(id), store.offset(id), now);
    if (hope.goal(now)) {
      goals[id] = 1;
      continue;
    }
    to.set(now);
    model.steps(now, to, emit);
  }
  return { from: from.subarray(0, count), targets: targets.subarray(0, count) };
}

function doubled(array: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(array.length * 2);
  larger.set(array);
  return larger;
}

/** The sources of each target, one after the other; those of `id` begin at `first[id]`. */
function reversed(from: Uint32Array, targets: Uint32Array, size: number) {
  const first = new Uint32Array(size + 1);
  for (const target of targets) (first[target + 1] as number) += 1;
  for (let id = 0; id < size; id++) (first[id + 1] as number) += first[id] as number;
  const next = first.slice();
  const sources = new Uint32Array(targets.length);
  for (let edge = 0; edge < targets.length; edge++) {
    const target = targets[edge] as number;
    sources[next[target] as number] = from[edge] as number;
    (next[target] as number) += 1;
  }
  return { first, sources };
}
