/** Every public name, one explicit list. */
export type { Database } from "./database.js";
export { startMariaDb } from "./mariadb.js";
export { startPostgres } from "./postgres.js";
