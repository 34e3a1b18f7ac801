/**
 * Trace: how a state is reached, step by step, in words. The explorer keeps no more of a step than where
 * it came from; which step it was is found again by taking all of them once more.
 */
import type { Model, State } from "./model.js";
import type { Space } from "./space.js";

export interface TraceStep {
  readonly text: string;
  readonly action: number;
  readonly x: number;
  readonly y: number;
  /** After it. */
  readonly state: State;
}

export function traceTo(model: Model, space: Space, target: number): TraceStep[] {
  const path = [target];
  for (let id = target; space.store.parent(id) !== id; ) {
    id = space.store.parent(id);
    path.unshift(id);
  }
  // Where states stand for others by name, the trace goes by one set of names from its start to its end.
  let state = initial(model, space, path[0] as number);
  return path.slice(1).map((id) => {
    const step = stepTo(model, space, state, id);
    state = step.state;
    return step;
  });
}

function initial(model: Model, space: Space, id: number): State {
  let found: State | undefined;
  const to = new Uint8Array(model.fields.length);
  model.start(to, () => {
    if (numberOf(model, space, to) === id) found ??= to.slice();
    to.fill(0);
  });
  if (!found) throw new Error(`${model.name}: no way to an initial state`);
  return found;
}

function stepTo(model: Model, space: Space, now: State, id: number): TraceStep {
  let found: TraceStep | undefined;
  const to = now.slice();
  model.steps(now, to, (action, x, y) => {
    if (!found && numberOf(model, space, to) === id) {
      const state = to.slice();
      found = { text: model.words(action, x, y, now, state), action, x, y, state };
    }
    to.set(now);
  });
  if (!found) throw new Error(`${model.name}: no step leads where one led before`);
  return found;
}

function numberOf(model: Model, { layout, store }: Space, state: State): number {
  const form = state.slice();
  model.canonical?.(form);
  const words = new Uint32Array(layout.words);
  layout.pack(form, words);
  return store.find(words);
}

/** The steps as numbered lines. */
export function traceText(trace: readonly TraceStep[]): string {
  const width = String(trace.length).length;
  return trace.map(({ text }, place) => `${String(place + 1).padStart(width)}. ${text}`).join("\n");
}
