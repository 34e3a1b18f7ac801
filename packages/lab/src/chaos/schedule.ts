/** Schedule: what is to go wrong and when, drawn from a seed before anything begins. */
import { Dice } from "../chance/dice.js";
import type { Nemesis } from "./nemeses/nemesis.js";

export interface Planned {
  /** After the beginning. */
  readonly atMs: number;
  readonly nemesis: Nemesis;
  /** Which worker, by its place. */
  readonly slot: number;
  /** For what is left to chance within it. */
  readonly seed: number;
}

export interface ScheduleTerms {
  readonly seed: number;
  readonly lengthMs: number;
  readonly slots: number;
  readonly nemeses: readonly Nemesis[];
}

/** Most faults show only while others are away: each round leaves out about half of them. */
const SHARE = 0.5;
const FEWEST = 4;
const GAPS_MS = { low: 150, high: 700 };
/** Nothing has begun yet before that. */
const QUIET_MS = 300;

export function drawSchedule({ seed, lengthMs, slots, nemeses }: ScheduleTerms): Planned[] {
  const dice = new Dice(seed);
  const chosen = swarm(dice, nemeses);
  if (chosen.length === 0) return [];
  const urn = chosen.flatMap((nemesis) => Array.from({ length: nemesis.weight ?? 1 }, () => nemesis));
  const gapMs = dice.between(GAPS_MS.low, GAPS_MS.high);
  const planned: Planned[] = [];
  for (let atMs = QUIET_MS + dice.gapMs(gapMs); atMs < lengthMs; atMs += dice.gapMs(gapMs)) {
    planned.push({ atMs, nemesis: dice.pick(urn), slot: dice.whole(0, slots - 1), seed: dice.seed() });
  }
  return planned;
}

/** With one at least that a recipe without a fence does not survive: the canaries need it. */
function swarm(dice: Dice, nemeses: readonly Nemesis[]): Nemesis[] {
  const mixed = dice.shuffle(nemeses);
  const chosen = mixed.filter((_, place) => place < FEWEST || dice.chance(SHARE));
  const biting = mixed.filter(({ bites }) => bites);
  if (biting[0] && !chosen.some(({ bites }) => bites)) chosen.push(biting[0]);
  return chosen;
}
