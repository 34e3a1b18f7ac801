/**
 * TokenFence: a row stores the newest token that it has served, and the id of its holder.
 *
 * It refuses older tokens, and an equal one of another holder: two lock servers that both served a split brain may
 * have handed out the same number.
 */
import { InvalidArgumentError, MissingRowError, StaleTokenError } from "../../errors.js";
import { checkFenced, type Fenced, refuses } from "../fenced.js";
import { Dialect, type SqlFenceOptions } from "./dialect.js";
import {
  aliased,
  assignments,
  insertUnlessThere,
  SEEN_HOLDER,
  SEEN_TOKEN,
  type SqlFence,
  selectForUpdate,
  updateIf,
} from "./fence.js";
import { compose, type SqlFragment, type SqlStatement } from "./fragment.js";
import { addColumns } from "./grammar.js";
import { type ColumnValues, type RowKey, resourceOf } from "./row-key.js";

export class TokenFence implements SqlFence {
  readonly #dialect: Dialect;

  /** @throws {InvalidArgumentError} */
  constructor(options: SqlFenceOptions) {
    this.#dialect = new Dialect(options);
  }

  get returnsColumns(): boolean {
    return this.#dialect.grammar.returns;
  }

  /** The condition under which the row admits this holder. Put it into the statement of `raise`, so that no pause fits in between. */
  admits(holder: Fenced): SqlFragment<string> {
    const { fence, id } = checkFenced(holder);
    const { token, holder: by } = this.#dialect;
    const value = this.#dialect.tokenValue(fence);
    return compose(
      ["(", " < ", " OR (", " = ", " AND ", " = ", "))"],
      [token, value, token, value, by, this.#dialect.holderValue(id)],
    ) as SqlFragment<string>;
  }

  /** The assignments that make this holder the row's newest. */
  raise(holder: Fenced): SqlFragment<string> {
    const { fence, id } = checkFenced(holder);
    const { token, holder: by } = this.#dialect;
    const parts = [token, this.#dialect.tokenValue(fence), by, id];
    return compose(["", " = ", ", ", " = ", ""], parts) as SqlFragment<string>;
  }

  migration(): string {
    const { grammar, table, token, holder } = this.#dialect;
    return addColumns(grammar, table, [
      [token, grammar.tokenType, "0"],
      [holder, grammar.holderType(200), "''"],
    ]);
  }

  sql(strings: TemplateStringsArray, ...parts: unknown[]): SqlStatement {
    return this.#dialect.statement(compose(strings, parts));
  }

  create(row: RowKey, values: ColumnValues = {}): SqlStatement {
    return insertUnlessThere(this.#dialect, row, values);
  }

  enter(row: RowKey, holder: Fenced, columns: readonly string[] = []): SqlStatement {
    const set = [this.raise(holder)];
    return updateIf(this.#dialect, row, { set, condition: this.admits(holder), returning: columns });
  }

  write(row: RowKey, holder: Fenced, values: ColumnValues): SqlStatement {
    const set = [...assignments(this.#dialect, values), this.raise(holder)];
    return updateIf(this.#dialect, row, { set, condition: this.admits(holder) });
  }

  read(row: RowKey, columns: readonly string[] = []): SqlStatement {
    const { token, holder } = this.#dialect;
    const shown = [
      aliased(this.#dialect, this.#dialect.asText(token), SEEN_TOKEN),
      aliased(this.#dialect, this.#dialect.asText(holder), SEEN_HOLDER),
    ];
    return selectForUpdate(this.#dialect, row, shown, columns);
  }

  judge(
    row: RowKey,
    holder: Fenced,
    found: Readonly<Record<string, unknown>> | undefined,
    isConditional = false,
  ): void {
    const { fence, id } = checkFenced(holder);
    const resource = resourceOf(this.#dialect, row);
    if (found === undefined) throw new MissingRowError(resource);
    const digits = found[SEEN_TOKEN];
    if (typeof digits !== "string" || !/^-?\d+$/.test(digits))
      throw new InvalidArgumentError(
        "row",
        `of ${resource} has no token: use read(), and columns without NULL`,
      );
    const seen = { fence: BigInt(digits), id: String(found[SEEN_HOLDER]) };
    if (refuses(seen, { fence, id })) throw new StaleTokenError(resource, fence, seen.fence);
    // The row lets this holder in, but was not there when the statement ran.
    if (seen.fence !== fence && !isConditional) throw new MissingRowError(resource);
  }
}
