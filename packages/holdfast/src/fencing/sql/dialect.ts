/** What PostgreSQL and the MySQL family write differently, and the names in a statement. */
import { InvalidArgumentError } from "../../errors.js";
import { raw, SqlFragment, type SqlStatement } from "./fragment.js";

/** MariaDB is of the MySQL family. */
export type SqlDialect = "postgres" | "mysql";

export interface SqlFenceOptions {
  readonly dialect: SqlDialect;
  /** The table, or schema and table. */
  readonly table: string | readonly [schema: string, table: string];
  /** The column of the token. @default "fence" */
  readonly tokenColumn?: string | undefined;
  /** The column of who brought it. @default "fence_holder" */
  readonly holderColumn?: string | undefined;
  /** How `text` marks its parameters: `$1` or `?`. @default "numbered" for postgres, "question" for mysql */
  readonly placeholders?: "numbered" | "question" | undefined;
}

const OPTIONS = ["dialect", "table", "tokenColumn", "holderColumn", "placeholders"];
/** PostgreSQL cuts longer names off without an error; MySQL allows one more. */
const LONGEST_NAME_BYTES = 63;

export class Dialect {
  readonly name: SqlDialect;
  /** As it was given, for messages. */
  readonly tableName: string;
  readonly table: SqlFragment;
  readonly token: SqlFragment;
  readonly holder: SqlFragment;
  readonly #own: readonly string[];
  readonly #numbered: boolean;

  /** @throws {InvalidArgumentError} */
  constructor(options: SqlFenceOptions) {
    if (typeof options !== "object" || options === null)
      throw new InvalidArgumentError("options", "must be an object");
    for (const key of Object.keys(options)) {
      if (!OPTIONS.includes(key))
        throw new InvalidArgumentError(key, `is not an option here: use ${OPTIONS.join(", ")}`);
    }
    const { dialect, table, tokenColumn = "fence", holderColumn = "fence_holder" } = options;
    if (dialect !== "postgres" && dialect !== "mysql")
      throw new InvalidArgumentError("dialect", 'must be "postgres" or "mysql"');
    const { placeholders = dialect === "postgres" ? "numbered" : "question" } = options;
    if (placeholders !== "numbered" && placeholders !== "question")
      throw new InvalidArgumentError("placeholders", 'must be "numbered" or "question"');
    this.name = dialect;
    this.#numbered = placeholders === "numbered";
    const path = typeof table === "string" ? [table] : table;
    if (!Array.isArray(path) || path.length < 1 || path.length > 2)
      throw new InvalidArgumentError("table", "must be a name, or [schema, table]");
    this.tableName = path.join(".");
    this.table = raw(path.map((part) => this.#quote("table", part)).join("."));
    this.token = this.column("tokenColumn", tokenColumn);
    this.holder = this.column("holderColumn", holderColumn);
    this.#own = [tokenColumn, holderColumn].map((name) => this.#identity(name));
  }

  /** Whether only the fence may write this column. */
  owns(name: string): boolean {
    return this.#own.includes(this.#identity(name));
  }

  /** A quoted name. @param argument what to call it when it cannot be one */
  column(argument: string, name: string): SqlFragment {
    return raw(this.#quote(argument, name));
  }

  /**
   * Drivers differ in what they make of a bigint, and MySQL compares a column with text as floating point
   * numbers: so a token travels as text, and is a number again before it is compared.
   */
  tokenValue(token: bigint): SqlFragment<string> {
    return new SqlFragment(
      ["CAST(", this.name === "postgres" ? " AS bigint)" : " AS SIGNED)"],
      [String(token)],
    );
  }

  /** For comparing: MySQL's usual collations hold `a` and `A` for the same. */
  holderValue(id: string): SqlFragment<string> {
    return new SqlFragment(this.name === "postgres" ? ["", ""] : ["CAST(", " AS BINARY)"], [id]);
  }

  /** Drivers round large numbers, or not, as they are set up; text they leave alone. */
  asText(column: SqlFragment): SqlFragment {
    const type = this.name === "postgres" ? "text" : "char";
    return raw(`CAST(${column.strings[0]} AS ${type})`);
  }

  statement({ strings, values }: SqlFragment): SqlStatement {
    if (this.name === "mysql" && values.some(isPlainObject))
      throw new InvalidArgumentError("values", "must have text for an object: mysql2 would make SQL of it");
    const text = strings.reduce((before, next, at) => `${before}${this.#numbered ? `$${at}` : "?"}${next}`);
    return { text, sql: text, values: [...values] };
  }

  /**
   * Two names with one identity may be one column. PostgreSQL compares quoted names byte by byte. The MySQL family
   * compares them by a collation that depends on the version: here more names are alike than in any of those.
   */
  #identity(name: string): string {
    if (this.name === "postgres") return name;
    const plain = name.normalize("NFKD").replace(/\p{M}/gu, "");
    return plain.toUpperCase().toLowerCase();
  }

  #quote(argument: string, name: string): string {
    const valid = typeof name === "string" && name !== "" && Buffer.byteLength(name) <= LONGEST_NAME_BYTES;
    // Some drivers look for parameters also inside of quoted names.
    if (!valid || /[\0?]/.test(name))
      throw new InvalidArgumentError(
        argument,
        `must be a name of at most ${LONGEST_NAME_BYTES} bytes without ?`,
      );
    return this.name === "postgres" ? `"${name.replaceAll('"', '""')}"` : `\`${name.replaceAll("`", "``")}\``;
  }
}

function isPlainObject(value: unknown): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    [Object.prototype, null].includes(Object.getPrototypeOf(value))
  );
}
