/**
 * Explores every state of a model, breadth first, so that the first broken rule it meets is reached by as
 * few steps as any. What it says of a model is exact for that model and for nothing larger.
 */
import { Layout } from "./layout.js";
import type { Model, State } from "./model.js";
import type { Space } from "./space.js";
import { Store } from "./store.js";
import { type TraceStep, traceTo } from "./trace.js";

export interface ExploreOptions {
  /** Stops beyond this many states. @default as many as the store holds */
  readonly mostStates?: number;
  /** Called after every 100,000 states or so. */
  readonly onProgress?: (progress: Progress) => void;
}

export interface Progress {
  readonly states: number;
  /** Found, and what follows from them is not known yet. */
  readonly open: number;
  readonly depth: number;
}

export interface Exploration {
  /** `holds`: no rule is broken in any state that can be reached. `too-many`: not all were seen. */
  readonly verdict: "holds" | "broken" | "too-many";
  readonly states: number;
  readonly steps: number;
  /** How many steps the farthest state is away, or the broken one. */
  readonly depth: number;
  readonly bytes: number;
  /** What was broken, and how one gets there. */
  readonly rule?: string;
  readonly trace?: readonly TraceStep[];
}

const PROGRESS = 100_000;

/** Without the states that it has seen. @internal */
export function explore(model: Model, options: ExploreOptions = {}): Exploration {
  return exploreSpace(model, options).exploration;
}

/** The same, with the states, for questions about all of them. */
export function exploreSpace(
  model: Model,
  { mostStates = Number.POSITIVE_INFINITY, onProgress = () => {} }: ExploreOptions = {},
): { readonly exploration: Exploration; readonly space: Space } {
  const layout = new Layout(model.fields);
  const store = new Store(layout.words);
  const now = new Uint8Array(model.fields.length);
  const to = new Uint8Array(model.fields.length);
  const words = new Uint32Array(layout.words);
  let [id, steps, broken, brokenRule, begun] = [0, 0, -1, 0, false];

  const emit = (): void => {
    steps += 1;
    model.canonical?.(to);
    layout.pack(to, words);
    const before = store.size;
    const found = store.add(words, begun ? id : before); // an initial state is its own parent
    if (found === before && broken < 0) {
      const rule = model.broken(to);
      if (rule !== 0) [broken, brokenRule] = [found, rule];
    }
    to.set(now);
  };

  model.start(to, emit);
  begun = true;
  steps = 0;
  let [depth, levelEnd] = [0, store.size];
  for (; id < store.size && broken < 0 && store.size <= mostStates; id++) {
    if (id === levelEnd) [depth, levelEnd] = [depth + 1, store.size];
    layout.unpack(store.chunk(id), store.offset(id), now);
    to.set(now);
    model.steps(now, to, emit);
    checkRestored(model, now, to);
    if (id % PROGRESS === PROGRESS - 1) onProgress({ states: store.size, open: store.size - id, depth });
  }

  const space = { layout, store };
  const found = { states: store.size, steps, bytes: store.bytes };
  if (broken < 0) {
    const verdict = id < store.size ? "too-many" : "holds";
    return { space, exploration: { ...found, verdict, depth } };
  }
  const trace = traceTo(model, space, broken);
  const rule = model.rules[brokenRule - 1] ?? `rule ${brokenRule}`;
  return { space, exploration: { ...found, verdict: "broken", depth: trace.length, rule, trace } };
}

function checkRestored(model: Model, now: State, to: State): void {
  for (let place = 0; place < now.length; place++) {
    if (now[place] !== to[place]) {
      throw new Error(`${model.name}: a step changed ${model.fields[place]?.name} and was not emitted`);
    }
  }
}
