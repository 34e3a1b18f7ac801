/** What PostgreSQL, the MySQL family and SQLite write differently. */
import type { SqlFragment } from "./fragment.js";

/** MariaDB is of the MySQL family, libSQL of SQLite's. */
export type SqlDialect = "postgres" | "mysql" | "sqlite";

export interface Grammar {
  /** How drivers expect a parameter: `$1` or `?`. */
  readonly placeholders: "numbered" | "question";
  /** The character around a name. */
  readonly quote: string;
  /** Types of CAST: a 64-bit integer, and text. */
  readonly integer: string;
  readonly text: string;
  /** Around a holder, so that the comparison is byte by byte. */
  readonly bytewise: readonly [before: string, after: string];
  /** Type of the token's column. */
  readonly tokenType: string;
  /** Type of the holder's column. */
  readonly holderType: (length: number) => string;
  /** Whether one ALTER TABLE can add several columns. */
  readonly addsSeveral: boolean;
  /** Whether the fence reads columns by an UPDATE. */
  readonly returns: boolean;
  /** The end of a SELECT that locks its rows. */
  readonly forUpdate: string;
  /** The end of an INSERT that leaves a row alone that is there. */
  readonly unlessThere: (keyColumn: string) => string;
  /** Two names with one identity may be one column. */
  readonly identity: (name: string) => string;
  /** Why a driver would misread this parameter; undefined when none would. */
  readonly misread: (value: unknown) => string | undefined;
}

const postgres: Grammar = {
  placeholders: "numbered",
  quote: '"',
  integer: "bigint",
  text: "text",
  bytewise: ["", ""],
  tokenType: "bigint",
  holderType: (length) => `varchar(${length})`,
  addsSeveral: true,
  returns: true,
  forUpdate: " FOR UPDATE",
  unlessThere: () => "ON CONFLICT DO NOTHING",
  identity: (name) => name,
  misread: () => undefined,
};

const mysql: Grammar = {
  placeholders: "question",
  quote: "`",
  integer: "SIGNED",
  text: "char",
  // Its usual collations hold `a` and `A` for the same.
  bytewise: ["CAST(", " AS BINARY)"],
  tokenType: "bigint",
  holderType: (length) => `varchar(${length}) CHARACTER SET ascii COLLATE ascii_bin`,
  addsSeveral: true,
  returns: false,
  forUpdate: " FOR UPDATE",
  // INSERT IGNORE would hide other errors as well.
  unlessThere: (keyColumn) => `ON DUPLICATE KEY UPDATE ${keyColumn} = ${keyColumn}`,
  /** The family compares names by a collation that depends on the version: here more names are alike than in any of those. */
  identity: (name) => name.normalize("NFKD").replace(/\p{M}/gu, "").toUpperCase().toLowerCase(),
  misread: (value) =>
    isPlainObject(value) ? "must have text for an object: mysql2 would make SQL of it" : undefined,
};

const sqlite: Grammar = {
  placeholders: "question",
  // A name in double quotes that no column has is a text to some builds of SQLite.
  quote: "`",
  integer: "INTEGER",
  text: "TEXT",
  // The column may have been declared with COLLATE NOCASE.
  bytewise: ["", " COLLATE BINARY"],
  // The types that a STRICT table accepts, too.
  tokenType: "INTEGER",
  holderType: () => "TEXT",
  addsSeveral: false,
  // Drivers return either rows or a count, so the columns are read by a statement of their own.
  returns: false,
  // A transaction that writes has the whole database for itself.
  forUpdate: "",
  unlessThere: () => "ON CONFLICT DO NOTHING",
  identity: (name) => name.replace(/[A-Z]/g, (letter) => letter.toLowerCase()),
  misread: (value) =>
    isBindable(value)
      ? undefined
      : "must be null, text, numbers or bytes: drivers of SQLite bind nothing else",
};

export const grammars: Readonly<Record<SqlDialect, Grammar>> = { postgres, mysql, sqlite };

/** Columns that are never NULL, with their type and default. */
export function addColumns(
  { addsSeveral }: Grammar,
  table: SqlFragment,
  columns: readonly (readonly [column: SqlFragment, type: string, value: string])[],
): string {
  const alter = `ALTER TABLE ${table.strings[0]}`;
  const added = columns.map(
    ([column, type, value]) => `ADD COLUMN ${column.strings[0]} ${type} NOT NULL DEFAULT ${value}`,
  );
  if (addsSeveral) return `${alter}\n  ${added.join(",\n  ")};`;
  return added.map((column) => `${alter} ${column};`).join("\n");
}

function isPlainObject(value: unknown): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    [Object.prototype, null].includes(Object.getPrototypeOf(value))
  );
}

/** A list would be taken for several parameters, and an object for parameters by name. */
function isBindable(value: unknown): boolean {
  return value === null || ["string", "number", "bigint"].includes(typeof value) || ArrayBuffer.isView(value);
}
