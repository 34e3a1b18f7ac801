/** Archives one batch: copies, holds both sides against each other, repairs the copy, and writes down what it did. */
import { StaleTokenError } from "holdfast";
import type { Kysely } from "kysely";
import { readBatch, type Store } from "../check/read.js";
import type { Tables } from "../data/tables.js";
import type { ArchiveReport } from "../domain/upkeep.js";
import { archiveDifferences } from "./compare.js";
import { copyBatch, type Term } from "./copy.js";
import { writeLog } from "./log.js";

export interface ArchiveTask {
  readonly store: Store;
  readonly db: Kysely<Tables>;
  readonly batchId: string;
  /** For the log. */
  readonly by: string;
  readonly term: Term;
}

/** @throws {StaleTokenError} a later leader has written: nothing was changed, and the log says so */
export async function archiveBatch(task: ArchiveTask): Promise<ArchiveReport> {
  try {
    const copied = await copyNow(task);
    return { ...(await verifyBatch(task)), copied };
  } catch (error) {
    if (error instanceof StaleTokenError)
      await log(task, "error", `refused: a later leader has written (${error.seen} after ${error.token})`);
    throw error;
  }
}

/** Holds both sides against each other, and copies again where they differ. */
export async function verifyBatch(task: ArchiveTask): Promise<ArchiveReport> {
  const { store, db, batchId, term } = task;
  const batch = await readBatch(store, batchId);
  const before = await archiveDifferences(db, batch);
  if (before.length === 0) return { copied: batch.choices.length, differences: 0, repaired: 0 };
  const lines = before.map(({ text }) => ({ by: task.by, batchId, kind: "difference" as const, text }));
  await writeLog(db, lines);
  const copied = await copyBatch(db, batch, term);
  const after = await archiveDifferences(db, await readBatch(store, batchId));
  const repaired = Math.max(0, before.length - after.length);
  await log(task, "repair", `${repaired} of ${before.length} differences repaired by another copy`);
  return { copied, differences: before.length, repaired };
}

async function copyNow(task: ArchiveTask): Promise<number> {
  const copied = await copyBatch(task.db, await readBatch(task.store, task.batchId), task.term);
  await log(task, "info", `${copied} choices copied to PostgreSQL`);
  return copied;
}

async function log(
  { db, batchId, by }: ArchiveTask,
  kind: "info" | "repair" | "error",
  text: string,
): Promise<void> {
  await writeLog(db, [{ by, batchId, kind, text }]);
}
