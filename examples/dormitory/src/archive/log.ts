/** The log of the archive, for people: who did what with which batch, in sentences. */
import type { Kysely } from "kysely";
import type { Tables } from "../data/tables.js";
import type { LogEntry } from "../domain/upkeep.js";

type Draft = Omit<LogEntry, "atMs">;

/** A defect can make thousands of differences; people read some dozens. */
const MOST_LINES = 50;

export async function writeLog(db: Kysely<Tables>, drafts: readonly Draft[]): Promise<void> {
  const shown = drafts.slice(0, MOST_LINES);
  const rest = drafts.length - shown.length;
  const last = drafts.at(-1);
  if (rest > 0 && last) shown.push({ ...last, text: `and ${rest} more of this kind` });
  if (shown.length === 0) return;
  const atMs = Date.now();
  const rows = shown.map(({ by, batchId, kind, text }) => ({
    at_ms: atMs,
    who: by,
    batch_id: batchId,
    kind,
    line: text,
  }));
  await db.insertInto("archive_log").values(rows).execute();
}

/** The newest first. */
export async function readLog(db: Kysely<Tables>, limit: number): Promise<LogEntry[]> {
  const rows = await db.selectFrom("archive_log").selectAll().orderBy("id", "desc").limit(limit).execute();
  return rows.map(({ at_ms, who, batch_id, kind, line }) => {
    return { atMs: Number(at_ms), by: who, batchId: batch_id, kind: kind as LogEntry["kind"], text: line };
  });
}
