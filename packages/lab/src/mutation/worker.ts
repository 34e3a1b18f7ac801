/** One thread of a campaign: runs seeds on one changed library, until one shows it. */
import { pathToFileURL } from "node:url";
import { parentPort } from "node:worker_threads";
import type { Holdfast } from "holdfast";
import { planOf, runPlan } from "../sim/swarm/run.js";
import { Reach, reporter } from "./reach.js";

export interface Trial {
  /** Path of a bundle. */
  readonly library: string;
  readonly seeds: readonly number[];
  /** How many places of it report that they are met. @default 0 */
  readonly places?: number;
}

/** What showed a mutant. */
export interface Kill {
  readonly seed: number;
  /** A property of the list, or "crash", "hang". */
  readonly property: string;
  readonly message: string;
}

/** After every seed, and at the end of a trial. */
export type Word =
  | { readonly kind: "ran"; readonly seed: number; readonly hash: string; readonly reach?: string }
  | { readonly kind: "over"; readonly kill: Kill | null };

interface Library {
  readonly Holdfast: typeof Holdfast;
}

async function run({ library, seeds, places = 0 }: Trial): Promise<Kill | null> {
  const reach = places > 0 ? new Reach(places) : null;
  if (reach) Object.assign(globalThis, { [reporter]: reach.report });
  const { Holdfast: holdfast } = (await import(pathToFileURL(library).href)) as Library;
  reach?.loaded();
  for (const seed of seeds) {
    const { failures, hash } = await runPlan(planOf(seed), { holdfast });
    const [failure] = failures;
    if (failure) return { seed, property: failure.property, message: failure.message };
    say({ kind: "ran", seed, hash, ...(reach ? { reach: reach.take() } : {}) });
  }
  return null;
}

function say(word: Word): void {
  parentPort?.postMessage(word);
}

parentPort?.on("message", (trial: Trial) => {
  run(trial).then(
    (kill) => say({ kind: "over", kill }),
    (error: unknown) => {
      const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
      say({ kind: "over", kill: { seed: trial.seeds[0] ?? 0, property: "crash", message } });
    },
  );
});
