/** Coverage: which fault met which state of the noun, and how often. What was never met was never tested. */
import { faultKinds } from "./faults/kinds.js";
import type { Fault } from "./plan.js";
import type { Work } from "./workload.js";
import { workloadOf } from "./workloads/list.js";

export interface Cell {
  readonly fault: string;
  readonly state: string;
  readonly times: number;
}

/** The state of a workload that tells none apart. */
const met = "met";

/** All cells, those that were never met as well. */
export function cellsOf(counts: ReadonlyMap<string, number>, workload = "mutex"): Cell[] {
  const { states = [met], kinds = faultKinds } = workloadOf(workload);
  return kinds.flatMap(({ kind: fault }) =>
    states.map((state) => ({ fault, state, times: counts.get(`${fault} in ${state}`) ?? 0 })),
  );
}

export class Coverage {
  readonly #work: Work;
  readonly #counts = new Map<string, number>();

  constructor(work: Work) {
    this.#work = work;
  }

  /** By "fault in state". */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  note({ kind }: Fault): void {
    for (const state of this.#work.states?.() ?? [met]) {
      const cell = `${kind} in ${state}`;
      this.#counts.set(cell, (this.#counts.get(cell) ?? 0) + 1);
    }
  }
}
