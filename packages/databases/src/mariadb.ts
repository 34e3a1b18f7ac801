/** MariaDB, from `mariadbd` and `mariadb-install-db`. */
import { existsSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { freePort } from "@holdfast/conformance";
import { accountFor, type Database, HOST, prepare, serve, temporaryFolder } from "./database.js";

/** @param program path of `mariadbd` */
export async function startMariaDb(program: string): Promise<Database> {
  const account = accountFor("mysql");
  const folder = temporaryFolder(account);
  const data = join(folder, "data");
  // Debian has the daemon in sbin and the script in bin.
  const beside = join(dirname(program), "../bin/mariadb-install-db");
  await prepare(
    existsSync(beside) ? beside : "mariadb-install-db",
    ["--no-defaults", `--datadir=${data}`, "--auth-root-authentication-method=normal", "--skip-test-db"],
    account,
  );
  const init = join(folder, "init.sql");
  writeFileSync(init, "CREATE DATABASE IF NOT EXISTS test;\n");
  const port = await freePort();
  const args = [
    "--no-defaults",
    `--datadir=${data}`,
    `--port=${port}`,
    `--bind-address=${HOST}`,
    `--socket=${join(folder, "socket")}`,
    `--pid-file=${join(folder, "pid")}`,
    `--init-file=${init}`,
    "--innodb-flush-log-at-trx-commit=0",
    "--innodb-buffer-pool-size=32M",
    "--skip-log-bin",
  ];
  return serve(program, args, {
    account,
    folder,
    ready: "ready for connections",
    url: new URL(`mysql://root@${HOST}:${port}/test`),
  });
}
