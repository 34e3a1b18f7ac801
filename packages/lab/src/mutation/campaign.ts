/**
 * A campaign: every mutant against more and more seeds, until each is killed or the seeds, or the time, are used up.
 * The library as it is runs on every seed first: a seed that finds fault with it judges nobody.
 */
import { Bundles } from "./bundle.js";
import { excuseOf } from "./excuses.js";
import type { Mutant, Operator } from "./mutant.js";
import { Runner } from "./runner.js";
import type { Kill } from "./worker.js";

/** What is known of a mutant so far. */
export interface Fate {
  readonly key: string;
  readonly kill: Kill | null;
  /** Seeds that were run on it, from the first on. */
  readonly seeds: number;
  /** How many of those were another run than that of the library as it is. */
  readonly different: number;
}

export interface CampaignOptions {
  readonly mutants: readonly Mutant[];
  /** What an earlier campaign found. */
  readonly known: ReadonlyMap<string, Fate>;
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

const rounds = [2, 6, 20, 60, 200, 600, 2_000, 6_000];

/** Ends with the last open mutant, or when the signal aborts. @throws the library as it is fails on a seed */
export async function runCampaign(options: CampaignOptions): Promise<void> {
  const campaign = new Campaign(options);
  try {
    for (const round of rounds) {
      await campaign.round(Math.min(round, options.seeds));
      if (round >= options.seeds || options.signal.aborted) break;
    }
  } finally {
    await campaign.end();
  }
}

class Campaign {
  readonly #options: CampaignOptions;
  readonly #fates: Map<string, Fate>;
  readonly #bundles = new Bundles();
  readonly #runners: readonly Runner[];
  /** Of the library as it is. */
  readonly #hashes = new Map<number, string>();
  #asItIs: Promise<string> | null = null;

  constructor(options: CampaignOptions) {
    this.#options = options;
    this.#fates = new Map(options.known);
    this.#runners = Array.from({ length: options.workers }, () => new Runner());
  }

  async end(): Promise<void> {
    await Promise.all(this.#runners.map((runner) => runner.end()));
    this.#bundles.remove();
  }

  /** Every open mutant, up to that many seeds. */
  async round(seeds: number): Promise<void> {
    const queue = this.#open
      .filter((mutant) => !excuseOf(mutant) && (this.#fates.get(mutant.key)?.seeds ?? 0) < seeds)
      .sort((a, b) => order.indexOf(a.operator) - order.indexOf(b.operator));
    const work = async (runner: Runner): Promise<void> => {
      for (let mutant = queue.shift(); mutant; mutant = queue.shift()) {
        if (this.#options.signal.aborted) return;
        await this.#try(runner, mutant, seeds);
      }
    };
    await Promise.all(this.#runners.map(work));
  }

  get #open(): Mutant[] {
    return this.#options.mutants.filter(({ key }) => !this.#fates.get(key)?.kill);
  }

  async #try(runner: Runner, mutant: Mutant, upTo: number): Promise<void> {
    const { seeds: done, different } = this.#fates.get(mutant.key) ?? { seeds: 0, different: 0 };
    const seeds = Array.from({ length: upTo - done }, (_, place) => done + place + 1);
    const library = await this.#bundles.make(mutant);
    const { kill, hashes } = await runner.try({ library, seeds });
    await this.#compareWith(runner, [...hashes.keys(), ...(kill ? [kill.seed] : [])]);
    const others = [...hashes].filter(([seed, hash]) => this.#hashes.get(seed) !== hash).length;
    const fate: Fate = {
      key: mutant.key,
      kill,
      seeds: kill ? kill.seed : upTo,
      different: different + others + (kill ? 1 : 0),
    };
    this.#fates.set(mutant.key, fate);
    this.#options.onFate(fate, this.#open.length);
  }

  /** Sees to it that the runs of the library as it is are known. */
  async #compareWith(runner: Runner, seeds: readonly number[]): Promise<void> {
    const missing = seeds.filter((seed) => !this.#hashes.has(seed));
    if (missing.length === 0) return;
    this.#asItIs ??= this.#bundles.make(null);
    const { kill, hashes } = await runner.try({ library: await this.#asItIs, seeds: missing });
    if (kill)
      throw new Error(`seed ${kill.seed} fails on the library as it is: ${kill.property}: ${kill.message}`);
    for (const [seed, hash] of hashes) this.#hashes.set(seed, hash);
  }
}
