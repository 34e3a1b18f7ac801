/**
 * Rounds: what one caller does, one operation after the other. Each kind of operation has a name, and what it is given is drawn before
 * it begins: so a plan can write down the operations of a run, and a run of that plan carries out these and no others.
 */
import type { Dice } from "../../chance/dice.js";

/** What one caller does. */
export interface Rounds {
  /** The operations that it may carry out, by name. The frame draws one after the other, with a pause before each, until the faults are over. */
  readonly kinds: Readonly<Record<string, RoundKind>>;
  /** Called once when the faults are over: here everything must succeed. */
  last?(): Promise<void>;
}

/** What an operation is given, as JSON has it. */
export type Given = string | number | boolean | null | readonly Given[];

/** One operation of a plan: the pause before it, its name, and what it is given. */
export type Round = readonly [pauseMs: number, kind: string, ...given: readonly Given[]];

export interface RoundKind {
  /** How often it is drawn, beside the others. */
  readonly weight: number;
  /** How much it is given. */
  readonly takes: number;
  draw(dice: Dice): readonly Given[];
  run(given: readonly Given[]): Promise<unknown>;
}

/** The name of a round in which nothing is done. */
export const rest = "rest";

/** A kind of operation that is given nothing. */
export function round(run: () => Promise<unknown>, weight?: number): RoundKind;
export function round<All extends readonly Given[] | []>(
  run: (...given: All) => Promise<unknown>,
  weight: number,
  draw: (dice: Dice) => [...All],
): RoundKind;
export function round<All extends readonly Given[] | []>(
  run: (...given: All) => Promise<unknown>,
  weight = 1,
  draw: (dice: Dice) => readonly Given[] = () => [],
): RoundKind {
  return { weight, takes: run.length, draw, run: (given) => run(...(given as All)) };
}

/** What is wrong with an operation of a plan; null: nothing. */
export function mistakeIn([pauseMs, kind, ...given]: Round, { kinds }: Rounds): string | null {
  if (!(pauseMs >= 0)) return `a pause of ${JSON.stringify(pauseMs)}`;
  if (kind === rest) return null;
  const known = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
  if (!known) return `"${kind}", which is unknown`;
  return given.length === known.takes ? null : `"${kind}" with ${given.length} of ${known.takes} arguments`;
}

export function drawRound(dice: Dice, { kinds }: Rounds, meanPauseMs: number): Round {
  const pauseMs = dice.whole(0, 2 * meanPauseMs);
  const all = Object.entries(kinds);
  let left = dice.between(
    0,
    all.reduce((sum, [, { weight }]) => sum + weight, 0),
  );
  const drawn = all.find(([, { weight }]) => {
    left -= weight;
    return left < 0;
  });
  if (!drawn) return [pauseMs, rest];
  const [name, kind] = drawn;
  return [pauseMs, name, ...kind.draw(dice)];
}
