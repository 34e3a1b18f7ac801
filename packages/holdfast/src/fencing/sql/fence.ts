/**
 * SqlFence: the statements that fence a row. Each is a pure function of its arguments. The caller or FencedTable runs them.
 */
import { InvalidArgumentError } from "../../errors.js";
import type { Fenced } from "../fenced.js";
import type { Dialect } from "./dialect.js";
import { compose, joined, raw, type SqlFragment, type SqlStatement } from "./fragment.js";
import { type ColumnValues, entriesOf, type RowKey, whereRow } from "./row-key.js";

export interface SqlFence {
  /** Whether `enter` can return columns: only that of PostgreSQL can. */
  readonly returnsColumns: boolean;
  /** SQL that adds the columns of the fence to the table: for SQLite, two statements. */
  migration(): string;
  /** A template tag. It inserts fragments, and makes a parameter of every other value. */
  sql(strings: TemplateStringsArray, ...parts: unknown[]): SqlStatement;
  /** Inserts the row unless it is there. `values` are further columns. */
  create(row: RowKey, values?: ColumnValues): SqlStatement;
  /** Makes this holder the row's. @param columns to return; none where `returnsColumns` is false, where a `read` follows */
  enter(row: RowKey, holder: Fenced, columns?: readonly string[]): SqlStatement;
  /** Sets columns, unless somebody else entered. */
  write(row: RowKey, holder: Fenced, values: ColumnValues): SqlStatement;
  /**
   * Reads the current row, not the transaction's snapshot, and locks it until the transaction ends. In SQLite it does so after a
   * statement of this fence, or after BEGIN IMMEDIATE.
   */
  read(row: RowKey, columns?: readonly string[]): SqlStatement;
  /**
   * What a row, read after a statement changed none, says about that statement.
   * @param found the row of `read`; undefined when there was none
   * @param isConditional whether the statement had conditions beside the fence's, which the row may not have met. @default false
   * @throws {StaleTokenError} @throws {StaleHolderError} @throws {MissingRowError}
   */
  judge(
    row: RowKey,
    holder: Fenced,
    found: Readonly<Record<string, unknown>> | undefined,
    isConditional?: boolean,
  ): void;
}

/** Names under which `read` returns the fence, apart from every column of the user's. */
export const SEEN_TOKEN = "holdfast_token";
export const SEEN_HOLDER = "holdfast_holder";

export function insertUnlessThere(dialect: Dialect, row: RowKey, values: ColumnValues): SqlStatement {
  const columns = [...entriesOf(dialect, row), ...assignable(dialect, values)];
  const names = joined(
    columns.map(([column]) => column),
    ", ",
  );
  const parameters = joined(
    columns.map(([, value]) => compose(["", ""], [value])),
    ", ",
  );
  const [keyColumn = ""] = columns[0]?.[0].strings ?? [];
  const otherwise = raw(dialect.grammar.unlessThere(keyColumn));
  return dialect.statement(
    compose(["INSERT INTO ", " (", ") VALUES (", ") ", ""], [dialect.table, names, parameters, otherwise]),
  );
}

/** UPDATE of one row under a condition. */
export function updateIf(
  dialect: Dialect,
  row: RowKey,
  parts: {
    readonly set: readonly SqlFragment[];
    readonly condition?: SqlFragment;
    readonly returning?: readonly string[];
  },
): SqlStatement {
  const { set, condition, returning = [] } = parts;
  checkColumns(returning);
  if (set.length === 0) throw new InvalidArgumentError("values", "must have at least one column");
  if (returning.length > 0 && !dialect.grammar.returns)
    throw new InvalidArgumentError(
      "columns",
      "cannot be returned by enter of this dialect: read them after it",
    );
  const where = condition ? [whereRow(dialect, row), condition] : [whereRow(dialect, row)];
  const update = compose(
    ["UPDATE ", " SET ", " WHERE ", ""],
    [dialect.table, joined(set, ", "), joined(where, " AND ")],
  );
  if (returning.length === 0) return dialect.statement(update);
  return dialect.statement(compose(["", " RETURNING ", ""], [update, listOf(dialect, returning)]));
}

export function selectForUpdate(
  dialect: Dialect,
  row: RowKey,
  shown: readonly SqlFragment[],
  columns: readonly string[],
): SqlStatement {
  checkColumns(columns);
  const list = joined([...shown, ...columns.map((name) => dialect.column("columns", name))], ", ");
  return dialect.statement(
    compose(
      ["SELECT ", " FROM ", " WHERE ", dialect.grammar.forUpdate],
      [list, dialect.table, whereRow(dialect, row)],
    ),
  );
}

export function assignments(dialect: Dialect, values: ColumnValues): SqlFragment[] {
  return assignable(dialect, values).map(([column, value]) => compose(["", " = ", ""], [column, value]));
}

export function aliased(dialect: Dialect, column: SqlFragment, name: string): SqlFragment {
  return compose(["", " AS ", ""], [column, dialect.column("columns", name)]);
}

function assignable(dialect: Dialect, values: ColumnValues): [column: SqlFragment, value: unknown][] {
  if (typeof values !== "object" || values === null || Array.isArray(values))
    throw new InvalidArgumentError("values", "must be an object, as in { balance: 5 }");
  return Object.entries(values).map(([name, value]) => {
    if (dialect.owns(name)) throw new InvalidArgumentError("values", `must leave ${name} to the fence`);
    if (value === undefined)
      throw new InvalidArgumentError("values", `must have a value for ${name}, or null`);
    return [dialect.column("values", name), value];
  });
}

/** A string would pass as the list of its letters. */
export function checkColumns(columns: readonly string[]): void {
  if (!Array.isArray(columns))
    throw new InvalidArgumentError("columns", "must be a list of names, as in ['balance']");
}

function listOf(dialect: Dialect, columns: readonly string[]): SqlFragment {
  return joined(
    columns.map((name) => dialect.column("columns", name)),
    ", ",
  );
}
