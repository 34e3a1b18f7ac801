/**
 * Experiment: one way in which locks go wrong, played in virtual time, once by a recipe that many use and once by
 * holdfast, under the same faults from the same seed. What went wrong is found by checkers and by counting, never
 * taken for granted: a naive recipe that does not fail is as much a surprise as a sound one that does not hold, and a
 * run in which the thing did not happen shows nothing.
 */
import type { Timeline } from "../timeline/timeline.js";
import type { Check } from "./check.js";
import type { Need } from "./need.js";
import { type Told, Trial } from "./trial.js";
import { type Judgement, judge, type Side, voidSentence } from "./verdict.js";

export interface Recipe {
  readonly side: Side;
  /** A few words: "SET NX PX, a fixed ttl". */
  readonly name: string;
  /** The recipe, a step a line, as somebody would write it down. */
  readonly steps: readonly string[];
  /** Sets the cast, its faults, and what is told of it; then the world runs for `lastsMs`. */
  readonly play: (trial: Trial) => void | Promise<void>;
  readonly lastsMs: number;
  /** Another library takes part, with its clients. @default false */
  readonly realClients?: boolean;
  /** A recipe of the naive side that stands this fault. @default false */
  readonly withstands?: boolean;
  /** What must have happened for the run to show anything. */
  readonly needs: readonly Need[];
  /** @default those of the experiment */
  readonly checks?: readonly Check[];
  /** What is not promised under these faults, and so not looked for. @default none */
  readonly notPromised?: readonly Check[];
}

export interface Plot {
  /** "D1" */
  readonly id: string;
  readonly title: string;
  /** What is at stake, for somebody who does not know the problem. */
  readonly question: string;
  readonly recipes: readonly Recipe[];
  readonly checks: readonly Check[];
  /** What is not in the library yet, or not promised; empty when there is nothing to say. */
  readonly remark?: string;
}

export interface RunOptions {
  /** Leaves holdfast's side out. @default false */
  readonly naiveOnly?: boolean;
  /** Between two recipes: ends the run early. */
  readonly signal?: AbortSignal;
  /** Told while it runs: what has been found so far. */
  readonly tell?: (line: string) => void;
}

export interface Experiment {
  readonly id: string;
  readonly title: string;
  readonly question: string;
  /** Same seed, same outcome, to the byte. */
  run(seed: number, options?: RunOptions): Promise<Outcome>;
}

export interface Outcome {
  readonly id: string;
  readonly title: string;
  readonly question: string;
  readonly remark: string;
  readonly seed: number;
  /** What plays it again. */
  readonly command: string;
  readonly trials: readonly TrialOutcome[];
  /** Every naive recipe failed that was to fail, and holdfast held. */
  readonly asExpected: boolean;
}

export interface TrialOutcome extends Told, Judgement {
  readonly side: Side;
  readonly name: string;
  readonly steps: readonly string[];
  /** Titles of checks. */
  readonly notPromised?: readonly string[];
  readonly timeline: Timeline;
}

export function experiment(plot: Plot): Experiment {
  const { id, title, question } = plot;
  return { id, title, question, run: (seed, options) => runPlot(plot, seed, options) };
}

async function runPlot(
  plot: Plot,
  seed: number,
  { naiveOnly = false, signal }: RunOptions = {},
): Promise<Outcome> {
  const trials: TrialOutcome[] = [];
  for (const recipe of plot.recipes) {
    if (naiveOnly && recipe.side !== "naive") continue;
    signal?.throwIfAborted();
    trials.push(await runRecipe(plot, recipe, seed));
  }
  const { id, title, question, remark = "" } = plot;
  const asExpected = trials.every((trial) => trial.asExpected);
  return { id, title, question, remark, seed, command: commandOf(id, seed), trials, asExpected };
}

export function commandOf(id: string, seed: number): string {
  return `holdfast lab ${id} --seed ${seed}`;
}

async function runRecipe(plot: Plot, recipe: Recipe, seed: number): Promise<TrialOutcome> {
  const { side, name, steps, needs, checks = plot.checks, notPromised = [], withstands = false } = recipe;
  const trial = await Trial.open(seed, recipe.realClients);
  await recipe.play(trial);
  await trial.run(recipe.lastsMs);
  const judgement = judge({ side, checks, needs, withstands }, trial);
  const { sentence, figures } = trial.tell();
  return {
    side,
    name,
    steps,
    ...judgement,
    sentence: judgement.verdict === "void" ? voidSentence(judgement.unmet) : trial.picture.named(sentence),
    figures,
    notPromised: notPromised.map(({ title }) => title),
    timeline: trial.picture.timeline(`${side === "naive" ? "Naive" : "Holdfast"}: ${name}`),
  };
}
