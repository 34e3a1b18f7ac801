/** Tally: what all rounds of a run come to. */
import type { Breach } from "../history/violation.js";
import type { Caught, Verdict } from "./judge.js";
import type { Bite } from "./nemeses/nemesis.js";
import type { Round } from "./round.js";
import type { NounVerdict } from "./workloads/judge.js";

export interface FaultCount {
  readonly kind: string;
  readonly bites: Bite | null;
  times: number;
  /** That did not come off. */
  failed: number;
}

/** What a workload beside the mutex has done. */
export interface NounCount {
  rounds: number;
  /** Operations that succeeded. */
  done: number;
  /** How often its naive recipe was caught. */
  caught: number;
}

/** A class of faults that needs a canary, when it struck this often, for the run to have shown anything. */
const ENOUGH = 6;
/** Of holdfast in each round, as in virtual time: with fewer there is nothing to judge. */
const FEWEST_GRANTS = 3;
const BITES: readonly Bite[] = ["pause", "loss", "clock"];

export class Tally {
  rounds = 0;
  operations = 0;
  grants = 0;
  skipped = 0;
  readonly faults = new Map<string, FaultCount>();
  readonly off = new Map<string, string>();
  readonly violations: Breach[] = [];
  /** Of the workloads beside the mutex, by name. */
  readonly nouns = new Map<string, NounCount>();
  readonly #mayBite: boolean;
  /** The round with the fewest grants. */
  #poorest: { readonly seed: number; readonly grants: number } | null = null;
  readonly #caught = new Map<string, number>();
  readonly #bitten = new Map<Bite, number>();

  /** @param mayBite whether any fault was asked for that a recipe without a fence does not survive */
  constructor({ mayBite = true }: { readonly mayBite?: boolean } = {}) {
    this.#mayBite = mayBite;
  }

  add(round: Round, { violations, caught, nouns }: Verdict): void {
    this.rounds += 1;
    this.skipped += round.skipped;
    const grantsBefore = this.grants;
    for (const { key, f, type } of round.history.operations) {
      if (key === "" || key.startsWith("canary:")) continue;
      this.operations += 1;
      if (f === "acquire" && type === "ok") this.grants += 1;
    }
    const grants = this.grants - grantsBefore;
    if (!this.#poorest || grants < this.#poorest.grants) this.#poorest = { seed: round.seed, grants };
    for (const { kind, bites = null, error } of round.faults) {
      const count = this.faults.get(kind) ?? { kind, bites, times: 0, failed: 0 };
      count.times += 1;
      if (error !== undefined) count.failed += 1;
      this.faults.set(kind, count);
    }
    for (const [kind, reason] of round.off) this.off.set(kind, reason);
    for (const kind of this.faults.keys()) this.off.delete(kind);
    this.violations.push(...violations);
    for (const noun of nouns) this.#countNoun(noun);
    // A lease that overlaps with ten others is one that was caught.
    const last = new Map(caught.map((one) => [one.violation.operations.at(0), one]));
    for (const one of last.values()) this.#catch(one);
    for (const key of round.eternal) this.#count(key.replace("canary:", ""));
  }

  get struck(): number {
    let times = 0;
    for (const count of this.faults.values()) times += count.times;
    return times;
  }

  /** How often each canary was caught. */
  get caught(): ReadonlyMap<string, number> {
    return this.#caught;
  }

  get allCaught(): number {
    let times = 0;
    for (const count of this.#caught.values()) times += count;
    return times;
  }

  /** How often each class of faults struck, and how often a canary was caught while it did. */
  get bites(): { readonly bite: Bite; readonly struck: number; readonly caught: number }[] {
    return BITES.map((bite) => {
      let struck = 0;
      for (const { bites, times, failed } of this.faults.values())
        if (bites === bite) struck += times - failed;
      return { bite, struck, caught: this.#bitten.get(bite) ?? 0 };
    });
  }

  /** Why nothing has been shown; null when something has. */
  get void(): string | null {
    const { seed, grants } = this.#poorest ?? { seed: 0, grants: 0 };
    if (this.grants === 0) return "holdfast granted nothing";
    if (grants < FEWEST_GRANTS)
      return `holdfast granted ${grants} times in the round with seed ${seed}, of at least ${FEWEST_GRANTS}`;
    for (const [name, { done }] of this.nouns) if (done === 0) return `the workload ${name} did nothing`;
    const bites = this.bites.filter(({ struck }) => struck > 0);
    if (bites.length === 0) return this.#mayBite ? "no fault struck that canaries do not survive" : null;
    if (this.allCaught === 0) return "no canary was caught";
    const tame = bites.filter(({ struck, caught }) => struck >= ENOUGH && caught === 0);
    return tame.length === 0
      ? null
      : `no canary was caught by ${tame.map(({ bite }) => bite).join(" or ")} faults`;
  }

  #countNoun({ workload, done, caught }: NounVerdict): void {
    const count = this.nouns.get(workload) ?? { rounds: 0, done: 0, caught: 0 };
    count.rounds += 1;
    count.done += done;
    count.caught += caught.length;
    this.nouns.set(workload, count);
  }

  #catch({ canary, bites }: Caught): void {
    this.#count(canary);
    for (const bite of bites) this.#bitten.set(bite, (this.#bitten.get(bite) ?? 0) + 1);
  }

  #count(canary: string): void {
    this.#caught.set(canary, (this.#caught.get(canary) ?? 0) + 1);
  }
}
