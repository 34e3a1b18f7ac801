/**
 * A campaign: every mutant against more and more seeds, until each is killed or the seeds, or the time, are used up.
 * The library as it is runs on every seed first: that must find no fault, and says which seeds can show which mutant.
 */
import { Bundles } from "./bundle.js";
import type { Mutant, Operator } from "./mutant.js";
import { Runner } from "./runner.js";
import { Seeds } from "./seeds.js";
import type { Kill } from "./worker.js";

/** What is known of a mutant so far. */
export interface Fate {
  readonly key: string;
  readonly kill: Kill | null;
  /** So many seeds, in their order, were run on it or cannot show it. */
  readonly seeds: number;
  /** How many of those were run. */
  readonly runs: number;
  /** How many of the runs were other ones than those of the library as it is. */
  readonly different: number;
  /** Of the library and the simulator that were run: one that others did not kill is tried anew. */
  readonly digest: string;
}

export interface CampaignOptions {
  readonly mutants: readonly Mutant[];
  /** What an earlier campaign found. */
  readonly known: ReadonlyMap<string, Fate>;
  /** File in which to keep what the library as it is does on each seed. */
  readonly seedsFile: string;
  /** Most seeds for one mutant. */
  readonly seeds: number;
  readonly workers: number;
  readonly onFate: (fate: Fate, open: number) => void;
  readonly signal: AbortSignal;
}

/** What is hardest to see comes first: where the time does not suffice, the rest is known to be easy. */
const order: readonly Operator[] = [
  "later",
  "arithmetic",
  "always",
  "never",
  "boundary",
  "operand",
  "negated",
];
/** A mutant is run on so many seeds at most, and then the others come. */
const rounds = [3, 10, 30, 100, 300, 1_000, 3_000];

/** Ends with the last open mutant, or when the signal aborts. @throws the library as it is fails on a seed */
export async function runCampaign(options: CampaignOptions): Promise<void> {
  const campaign = new Campaign(options);
  try {
    await campaign.run();
  } finally {
    await campaign.end();
  }
}

class Campaign {
  readonly #options: CampaignOptions;
  readonly #fates: Map<string, Fate>;
  readonly #bundles = new Bundles();
  readonly #runners: readonly Runner[];
  readonly #seeds: Seeds;

  constructor(options: CampaignOptions) {
    this.#options = options;
    this.#runners = Array.from({ length: options.workers }, () => new Runner(options.workers));
    this.#seeds = new Seeds(options.seedsFile);
    const { digest } = this.#seeds;
    this.#fates = new Map([...options.known].filter(([, fate]) => fate.kill || fate.digest === digest));
  }

  async run(): Promise<void> {
    const { seeds, signal } = this.#options;
    await this.#seeds.explore(seeds, this.#bundles, this.#runners, signal);
    for (const round of rounds) {
      if (signal.aborted) return;
      await this.#round(round);
      if (round >= seeds) return;
    }
  }

  async end(): Promise<void> {
    await Promise.all(this.#runners.map((runner) => runner.end()));
    this.#bundles.remove();
  }

  async #round(most: number): Promise<void> {
    const { mutants, signal } = this.#options;
    const queue = mutants
      .filter((mutant) => this.#isOpen(mutant) && !mutant.excuse)
      .sort((a, b) => order.indexOf(a.operator) - order.indexOf(b.operator));
    const work = async (runner: Runner): Promise<void> => {
      for (let mutant = queue.shift(); mutant; mutant = queue.shift()) {
        if (signal.aborted) return;
        await this.#try(runner, mutant, most);
      }
    };
    await Promise.all(this.#runners.map(work));
  }

  #isOpen({ key }: Mutant): boolean {
    return !this.#fates.get(key)?.kill;
  }

  /** Runs it, until it was run on `most` seeds. */
  async #try(runner: Runner, mutant: Mutant, most: number): Promise<void> {
    const before = this.#fates.get(mutant.key) ?? { seeds: 0, runs: 0, different: 0 };
    const candidates = this.#seeds.forMutant(mutant, before.seeds, this.#options.seeds);
    const seeds = candidates.slice(0, Math.max(0, most - before.runs)).map(({ seed }) => seed);
    if (seeds.length === 0 && (candidates.length > 0 || before.seeds >= this.#options.seeds)) return;
    const { kill, hashes } =
      seeds.length === 0
        ? { kill: null, hashes: new Map<number, string>() }
        : await runner.try({
            library: await this.#bundles.make(new Map([[mutant.file, mutant.source]])),
            seeds,
          });
    const others = [...hashes].filter(([seed, hash]) => this.#seeds.hash(seed) !== hash).length;
    const next = candidates[seeds.length];
    const fate: Fate = {
      key: mutant.key,
      kill,
      seeds:
        (kill ? candidates[hashes.size] : next ? { place: next.place - 1 } : undefined)?.place ??
        this.#options.seeds,
      runs: before.runs + hashes.size + (kill ? 1 : 0),
      different: before.different + others + (kill ? 1 : 0),
      digest: this.#seeds.digest,
    };
    this.#fates.set(mutant.key, fate);
    const open = this.#options.mutants.filter((each) => this.#isOpen(each) && !each.excuse).length;
    this.#options.onFate(fate, open);
  }
}
