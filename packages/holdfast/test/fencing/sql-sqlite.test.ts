/** The SQL fence on files of SQLite: drivers, a builder, transactions, processes. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { StaleTokenError } from "holdfast";
import { FencedTable, onSqlite, type SqliteDatabase, TokenFence } from "holdfast/fencing/sql";
import { CompiledQuery, Kysely, type SqliteDatabase as KyselyDatabase, SqliteDialect } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fenceSuite, holder, newRow, raceOf, type Subject, schemaFor } from "./sql-suite.js";

interface Database extends SqliteDatabase {
  exec(sql: string): unknown;
  close(): unknown;
}

type Open = (file: string, timeoutMs: number) => Database;

const require = createRequire(import.meta.url);
const run = promisify(execFile);

/** The driver waits for so long, and blocks the test meanwhile. */
const SHORT_MS = 50;
const LOCKED = /locked|busy/i;

/** Each driver that this version of Node.js has or can load; libsql is there for every one. */
const drivers: Record<string, Open> = {
  libsql: (file, timeout) => new (require("libsql"))(file, { timeout }),
};
if (isBuiltin("node:sqlite")) {
  drivers["node:sqlite"] = (file, timeout) => new (require("node:sqlite").DatabaseSync)(file, { timeout });
}

describe.each(Object.entries(drivers))("the SQL fence on SQLite, with %s", (driver, open) => {
  let folder: string;
  let file: string;
  let database: Database;
  const opened: Database[] = [];
  const connect = (timeoutMs = 5_000): Database => {
    const connection = open(file, timeoutMs);
    opened.push(connection);
    return connection;
  };

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "holdfast-sqlite-"));
    file = join(folder, "test.db");
    database = connect();
    database.exec("PRAGMA journal_mode = WAL");
    for (const statement of schemaFor("sqlite")) database.exec(statement);
  });

  afterAll(() => {
    for (const connection of opened) connection.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const on = (connection: Database): Subject => ({ dialect: "sqlite", run: onSqlite(connection) });
  const tableOn = (connection: Database): FencedTable =>
    new FencedTable(new TokenFence({ dialect: "sqlite", table: "account" }), onSqlite(connection));

  fenceSuite(() => on(database));

  test("many holders at once on two connections lose no update", async () => {
    const connections = [connect(), connect()].map(onSqlite);
    let calls = 0;
    await raceOf({
      dialect: "sqlite",
      run: (statement) => (connections[calls++ % 2] as Subject["run"])(statement),
    });
  });

  test("two processes at once lose no update", async () => {
    const [table, row] = [tableOn(database), newRow()];
    await table.create(row);
    const writer = join(import.meta.dirname, "sqlite-writer.mjs");
    const outputs = await Promise.all(
      ["1", "2"].map((first) =>
        run(process.execPath, [writer, driver, file, row.id, first], { timeout: 180_000 }),
      ),
    );
    const added = outputs.map(({ stdout }) => Number(stdout));
    const { balance } = await table.enter(row, holder(2n ** 62n), ["balance"]);
    expect(added.every((count) => count > 0)).toBe(true);
    expect(Number(balance)).toBe(added.reduce((sum, count) => sum + count));
  });

  test("a name that no column has is an error, and never a text", async () => {
    const [table, row] = [tableOn(database), newRow()];
    await table.create(row);
    await expect(table.enter(row, holder(1n), ["balanc"])).rejects.toThrow("no such column");
    await expect(table.write({ ID: row.id }, holder(1n), { BALANCE: 1 })).resolves.toBeUndefined();
  });

  test("a STRICT table takes the columns, and a holder column without case still tells a from A", async () => {
    const fence = new TokenFence({ dialect: "sqlite", table: ["main", "strict"], tokenColumn: "no" });
    database.exec("CREATE TABLE strict (id INTEGER PRIMARY KEY) STRICT");
    database.exec(fence.migration());
    database.exec(
      "CREATE TABLE sloppy (id int PRIMARY KEY, fence int NOT NULL DEFAULT 0, fence_holder text COLLATE NOCASE NOT NULL DEFAULT '')",
    );
    const tables = [
      new FencedTable(fence, onSqlite(database)),
      new FencedTable(new TokenFence({ dialect: "sqlite", table: "sloppy" }), onSqlite(database)),
    ];
    for (const table of tables) {
      await table.create({ id: 1 });
      await table.enter({ id: 1 }, holder(1n, "Ab"));
      await expect(table.enter({ id: 1 }, holder(1n, "aB"))).rejects.toThrow(StaleTokenError);
    }
  });

  // Each goes on with a new connection after "locked": one of libsql 0.5.29 keeps a lock from then on.
  describe("in a transaction", () => {
    test("BEGIN IMMEDIATE keeps another writer out until COMMIT, and then it is refused", async () => {
      const newer = connect(SHORT_MS);
      const row = newRow();
      await tableOn(newer).create(row);
      newer.exec("BEGIN IMMEDIATE");
      await tableOn(newer).enter(row, holder(2n), ["balance"]);
      const late = (): Promise<void> => tableOn(connect(SHORT_MS)).write(row, holder(1n), { balance: 1 });
      await expect(late()).rejects.toThrow(LOCKED);
      await tableOn(newer).write(row, holder(2n), { balance: 2 });
      newer.exec("COMMIT");
      await expect(late()).rejects.toThrow(expect.objectContaining({ token: 1n, seen: 2n }));
    });

    test("BEGIN with a snapshot older than the newer holder fails at the write, and the next try is refused", async () => {
      const [older, newer] = [connect(SHORT_MS), connect(SHORT_MS)];
      const row = newRow();
      await tableOn(newer).create(row);
      older.exec("BEGIN");
      older.prepare("SELECT id FROM account").all(); // takes the snapshot
      await tableOn(newer).write(row, holder(2n), { balance: 2 });
      await expect(tableOn(older).enter(row, holder(1n))).rejects.toThrow(LOCKED);
      older.exec("ROLLBACK");
      const again = connect(SHORT_MS);
      again.exec("BEGIN");
      await expect(tableOn(again).enter(row, holder(1n))).rejects.toThrow(StaleTokenError);
      again.exec("ROLLBACK");
    });

    test("the refused one keeps other writers out until its transaction ends", async () => {
      const older = connect(SHORT_MS);
      const row = newRow();
      await tableOn(older).create(row);
      await tableOn(older).enter(row, holder(2n));
      older.exec("BEGIN");
      await expect(tableOn(older).enter(row, holder(1n))).rejects.toThrow(StaleTokenError);
      const write = (): Promise<void> => tableOn(connect(SHORT_MS)).write(row, holder(2n), { balance: 1 });
      await expect(write()).rejects.toThrow(LOCKED);
      older.exec("ROLLBACK");
      await write();
    });
  });

  if (driver !== "node:sqlite") {
    describe("and kysely", () => {
      let db: Kysely<unknown>;
      beforeAll(() => {
        db = new Kysely({
          dialect: new SqliteDialect({ database: open(file, 5_000) as unknown as KyselyDatabase }),
        });
      });
      afterAll(() => db.destroy());

      fenceSuite(() => ({
        dialect: "sqlite",
        run: ({ text, values }) => db.executeQuery(CompiledQuery.raw(text, values)),
      }));
    });
  }
});
