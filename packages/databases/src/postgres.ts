/** PostgreSQL, from `postgres` and the `initdb` beside it. */
import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { freePort } from "@holdfast/conformance";
import { accountFor, type Database, HOST, prepare, serve, temporaryFolder } from "./database.js";

const USER = "postgres";

/** @param program path of `postgres` */
export async function startPostgres(program: string): Promise<Database> {
  const account = accountFor(USER);
  const folder = temporaryFolder(account);
  const data = join(folder, "data");
  const initdb = join(dirname(realpathSync(program)), "initdb");
  await prepare(
    initdb,
    ["-D", data, "-A", "trust", "-U", USER, "--no-sync", "--locale=C", "-E", "UTF8"],
    account,
  );
  const port = await freePort();
  const settings = {
    listen_addresses: HOST,
    unix_socket_directories: folder,
    fsync: "off",
    synchronous_commit: "off",
    full_page_writes: "off",
    shared_buffers: "32MB",
    logging_collector: "off",
  };
  const args = ["-D", data, "-p", String(port)];
  for (const [name, value] of Object.entries(settings)) args.push("-c", `${name}=${value}`);
  const database = await serve(program, args, {
    account,
    folder,
    ready: "database system is ready to accept connections",
    url: new URL(`postgres://${USER}@${HOST}:${port}/test`),
  });
  try {
    const psql = join(dirname(realpathSync(program)), "psql");
    const to = ["-h", HOST, "-p", String(port), "-U", USER, "-d", "postgres"];
    await prepare(psql, [...to, "-qc", "CREATE DATABASE test"], account);
  } catch (error) {
    await database.stop();
    throw error;
  }
  return database;
}
