/** Operating: what an operator does with deliveries of a run: it looks at them, deletes what waits, and brings dead letters back. */
import type { DeadLetter, LaneDeadLetter, QueueOptions } from "holdfast";
import type { Dice } from "../../../chance/dice.js";
import { type Caller, type Rounds, round } from "../workload.js";

/** What queues and lanes have in common for an operator. */
export interface Operated {
  readonly name: string;
  dead(options: { readonly count: number }): Promise<readonly (DeadLetter | LaneDeadLetter)[]>;
  redrive(ids: readonly string[] | { readonly all: true }): Promise<number>;
  /** Deletes what waits, all of it or some. */
  drain(): Promise<number>;
  reset(): Promise<unknown>;
  /** Reads, each of which must succeed where nothing fails. */
  readonly looks: readonly (() => Promise<unknown>)[];
}

/** What a run draws of what queues and lanes have in common; `Own` are options of its own. */
export interface OperatingTerms<Own = object> {
  readonly clears: boolean;
  readonly redrives: boolean;
  /** After which a handler has failed; undefined: as by default. */
  readonly timeoutMs: number | undefined;
  readonly more: Own & Pick<QueueOptions, "keepDead" | "keepResults" | "maxBytes">;
}

/** Of the plans that draw nothing more. */
export const asUsual = { more: {}, timeoutMs: undefined, clears: false, redrives: false } as const;

export function drawOperating<Own>(dice: Dice, own: Own): OperatingTerms<Own> {
  return {
    more: {
      ...own,
      ...(dice.chance(0.2) && { keepDead: dice.pick([0, 1, 50]) }),
      ...(dice.chance(0.2) && { keepResults: dice.pick(["1s", "1m"] as const) }),
      ...(dice.chance(0.2) && { maxBytes: 1_000 }),
    },
    timeoutMs: dice.chance(0.2) ? dice.pick([200, 600]) : undefined,
    clears: dice.chance(0.2),
    redrives: dice.chance(0.3),
  };
}

/** How many calls one call may make, one after the other. */
const callsOfOne = 30;
const someDead = 3;

export function operatingKinds(
  caller: Caller,
  operated: Operated,
  { clears, redrives }: Pick<OperatingTerms, "clears" | "redrives">,
): Rounds["kinds"] {
  const { name } = operated;
  const more = { withinMs: callsOfOne * caller.plan.callTimeoutMs };
  return {
    look: round(
      async (place: number) => {
        await caller.attempt(
          "look",
          name,
          operated.looks[place % operated.looks.length] ?? operated.reset,
          more,
        );
      },
      1,
      (dice) => [dice.whole(0, operated.looks.length - 1)],
    ),
    drain: round(() => caller.attempt("clear", name, () => operated.drain(), more), clears ? 0.4 : 0),
    reset: round(() => caller.attempt("clear", name, () => operated.reset(), more), clears ? 0.4 : 0),
    redrive: round(
      async (isAll: boolean) => {
        const letters = isAll ? [] : await someLetters(caller, operated);
        const which = isAll ? ({ all: true } as const) : letters;
        await caller.attempt("redrive", name, () => operated.redrive(which), more);
      },
      redrives ? 1 : 0,
      (dice) => [dice.chance(0.5)],
    ),
  };
}

async function someLetters(caller: Caller, operated: Operated): Promise<readonly string[]> {
  const found = await caller.attempt("letters", operated.name, () => operated.dead({ count: someDead }));
  return found.type === "ok" ? found.value.map(({ id }) => id) : [];
}
