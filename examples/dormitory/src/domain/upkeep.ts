/** What an administrator does to keep the data right. `upkeepOf` in ../archive/upkeep.ts makes it. */

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

export interface Difference {
  readonly kind: DifferenceKind;
  readonly text: string;
  readonly repaired: boolean;
}

export interface CheckReport {
  readonly atMs: number;
  readonly differences: readonly Difference[];
}

export interface ArchiveReport {
  readonly copied: number;
  readonly differences: number;
  readonly repaired: number;
}

export interface LogEntry {
  readonly atMs: number;
  readonly by: string;
  readonly batchId: string | null;
  readonly text: string;
}

export interface Upkeep {
  /** Compares beds, choices, teams and the archive. Changes nothing. */
  check(): Promise<CheckReport>;
  /** Repairs what can be decided from the data, and checks again. The rest is for people. */
  repair(by: string): Promise<CheckReport>;
  /** Copies the results of a batch as they are now, whether it is over or not. */
  archive(batchId: string, by: string): Promise<ArchiveReport>;
  /** The newest first. */
  log(limit: number): Promise<readonly LogEntry[]>;
}
