/** A few mutants on the first seeds: minutes of a campaign in seconds. */
import { Bundles } from "./bundle.js";
import { Runner } from "./runner.js";
import { allMutants } from "./sources.js";
import type { Kill } from "./worker.js";

/**
 * One after the other, each on seeds 1 to `seeds`.
 *
 * @param changes `state.top + 1 → state.top - 1`, in whichever file it is first
 * @throws {RangeError} nothing is changed like that any more
 */
export async function trySample(
  changes: readonly string[],
  seeds: number,
): Promise<readonly (Kill | null)[]> {
  const mutants = allMutants();
  const bundles = new Bundles();
  const runner = new Runner();
  try {
    const kills: (Kill | null)[] = [];
    for (const change of changes) {
      const mutant = mutants.find(({ before, after }) => `${before} → ${after}` === change);
      if (!mutant) throw new RangeError(`no mutant "${change}" any more: npm run mutation -- --list`);
      const library = await bundles.make(new Map([[mutant.file, mutant.source]]));
      const { kill } = await runner.try({ library, seeds: Array.from({ length: seeds }, (_, at) => at + 1) });
      kills.push(kill);
    }
    return kills;
  } finally {
    await runner.end();
    bundles.remove();
  }
}
