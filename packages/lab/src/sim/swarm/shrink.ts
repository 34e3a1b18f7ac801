/**
 * Makes a failing plan small: its operations written down, then as few faults as it takes, as few processes, and as few operations.
 * What is left says what happens, and goes on to say so when the library draws or asks in another order.
 */
import { hasCaller, type Plan } from "./plan.js";
import { type Round, rest } from "./rounds.js";
import { type Outcome, type RunOptions, runPlan } from "./run.js";

export interface Shrunk<Drawn extends Plan = Plan> {
  readonly outcome: Outcome<Drawn>;
  /** Runs that it took. */
  readonly runs: number;
}

const mostRuns = 400;

/** @param outcome of a run that failed; what is left fails by the same property */
export async function shrink<Drawn extends Plan>(
  outcome: Outcome<Drawn>,
  options: RunOptions = {},
): Promise<Shrunk<Drawn>> {
  const shrinker = new Shrinker(outcome, options);
  await shrinker.stillFails({ ...outcome.plan, rounds: outcome.rounds });
  await shrinker.drop(faults);
  await shrinker.drop(processes);
  await shrinker.drop(rounds);
  await shrinker.drop(faults); // less that happens may need fewer of them
  return { outcome: shrinker.best, runs: shrinker.runs };
}

/** What a plan has several of. */
interface Part {
  items(plan: Plan): readonly unknown[];
  /** The same plan, with these of its items alone; null: there is none. */
  with(plan: Plan, left: readonly unknown[]): Partial<Plan> | null;
}

const faults: Part = {
  items: (plan) => plan.faults,
  with: (_, left) => ({ faults: left as Plan["faults"] }),
};

const processes: Part = {
  items: (plan) => plan.processes,
  with({ rounds: all }, left) {
    if (left.length === 0) return null;
    const some = { processes: left as Plan["processes"] };
    if (!all) return some;
    return {
      ...some,
      rounds: Object.fromEntries(Object.entries(all).filter(([caller]) => hasCaller(some, caller))),
    };
  },
};

/** In the place of an operation its caller rests, so that the others keep their places. */
const rounds: Part = {
  items: ({ rounds: all = {} }) =>
    Object.values(all).flatMap((some) => some.filter(([, kind]) => kind !== rest)),
  with({ rounds: all = {} }, left) {
    const kept = new Set(left);
    const callers = Object.entries(all).flatMap(([caller, some]) => {
      const end = some.findLastIndex((round) => kept.has(round)) + 1;
      const less = some.slice(0, end).map((round): Round => (kept.has(round) ? round : [round[0], rest]));
      return end > 0 ? [[caller, less] as const] : [];
    });
    return { rounds: Object.fromEntries(callers) };
  },
};

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
  async drop(part: Part): Promise<void> {
    const items = (): readonly unknown[] => part.items(this.best.plan);
    let size = Math.ceil(items().length / 2);
    while (size >= 1) {
      const before = items().length;
      for (let at = 0; at < items().length; ) {
        const left = [...items().slice(0, at), ...items().slice(at + size)];
        const less = part.with(this.best.plan, left);
        if (!less || !(await this.stillFails({ ...this.best.plan, ...less }))) at += size;
      }
      if (items().length === before) size = size === 1 ? 0 : Math.ceil(size / 2);
      else size = Math.min(size, Math.ceil(items().length / 2));
    }
  }

  async stillFails(plan: Drawn): Promise<boolean> {
    if (this.runs >= mostRuns) return false;
    this.runs += 1;
    const outcome = await runPlan(plan, this.#options);
    if (!outcome.failures.some(({ property }) => property === this.#property)) return false;
    this.best = outcome;
    return true;
  }
}
