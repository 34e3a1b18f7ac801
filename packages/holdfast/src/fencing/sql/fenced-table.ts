/**
 * FencedTable: runs the statements of a fence, and turns their results into success or a typed error.
 *
 * Enter before the first read: a fence raised only by the write lets an older holder write between a newer one's read
 * and write, and that update is lost.
 */
import { InvalidArgumentError } from "../../errors.js";
import type { Fenced } from "../fenced.js";
import { checkColumns, type SqlFence } from "./fence.js";
import type { SqlStatement } from "./fragment.js";
import { affectedRows, firstRow } from "./result.js";
import type { ColumnValues, RowKey, RowValue } from "./row-key.js";

/**
 * Runs one statement and resolves to the driver's result: `(statement) => pool.query(statement)` for pg and mysql2,
 * `({ text, values }) => sql.unsafe(text, values)` for postgres. In a transaction, on the transaction's connection.
 */
export type RunStatement = (statement: SqlStatement) => PromiseLike<unknown>;

/** The columns of a row, of which a statement names or sets some. */
type KeyOf<Row> = string extends keyof Row
  ? RowKey
  : { readonly [Column in keyof Row]?: Extract<Row[Column], RowValue> };
type ValuesOf<Row> = string extends keyof Row
  ? ColumnValues
  : { readonly [Column in keyof Row]?: Row[Column] };

/** `FencedTable<Account>` knows the columns of a row by the type `Account`. Without it a column has any name, and an unknown value. */
export class FencedTable<Row extends object = Record<string, unknown>> {
  readonly fence: SqlFence;
  readonly #run: RunStatement;

  /** Holds nothing, so one for each transaction costs nothing. */
  constructor(fence: SqlFence, run: RunStatement) {
    if (typeof fence?.judge !== "function")
      throw new InvalidArgumentError("fence", "must be a TokenFence or a HolderFence");
    if (typeof run !== "function") throw new InvalidArgumentError("run", "must be a function");
    this.fence = fence;
    this.#run = run;
  }

  /** Inserts the row unless it is there. A row that is there stays as it is. */
  async create(row: KeyOf<Row>, values?: ValuesOf<Row>): Promise<void> {
    await this.#run(this.fence.create(row as RowKey, values as ColumnValues | undefined));
  }

  /**
   * Makes this holder the row's newest, and returns the columns as they are from then on. May be repeated.
   * @throws {StaleTokenError} a newer holder has entered; HolderFence never refuses here
   * @throws {MissingRowError} the row does not exist: call `create` first
   * @throws the driver's errors; the outcome is then unknown, and the call may be repeated
   */
  async enter<Column extends keyof Row & string = never>(
    row: KeyOf<Row>,
    holder: Fenced,
    columns: readonly Column[] = [],
  ): Promise<Pick<Row, Column>> {
    return (await this.#enter(row as RowKey, holder, columns)) as Pick<Row, Column>;
  }

  async #enter(row: RowKey, holder: Fenced, columns: readonly string[]): Promise<Record<string, unknown>> {
    // An UPDATE of MySQL returns no columns, so there the row is read after it.
    const returns = this.fence.returnsColumns;
    checkColumns(columns);
    const result = await this.#run(this.fence.enter(row, holder, returns ? columns : []));
    const count = await this.#confirm(result, row, holder);
    if (columns.length === 0) return {};
    if (returns && count > 0) return { ...firstRow(result) };
    return this.#readAs(row, holder, columns);
  }

  /**
   * Sets columns of the row. Errors as for `enter`, and with HolderFence a StaleHolderError when somebody entered
   * since; nothing was written then.
   */
  async write(row: KeyOf<Row>, holder: Fenced, values: ValuesOf<Row>): Promise<void> {
    const result = await this.#run(this.fence.write(row as RowKey, holder, values as ColumnValues));
    await this.#confirm(result, row as RowKey, holder);
  }

  /**
   * For a statement of your own that has the fence's condition: resolves to the rows that it affected, and rejects when
   * the fence refused. 0 means that the fence admitted it, but that a condition of yours matched nothing, or that
   * the row had these values already.
   * @param result the driver's result
   */
  async confirm(result: unknown, row: KeyOf<Row>, holder: Fenced): Promise<number> {
    return this.#confirm(result, row as RowKey, holder, true);
  }

  async #confirm(result: unknown, row: RowKey, holder: Fenced, isConditional = false): Promise<number> {
    const count = affectedRows(result);
    if (count > 1)
      throw new InvalidArgumentError(
        "row",
        `named ${count} rows, all of which were changed: it must name one`,
      );
    if (count === 0) await this.#readAs(row, holder, [], isConditional);
    return count;
  }

  async #readAs(
    row: RowKey,
    holder: Fenced,
    columns: readonly string[],
    isConditional = false,
  ): Promise<Record<string, unknown>> {
    const found = firstRow(await this.#run(this.fence.read(row, columns)));
    this.fence.judge(row, holder, found, isConditional);
    return Object.fromEntries(columns.map((name) => [name, found?.[name]]));
  }
}
