/** What an administrator does to keep the data right, and what they are told. */

/** A word for each rule that can be broken. */
export const DIFFERENCE_KINDS = [
  "bed-given-twice",
  "room-over-capacity",
  "student-with-two-rooms",
  "student-with-two-beds",
  "student-in-two-batches",
  "wrong-directory",
  "rooms-differ",
  "team-torn-apart",
  "answer-lost",
  "wrong-team",
  "wrong-room",
  "one-sided",
  "wrong-count",
  "archive-missing",
  "archive-extra",
  "archive-differs",
] as const;

export type DifferenceKind = (typeof DIFFERENCE_KINDS)[number];

/** One thing that is wrong with the data. */
export interface Difference {
  readonly kind: DifferenceKind;
  readonly batchId: string;
  /** Names the room, bed, student or team. */
  readonly text: string;
  readonly repaired: boolean;
}

export interface CheckReport {
  readonly atMs: number;
  readonly batches: number;
  readonly differences: readonly Difference[];
  readonly counts: Readonly<Record<DifferenceKind, number>>;
}

export interface ArchiveReport {
  /** Choices in the archive now. */
  readonly copied: number;
  /** That the comparison found. */
  readonly differences: number;
  /** Of these, how many another copy ended. */
  readonly repaired: number;
}

export interface LogEntry {
  readonly atMs: number;
  /** An administrator, or the worker with its term. */
  readonly by: string;
  readonly batchId: string | null;
  readonly kind: "info" | "difference" | "repair" | "error";
  readonly text: string;
}

/** `upkeepOf` in ../archive/upkeep.ts makes it. */
export interface Upkeep {
  /** Compares beds, choices, teams and the archive. Changes nothing. */
  check(): Promise<CheckReport>;
  /** Repairs what can be decided from the data, and checks again. The rest is for people. */
  repair(by: string): Promise<CheckReport>;
  /** Copies the results of a batch as they are now, whether it is over or not. The leader of the archive does it. */
  archive(batchId: string, by: string): Promise<ArchiveReport>;
  /** The newest first. */
  log(limit: number): Promise<readonly LogEntry[]>;
}

/** How many of each kind. */
export function countsOf(differences: readonly Difference[]): Record<DifferenceKind, number> {
  const counts = Object.fromEntries(DIFFERENCE_KINDS.map((kind) => [kind, 0])) as Record<
    DifferenceKind,
    number
  >;
  for (const { kind } of differences) counts[kind] += 1;
  return counts;
}
