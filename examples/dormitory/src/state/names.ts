/** The names of locks and records. */

export function batchLock(batchId: string): string {
  return `batch:${batchId}`;
}

export function wishesRecord(
  batchId: string,
  teamId: string,
): { readonly name: string; readonly tag: string } {
  return { name: `wishes:${teamId}`, tag: batchId };
}

export const SELECTION_LANES = "selection";

/** Tells pages that a batch was edited. */
export function batchSignal(batchId: string): string {
  return `batch-edited:${batchId}`;
}
