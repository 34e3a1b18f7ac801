/** Dialect: the names in a statement, and how one database writes it. */
import { InvalidArgumentError } from "../../errors.js";
import { raw, SqlFragment, type SqlStatement } from "./fragment.js";
import { type Grammar, grammars, type SqlDialect } from "./grammar.js";

export interface SqlFenceOptions {
  readonly dialect: SqlDialect;
  /** The table, or schema and table. */
  readonly table: string | readonly [schema: string, table: string];
  /** The column of the token. @default "fence" */
  readonly tokenColumn?: string | undefined;
  /** The column of who brought it. @default "fence_holder" */
  readonly holderColumn?: string | undefined;
  /** How `text` marks its parameters: `$1` or `?`. @default "numbered" for postgres, "question" for the others */
  readonly placeholders?: "numbered" | "question" | undefined;
}

const OPTIONS = ["dialect", "table", "tokenColumn", "holderColumn", "placeholders"];
/** PostgreSQL cuts longer names off without an error; MySQL allows one more. */
const LONGEST_NAME_BYTES = 63;

export class Dialect {
  readonly grammar: Grammar;
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
    if (!Object.hasOwn(grammars, dialect))
      throw new InvalidArgumentError("dialect", 'must be "postgres", "mysql" or "sqlite"');
    this.grammar = grammars[dialect];
    const { placeholders = this.grammar.placeholders } = options;
    if (placeholders !== "numbered" && placeholders !== "question")
      throw new InvalidArgumentError("placeholders", 'must be "numbered" or "question"');
    if (placeholders === "numbered" && dialect === "sqlite")
      throw new InvalidArgumentError("placeholders", 'must be "question": SQLite takes $1 for a name');
    this.#numbered = placeholders === "numbered";
    const path = typeof table === "string" ? [table] : table;
    if (!Array.isArray(path) || path.length < 1 || path.length > 2)
      throw new InvalidArgumentError("table", "must be a name, or [schema, table]");
    this.tableName = path.join(".");
    this.table = raw(path.map((part) => this.#quote("table", part)).join("."));
    this.token = this.column("tokenColumn", tokenColumn);
    this.holder = this.column("holderColumn", holderColumn);
    this.#own = [tokenColumn, holderColumn].map((name) => this.grammar.identity(name));
  }

  /** Whether only the fence may write this column. */
  owns(name: string): boolean {
    return this.#own.includes(this.grammar.identity(name));
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
    return new SqlFragment(["CAST(", ` AS ${this.grammar.integer})`], [String(token)]);
  }

  /** For comparing. */
  holderValue(id: string): SqlFragment<string> {
    return new SqlFragment(this.grammar.bytewise, [id]);
  }

  /** Drivers round large numbers, or not, as they are set up; text they leave alone. */
  asText(column: SqlFragment): SqlFragment {
    return raw(`CAST(${column.strings[0]} AS ${this.grammar.text})`);
  }

  statement({ strings, values }: SqlFragment): SqlStatement {
    for (const value of values) {
      const reason = this.grammar.misread(value);
      if (reason !== undefined) throw new InvalidArgumentError("values", reason);
    }
    const text = strings.reduce((before, next, at) => `${before}${this.#numbered ? `$${at}` : "?"}${next}`);
    return { text, sql: text, values: [...values] };
  }

  #quote(argument: string, name: string): string {
    const valid = typeof name === "string" && name !== "" && Buffer.byteLength(name) <= LONGEST_NAME_BYTES;
    // Some drivers look for parameters also inside of quoted names.
    if (!valid || /[\0?]/.test(name))
      throw new InvalidArgumentError(
        argument,
        `must be a name of at most ${LONGEST_NAME_BYTES} bytes without ?`,
      );
    const { quote } = this.grammar;
    return `${quote}${name.replaceAll(quote, quote + quote)}${quote}`;
  }
}
