/** `holdfast/fencing/sql`: rows of PostgreSQL, MySQL, MariaDB and SQLite that refuse holders who were overtaken. */
export type { SqlFenceOptions } from "./dialect.js";
export type { SqlFence } from "./fence.js";
export { FencedTable, type RunStatement } from "./fenced-table.js";
export { SqlFragment, type SqlStatement } from "./fragment.js";
export type { SqlDialect } from "./grammar.js";
export { HolderFence } from "./holder-fence.js";
export { onSqlite, type SqliteDatabase, type SqliteStatement } from "./on-sqlite.js";
export { affectedRows } from "./result.js";
export type { ColumnValues, RowKey, RowValue } from "./row-key.js";
export { TokenFence } from "./token-fence.js";
