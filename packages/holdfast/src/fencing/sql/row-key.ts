/** Which row: the columns that name it, and their values. */
import { InvalidArgumentError } from "../../errors.js";
import type { Dialect } from "./dialect.js";
import { compose, joined, type SqlFragment } from "./fragment.js";

/** A value of a column that names a row. NULL equals nothing, and some drivers make SQL of an object or a list. */
export type RowValue = string | number | bigint | boolean | Date | Uint8Array;

/** The columns of the primary key with their values: `{ id: 13 }`. It must name one row. */
export type RowKey = Readonly<Record<string, RowValue>>;

/** Columns and the values that they receive. Null is NULL; undefined is refused. */
export type ColumnValues = Readonly<Record<string, NonNullable<unknown> | null>>;

/** @throws {InvalidArgumentError} the key could name every row, or none */
export function whereRow(dialect: Dialect, key: RowKey): SqlFragment {
  const parts = entriesOf(dialect, key).map(([column, value]) => compose(["", " = ", ""], [column, value]));
  return joined(parts, " AND ");
}

/** `account id=13`, for messages. */
export function resourceOf(dialect: Dialect, key: RowKey): string {
  const values = Object.entries(key).map(([column, value]) => `${column}=${String(value)}`);
  return `${dialect.tableName} ${values.join(" ")}`;
}

export function entriesOf(dialect: Dialect, key: RowKey): [column: SqlFragment, value: unknown][] {
  const entries = Object.entries(typeof key === "object" && key !== null ? key : {});
  if (entries.length === 0) throw new InvalidArgumentError("row", "must name a row, as in { id: 13 }");
  return entries.map(([name, value]) => {
    if (dialect.owns(name)) throw new InvalidArgumentError("row", `must leave ${name} to the fence`);
    if (!isRowValue(value))
      throw new InvalidArgumentError("row", `must have text, a number, a date or bytes for ${name}`);
    return [dialect.column("row", name), value];
  });
}

function isRowValue(value: unknown): value is RowValue {
  if (value instanceof Date || value instanceof Uint8Array) return true;
  return ["string", "number", "bigint", "boolean"].includes(typeof value);
}
