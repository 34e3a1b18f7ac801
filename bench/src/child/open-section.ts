/** A section that callers enter under a lock. */

/** @param isWrite whether the turn is that of a writer, who must be alone */
export type Work = ((caller: number, isWrite: boolean) => Promise<void>) | null;

export interface OpenSection {
  readonly work: Work;
  overlaps(): number;
  /** Known here only when the counter is this process's own. */
  lostUpdates(cycles: number): number;
  close(): Promise<void>;
}
