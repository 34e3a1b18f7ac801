/**
 * Trace: how a state is reached, step by step, in words. The explorer keeps no more of a step than where
 * it came from; which step it was is found again by taking all of them once more.
 */
import type { Model, State } from "./model.js";
import type { Store } from "./store.js";

export function traceTo(model: Model, store: Store, target: number): string[] {
  const path: number[] = [];
  for (let id = target; store.parent(id) !== id; id = store.parent(id)) path.unshift(id);
  // Where states stand for others by name, the trace goes by one set of names from its start to its end.
  let state: State = new Uint8ClampedArray(model.size);
  return path.map((id) => {
    const step = stepTo(model, store, state, id);
    state = step.state;
    return step.text;
  });
}

function stepTo(model: Model, store: Store, now: State, id: number): { text: string; state: State } {
  let found: { text: string; state: State } | undefined;
  const to = now.slice();
  model.steps(now, to, (action, x, y) => {
    if (!found) {
      const state = to.slice();
      model.canonical?.(to);
      if (store.find(to) === id) found = { text: model.words(action, x, y, now, state), state };
    }
    to.set(now);
  });
  if (!found) throw new Error("no step leads where one led before");
  return found;
}

/** The steps as numbered lines. */
export function traceText(steps: readonly string[]): string {
  const width = String(steps.length).length;
  return steps.map((text, place) => `${String(place + 1).padStart(width)}. ${text}`).join("\n");
}
