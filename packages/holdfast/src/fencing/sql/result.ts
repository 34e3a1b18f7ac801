/** What drivers and query builders answer, brought to two questions: how many rows, and which. */
import { InvalidArgumentError } from "../../errors.js";

/** Where pg, postgres, mysql2, kysely (twice), the drivers of SQLite, and libSQL's client say it. */
const COUNTS = [
  "rowCount",
  "affectedRows",
  "count",
  "numAffectedRows",
  "numUpdatedRows",
  "changes",
  "rowsAffected",
];

/**
 * How many rows a statement affected, from the answer of pg, postgres, mysql2, a driver of SQLite, knex, kysely or drizzle.
 *
 * In MySQL this counts the rows that were found, or only those that were changed, as the connection's FOUND_ROWS
 * flag says (mysql2 sets it); so 0 is no verdict yet. FencedTable asks the row.
 * @throws {InvalidArgumentError} it is the answer of something else
 */
export function affectedRows(result: unknown): number {
  if (typeof result === "number" || typeof result === "bigint") return Number(result);
  if (typeof result === "object" && result !== null) {
    for (const name of COUNTS) {
      const count: unknown = name in result ? Reflect.get(result, name) : undefined;
      if (typeof count === "number" || typeof count === "bigint") return Number(count);
    }
    if (Array.isArray(result) && result.length > 0) return affectedRows(result[0]);
  }
  throw new InvalidArgumentError("result", "says nothing of affected rows: return what the driver answers");
}

/** The first row of an answer. @throws {InvalidArgumentError} */
export function firstRow(result: unknown): Record<string, unknown> | undefined {
  const rows = rowsOf(result);
  if (rows === undefined)
    throw new InvalidArgumentError("result", "has no rows: return what the driver answers");
  return rows[0] as Record<string, unknown> | undefined;
}

function rowsOf(result: unknown): unknown[] | undefined {
  if (Array.isArray(result)) return Array.isArray(result[0]) ? result[0] : result;
  if (typeof result !== "object" || result === null || !("rows" in result)) return undefined;
  return Array.isArray(result.rows) ? result.rows : undefined;
}
