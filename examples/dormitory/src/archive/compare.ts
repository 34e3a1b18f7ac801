/** Both sides of the archive held against each other: the choices in Redis, and their copies in PostgreSQL. */
import type { Kysely } from "kysely";
import type { BatchFacts } from "../check/facts.js";
import { bedOf } from "../check/rules.js";
import type { Tables } from "../data/tables.js";
import type { Difference, DifferenceKind } from "../domain/upkeep.js";

export async function archiveDifferences(db: Kysely<Tables>, batch: BatchFacts): Promise<Difference[]> {
  const rows = await db.selectFrom("results").selectAll().where("batch_id", "=", batch.id).execute();
  const copies = new Map(rows.map((row) => [row.student, `${row.room_id}:${row.bed}`]));
  const differences: Difference[] = [];
  const found = (kind: DifferenceKind, text: string): void => {
    differences.push({ kind, batchId: batch.id, text, repaired: false });
  };
  for (const choice of batch.choices) {
    const { studentId } = choice;
    const copy = copies.get(studentId);
    copies.delete(studentId);
    if (!copy)
      found("archive-missing", `student ${studentId} has bed ${bedOf(choice)}, and the archive has no row`);
    else if (copy !== bedOf(choice))
      found("archive-differs", `student ${studentId} has bed ${bedOf(choice)}, and the archive says ${copy}`);
  }
  for (const [studentId, bed] of copies)
    found(
      "archive-extra",
      `the archive says that student ${studentId} has bed ${bed}, and Redis has no such choice`,
    );
  return differences;
}
