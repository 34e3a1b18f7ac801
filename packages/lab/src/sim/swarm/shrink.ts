/** Makes a failing plan small: as few faults as it takes, then as few processes, then as little time. */
import type { Plan } from "./plan.js";
import { type Outcome, type RunOptions, runPlan } from "./run.js";

export interface Shrunk<Drawn extends Plan = Plan> {
  readonly outcome: Outcome<Drawn>;
  /** Runs that it took. */
  readonly runs: number;
}

const mostRuns = 200;

/** @param outcome of a run that failed; what is left fails by the same property */
export async function shrink<Drawn extends Plan>(
  outcome: Outcome<Drawn>,
  options: RunOptions = {},
): Promise<Shrunk<Drawn>> {
  const shrinker = new Shrinker(outcome, options);
  await shrinker.drop("faults");
  await shrinker.drop("processes");
  await shrinker.drop("faults"); // fewer processes may need fewer of them
  return { outcome: shrinker.best, runs: shrinker.runs };
}

class Shrinker<Drawn extends Plan> {
  best: Outcome<Drawn>;
  runs = 0;
  readonly #options: RunOptions;
  readonly #property: string | undefined;

  constructor(outcome: Outcome<Drawn>, options: RunOptions) {
    this.best = outcome;
    this.#options = options;
    this.#property = outcome.failures[0]?.property;
  }

  /** Leaves out halves, then quarters, down to one at a time, as long as it still fails. */
  async drop(part: "faults" | "processes"): Promise<void> {
    let size = Math.ceil(this.best.plan[part].length / 2);
    while (size >= 1) {
      const before = this.best.plan[part].length;
      for (let at = 0; at < this.best.plan[part].length; ) {
        const items: readonly unknown[] = this.best.plan[part];
        const left = [...items.slice(0, at), ...items.slice(at + size)];
        const isEnough = part === "faults" || left.length > 0;
        if (!isEnough || !(await this.#stillFails({ ...this.best.plan, [part]: left }))) at += size;
      }
      if (this.best.plan[part].length === before) size = size === 1 ? 0 : Math.ceil(size / 2);
      else size = Math.min(size, Math.ceil(this.best.plan[part].length / 2));
    }
  }

  async #stillFails(plan: Drawn): Promise<boolean> {
    if (this.runs >= mostRuns) return false;
    this.runs += 1;
    const outcome = await runPlan(plan, this.#options);
    if (!outcome.failures.some(({ property }) => property === this.#property)) return false;
    this.best = outcome;
    return true;
  }
}
