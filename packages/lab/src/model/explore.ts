/**
 * Explores every state of a model, breadth first, so that the first broken rule it meets is reached by as
 * few steps as any. What it says of a model is exact for that model and for nothing larger.
 */
import type { Model, State } from "./model.js";
import { Store } from "./store.js";
import { traceTo } from "./trace.js";

export interface Exploration {
  /** How many there are; where a rule is broken, how many were found before. */
  readonly states: number;
  /** The rule that is broken and the steps to there; null: none is broken in any state that can be reached. */
  readonly broken: { readonly rule: string; readonly steps: readonly string[] } | null;
}

export function explore(model: Model): Exploration {
  const store = new Store();
  const now = new Uint8ClampedArray(model.size);
  const to = new Uint8ClampedArray(model.size);
  let [id, bad, rule] = [0, -1, ""];

  const emit = (): void => {
    model.canonical?.(to);
    if (store.add(to, id) && bad < 0) {
      const broken = model.broken(to);
      if (broken !== null) [bad, rule] = [store.size - 1, broken];
    }
    to.set(now);
  };

  store.add(now, 0);
  for (; id < store.size && bad < 0; id++) {
    store.read(id, now);
    to.set(now);
    model.steps(now, to, emit);
    checkRestored(now, to);
  }
  const states = store.size;
  return { states, broken: bad < 0 ? null : { rule, steps: traceTo(model, store, bad) } };
}

function checkRestored(now: State, to: State): void {
  const place = now.findIndex((value, at) => value !== to[at]);
  if (place >= 0) throw new Error(`a step changed number ${place} and was not emitted`);
}
