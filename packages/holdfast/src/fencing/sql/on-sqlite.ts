/** Runs the statements of a fence on a synchronous driver of SQLite: better-sqlite3, libsql, node:sqlite or bun:sqlite. */
import { InvalidArgumentError } from "../../errors.js";
import type { RunStatement } from "./fenced-table.js";

/** The part of a prepared statement that is used. */
export interface SqliteStatement {
  /** Whether it returns rows. better-sqlite3 and libsql say so, and refuse `all` where it is false. */
  readonly reader?: boolean;
  all(...values: never[]): unknown[];
  run(...values: never[]): unknown;
}

/** The part of a driver's database that is used. */
export interface SqliteDatabase {
  prepare(sql: string): SqliteStatement;
}

/**
 * For `new FencedTable(fence, onSqlite(database))`. A statement runs at once, before the call returns, and blocks the process for
 * as long as another connection writes: set the driver's `timeout` to less than a third of the lock's ttl.
 * @throws {InvalidArgumentError} it is no database of such a driver
 */
export function onSqlite(database: SqliteDatabase): RunStatement {
  if (typeof database?.prepare !== "function")
    throw new InvalidArgumentError("database", "must have a method `prepare`, as that of better-sqlite3 has");
  return async ({ text, values }) => {
    const statement = database.prepare(text);
    const given = values as never[];
    if (statement.reader === false) return statement.run(...given);
    const rows = statement.all(...given);
    // `all` counts no changes, and nothing comes in between on this connection.
    const [counted] = database.prepare("SELECT changes() AS changes").all() as { changes: number | bigint }[];
    return { rows, changes: counted?.changes ?? 0 };
  };
}
