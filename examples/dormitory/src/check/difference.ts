/** One thing that is wrong with the data. */
import { DIFFERENCE_KINDS, type DifferenceKind } from "../domain/upkeep.js";

export interface Difference {
  readonly kind: DifferenceKind;
  readonly batchId: string;
  /** Names the room, bed, student or team. */
  readonly text: string;
  readonly repaired: boolean;
}

export function countsOf(differences: readonly Difference[]): Record<DifferenceKind, number> {
  const counts = Object.fromEntries(DIFFERENCE_KINDS.map((kind) => [kind, 0])) as Record<
    DifferenceKind,
    number
  >;
  for (const { kind } of differences) counts[kind] += 1;
  return counts;
}
