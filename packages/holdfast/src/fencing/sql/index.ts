/** `holdfast/fencing/sql`: rows of PostgreSQL, MySQL and MariaDB that refuse holders who were overtaken. */
export type { SqlDialect, SqlFenceOptions } from "./dialect.js";
export type { SqlFence } from "./fence.js";
export { FencedTable, type RunStatement } from "./fenced-table.js";
export { SqlFragment, type SqlStatement } from "./fragment.js";
export { HolderFence } from "./holder-fence.js";
export { affectedRows } from "./result.js";
export type { RowKey } from "./row-key.js";
export { TokenFence } from "./token-fence.js";
