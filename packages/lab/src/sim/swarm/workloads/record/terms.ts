/** What a run of the records draws for itself: how long each is kept, and how updates are made. */
import type { RecordOptions, UpdateOptions } from "holdfast";
import type { Dice } from "../../../../chance/dice.js";
import type { Scene } from "../../workload.js";

export interface RecordTerms {
  readonly chain: RecordOptions;
  readonly fenced: RecordOptions;
  /** For how long the fenced one is kept. */
  readonly fenceMs: number;
  readonly update: UpdateOptions;
  /** Of a put of the fleeting one. */
  readonly keep: { readonly keep?: number };
  /** A holder that has entered writes nothing. */
  turnsBack(dice: Dice): boolean;
  waitsLong(dice: Dice): boolean;
}

const shortMs = 1_000;

export function drawTerms({ world }: Scene): RecordTerms {
  const dice = world.dice("options of records");
  const isShort = dice.chance(0.4);
  return {
    chain: { ...(dice.chance(0.3) && { keep: "1h" }), ...(dice.chance(0.3) && { tag: "orders" }) },
    fenced: isShort ? { keep: shortMs } : {},
    fenceMs: isShort ? shortMs : Number.POSITIVE_INFINITY,
    update: dice.chance(0.2) ? { retries: dice.pick([0, 3, 50]) } : {},
    keep: dice.chance(0.4) ? { keep: dice.pick([50, 400]) } : {},
    turnsBack: (drawn) => isShort && drawn.chance(0.4),
    waitsLong: (drawn) => isShort && drawn.chance(0.5),
  };
}
