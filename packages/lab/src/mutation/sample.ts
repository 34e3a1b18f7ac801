/** A few mutants of every kind, each on the seed that is known to kill it: minutes of a campaign in seconds. */
import { Bundles } from "./bundle.js";
import type { Mutant } from "./mutant.js";
import { Runner } from "./runner.js";
import type { Kill } from "./worker.js";

export interface SampleMutant {
  readonly key: string;
  readonly seed: number;
}

export interface SampleResult extends SampleMutant {
  readonly kill: Kill | null;
}

/** One after the other. @throws {RangeError} there is no such mutant any more */
export async function trySample(
  sample: readonly SampleMutant[],
  mutants: readonly Mutant[],
): Promise<readonly SampleResult[]> {
  const bundles = new Bundles();
  const runner = new Runner();
  try {
    const results: SampleResult[] = [];
    for (const { key, seed } of sample) {
      const mutant = mutants.find((each) => each.key === key);
      if (!mutant)
        throw new RangeError(`nothing is changed as in "${key}" any more; see npm run mutation -- --list`);
      const library = await bundles.make(new Map([[mutant.file, mutant.source]]));
      const { kill } = await runner.try({ library, seeds: [seed] });
      results.push({ key, seed, kill });
    }
    return results;
  } finally {
    await runner.end();
    bundles.remove();
  }
}
