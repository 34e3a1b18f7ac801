/**
 * HolderFence: a row stores the holder that entered last, and admits writes of that holder only. This is compare-and-set on a
 * random value, for locks whose store has no rising token.
 *
 * It has no order. A holder that was paused before it entered displaces the rightful holder. The rightful holder loses its turn,
 * but no update is lost.
 */
import { MissingRowError, StaleHolderError } from "../../errors.js";
import { checkFenced, type Fenced } from "../fenced.js";
import { Dialect, type SqlFenceOptions } from "./dialect.js";
import {
  aliased,
  assignments,
  insertUnlessThere,
  SEEN_HOLDER,
  type SqlFence,
  selectForUpdate,
  updateIf,
} from "./fence.js";
import { compose, type SqlFragment, type SqlStatement } from "./fragment.js";
import { addColumns } from "./grammar.js";
import { type ColumnValues, type RowKey, resourceOf } from "./row-key.js";

export class HolderFence implements SqlFence {
  readonly #dialect: Dialect;

  /** @throws {InvalidArgumentError} */
  constructor(options: Omit<SqlFenceOptions, "tokenColumn">) {
    this.#dialect = new Dialect(options);
  }

  get returnsColumns(): boolean {
    return this.#dialect.grammar.returns;
  }

  /** The condition that this holder entered last. */
  heldBy(holder: Fenced): SqlFragment<string> {
    const value = this.#dialect.holderValue(nameOf(holder));
    return compose(["", " = ", ""], [this.#dialect.holder, value]) as SqlFragment<string>;
  }

  migration(): string {
    const { grammar, table, holder } = this.#dialect;
    return addColumns(grammar, table, [[holder, grammar.holderType(250), "''"]]);
  }

  sql(strings: TemplateStringsArray, ...parts: unknown[]): SqlStatement {
    return this.#dialect.statement(compose(strings, parts));
  }

  create(row: RowKey, values: ColumnValues = {}): SqlStatement {
    return insertUnlessThere(this.#dialect, row, values);
  }

  enter(row: RowKey, holder: Fenced, columns: readonly string[] = []): SqlStatement {
    const set = [compose(["", " = ", ""], [this.#dialect.holder, nameOf(holder)])];
    return updateIf(this.#dialect, row, { set, returning: columns });
  }

  write(row: RowKey, holder: Fenced, values: ColumnValues): SqlStatement {
    const set = assignments(this.#dialect, values);
    return updateIf(this.#dialect, row, { set, condition: this.heldBy(holder) });
  }

  read(row: RowKey, columns: readonly string[] = []): SqlStatement {
    const shown = [aliased(this.#dialect, this.#dialect.asText(this.#dialect.holder), SEEN_HOLDER)];
    return selectForUpdate(this.#dialect, row, shown, columns);
  }

  judge(row: RowKey, holder: Fenced, found: Readonly<Record<string, unknown>> | undefined): void {
    const resource = resourceOf(this.#dialect, row);
    if (found === undefined) throw new MissingRowError(resource);
    const seen = String(found[SEEN_HOLDER] ?? "");
    if (seen !== nameOf(holder)) throw new StaleHolderError(resource, nameOf(holder), seen);
  }
}

/** The turns of one process on one lock share an id: with the token, each has a value of its own. */
function nameOf(holder: Fenced): string {
  const { fence, id } = checkFenced(holder);
  return `${fence}:${id}`;
}
