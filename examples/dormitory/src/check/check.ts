/** The check of all batches, on both sides. It changes nothing. */
import type { Kysely } from "kysely";
import { archiveDifferences } from "../archive/compare.js";
import { isCopied } from "../archive/copy.js";
import type { Tables } from "../data/tables.js";
import { type CheckReport, countsOf, type Difference } from "../domain/upkeep.js";
import { differencesAcross, differencesOfRooms } from "./across.js";
import type { BatchFacts } from "./facts.js";
import { batchIdsIn, readBatch, readDirectory, type Store } from "./read.js";
import { differencesIn } from "./rules.js";

export async function checkAll(store: Store, db: Kysely<Tables>): Promise<CheckReport> {
  const differences = await lastingDifferences(store, db);
  const ids = await batchIdsIn(store);
  const archived = await archivedIn(db);
  for (const id of ids) {
    const batch = await readBatch(store, id);
    differences.push(...differencesIn(batch));
    // A batch that is not over changes after its copy.
    if (archived.has(id) && (await isCopied(db, id)))
      differences.push(...(await archiveDifferences(db, batch)));
  }
  return { atMs: Date.now(), batches: ids.length, differences, counts: countsOf(differences) };
}

/**
 * Batches, directory and rows are read one after the other, and an edit between two reads looks like a difference. Those that
 * another reading finds as well are real.
 */
async function lastingDifferences(store: Store, db: Kysely<Tables>): Promise<Difference[]> {
  const first = await differencesBetween(store, db);
  if (first.length === 0) return first;
  const again = new Set((await differencesBetween(store, db)).map(({ text }) => text));
  return first.filter(({ text }) => again.has(text));
}

async function differencesBetween(store: Store, db: Kysely<Tables>): Promise<Difference[]> {
  const batches: BatchFacts[] = [];
  for (const id of await batchIdsIn(store)) batches.push(await readBatch(store, id));
  const rows = await db.selectFrom("rooms").select(["id", "batch_id", "beds"]).execute();
  return [
    ...differencesAcross(batches, await readDirectory(store)),
    ...batches.flatMap((batch) =>
      differencesOfRooms(
        batch,
        rows.filter(({ batch_id }) => batch_id === batch.id),
      ),
    ),
  ];
}

async function archivedIn(db: Kysely<Tables>): Promise<Set<string>> {
  const rows = await db.selectFrom("batches").select("id").where("archived", "=", true).execute();
  return new Set(rows.map(({ id }) => id));
}
