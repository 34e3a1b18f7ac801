/** The copy of a batch's choices in PostgreSQL, written under the term of the archive's leader. */
import { FencedTable } from "holdfast/fencing/sql";
import { CompiledQuery, type Kysely, type Transaction } from "kysely";
import type { BatchFacts } from "../check/facts.js";
import type { Tables } from "../data/tables.js";
import { archiveFence, fenceRow } from "./fence.js";

/** A leadership, or whatever else carries a fence. */
export interface Term {
  readonly fence: bigint;
  readonly id: string;
}

/** PostgreSQL takes at most 65,535 parameters in a statement. */
const ROWS_A_STATEMENT = 5_000;

/**
 * Makes the archive of the batch what the facts say, in one transaction. May be repeated.
 * @returns the number of rows
 * @throws {StaleTokenError} a later leader has written: nothing was changed
 */
export async function copyBatch(db: Kysely<Tables>, batch: BatchFacts, term: Term): Promise<number> {
  const rows = batch.choices.map(({ studentId, roomId, bed, decidedAtMs }) => ({
    student: studentId,
    batch_id: batch.id,
    room_id: roomId,
    bed,
    decided_at_ms: decidedAtMs,
    fence: term.fence,
    fence_holder: term.id,
  }));
  await db.transaction().execute(async (transaction) => {
    await enterBatch(transaction, batch.id, term);
    await transaction.deleteFrom("results").where("batch_id", "=", batch.id).execute();
    for (let at = 0; at < rows.length; at += ROWS_A_STATEMENT)
      await transaction
        .insertInto("results")
        .values(rows.slice(at, at + ROWS_A_STATEMENT))
        .execute();
  });
  return rows.length;
}

/** From here to the end of the transaction no other leader enters; an older one is refused for good. */
async function enterBatch(transaction: Transaction<Tables>, batchId: string, term: Term): Promise<void> {
  const fences = new FencedTable(archiveFence, ({ text, values }) =>
    transaction.executeQuery(CompiledQuery.raw(text, [...values])),
  );
  const row = fenceRow(batchId);
  await fences.create(row);
  await fences.enter(row, term);
}

/** The batch was copied before, by whichever leader. */
export async function isCopied(db: Kysely<Tables>, batchId: string): Promise<boolean> {
  const { resource } = fenceRow(batchId);
  const row = await db
    .selectFrom("archive_fences")
    .select("fence")
    .where("resource", "=", resource)
    .executeTakeFirst();
  return row !== undefined;
}
