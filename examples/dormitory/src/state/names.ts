/** The names of locks and records. */
import { randomUUID } from "node:crypto";

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

/** Of a batch, a room or a team. It has 60 random bits: of 14,000 rooms with 32 bits, two were alike in one import of 44. */
export function newId(): string {
  return randomUUID().replaceAll("-", "").slice(0, 16);
}
