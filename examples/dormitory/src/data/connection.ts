/** PostgreSQL through Kysely. The embedded one is reached in the same way. */
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import type { Tables } from "./tables.js";

const MOST_CONNECTIONS = 4;
const CONNECT_TIMEOUT_MS = 5_000;
const QUERY_TIMEOUT_MS = 10_000;

export function connectDatabase(connectionString: string): Kysely<Tables> {
  const pool = new pg.Pool({
    connectionString,
    max: MOST_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
  });
  // An idle connection that breaks must not end the process; the next query opens another.
  pool.on("error", () => {});
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}
