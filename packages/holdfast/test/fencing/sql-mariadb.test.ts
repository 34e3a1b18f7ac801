/** The SQL fence on a real MariaDB, which speaks for the MySQL family: drivers, builders, isolation levels. */
import { setTimeout as pause } from "node:timers/promises";
import { needing, program, until } from "@holdfast/conformance";
import { type Database, startMariaDb } from "@holdfast/databases";
import { StaleTokenError } from "holdfast";
import { FencedTable, TokenFence } from "holdfast/fencing/sql";
import { CompiledQuery, Kysely, MysqlDialect } from "kysely";
import mysqlCallbacks from "mysql2";
import mysql, { type Connection, type Pool } from "mysql2/promise";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fenceSuite, holder, newRow, raceOf, type Subject, schemaFor } from "./sql-suite.js";

needing(describe, "mariadbd")("the SQL fence on MariaDB", () => {
  let database: Database;
  let pool: Pool;
  /** Counts the rows that were changed, not those that were found. */
  let changed: Pool;

  beforeAll(async () => {
    database = await startMariaDb(program("mariadbd"));
    pool = mysql.createPool({ uri: database.url, connectionLimit: 8 });
    changed = mysql.createPool({ uri: database.url, flags: ["-FOUND_ROWS"] });
    for (const statement of schemaFor("mysql")) await pool.query(statement);
  });

  afterAll(async () => {
    await changed?.end();
    await pool?.end();
    await database?.stop();
  });

  const withQuery = (): Subject => ({ dialect: "mysql", run: (statement) => pool.query(statement) });

  describe("with mysql2's query", () => {
    fenceSuite(withQuery);

    test("many holders at once lose no update", () => raceOf(withQuery()));
  });

  test("what the server takes for a column of the fence is not written as another one", async () => {
    const fence = new TokenFence({ dialect: "mysql", table: "account" });
    const names = [
      "FENCE",
      "Fence_Holder",
      "f\u00e9nce",
      "fe\u0301nce",
      "\uff46ence",
      "fence\u200b",
      "fence\u00a0",
      "\u017ffence",
    ];
    let taken = 0;
    for (const name of names) {
      const known = await pool.query(`SELECT \`${name}\` FROM account`).then(
        () => true,
        () => false,
      );
      if (!known) continue;
      taken += 1;
      expect(() => fence.create(newRow(), { [name]: 9 })).toThrow("must leave");
    }
    expect(taken).toBeGreaterThanOrEqual(2);
  });

  describe("with mysql2's prepared statements", () => {
    fenceSuite(() => ({
      dialect: "mysql",
      run: ({ sql, values }) => pool.execute(sql, values as never[]),
    }));
  });

  describe("with a connection that counts changed rows", () => {
    test("which it does", async () => {
      const [row, statement] = [newRow(), "UPDATE account SET balance = 0 WHERE id = ?"];
      await pool.query("INSERT INTO account (id) VALUES (?)", [row.id]);
      expect((await pool.query(statement, [row.id]))[0]).toMatchObject({ affectedRows: 1 });
      expect((await changed.query(statement, [row.id]))[0]).toMatchObject({ affectedRows: 0 });
    });

    fenceSuite(() => ({ dialect: "mysql", run: (statement) => changed.query(statement) }));

    test("many holders at once lose no update", () => {
      return raceOf({ dialect: "mysql", run: (statement) => changed.query(statement) });
    });
  });

  describe("with kysely", () => {
    let db: Kysely<unknown>;
    beforeAll(() => {
      db = new Kysely({ dialect: new MysqlDialect({ pool: mysqlCallbacks.createPool(database.url) }) });
    });
    afterAll(() => db.destroy());

    fenceSuite(() => ({
      dialect: "mysql",
      run: ({ text, values }) => db.executeQuery(CompiledQuery.raw(text, values)),
    }));
  });

  test("a holder column of the usual collation still tells a from A", async () => {
    await pool.query(
      "CREATE TABLE sloppy (id int PRIMARY KEY, fence bigint NOT NULL DEFAULT 0, fence_holder varchar(200) NOT NULL DEFAULT '')",
    );
    const fence = new TokenFence({ dialect: "mysql", table: "sloppy" });
    const table = new FencedTable(fence, (statement) => pool.query(statement));
    await table.create({ id: 1 });
    await table.enter({ id: 1 }, holder(1n, "Ab"));
    await table.enter({ id: 1 }, holder(1n, "Ab"));
    await expect(table.enter({ id: 1 }, holder(1n, "aB"))).rejects.toThrow(StaleTokenError);
  });

  describe("in a transaction", () => {
    async function sessions(level: string, setting = "") {
      const clients = [
        await mysql.createConnection(database.url),
        await mysql.createConnection(database.url),
      ] as const;
      const tables = clients.map((client) => tableOn(client)) as [FencedTable, FencedTable];
      const row = newRow();
      await tables[0].create(row);
      for (const client of clients) {
        if (setting) await client.query(setting);
        await client.query(`SET SESSION TRANSACTION ISOLATION LEVEL ${level}`);
        await client.query("START TRANSACTION");
      }
      return { clients, tables, row, end: () => Promise.all(clients.map((client) => client.end())) };
    }

    function tableOn(client: Connection): FencedTable {
      const fence = new TokenFence({ dialect: "mysql", table: "account" });
      return new FencedTable(fence, (statement) => client.query(statement));
    }

    test("REPEATABLE READ: the verdict is the row's as it is, not the snapshot's", async () => {
      const { clients, tables, row, end } = await sessions("REPEATABLE READ");
      await tables[0].enter(row, holder(1n), ["balance"]);
      await clients[0].query("COMMIT");
      await clients[0].query("START TRANSACTION WITH CONSISTENT SNAPSHOT");
      await tables[1].enter(row, holder(2n), ["balance"]);
      await tables[1].write(row, holder(2n), { balance: 2 });
      await clients[1].query("COMMIT");
      // By the snapshot of this transaction the fence is still its own.
      const [seen] = await clients[0].query("SELECT fence FROM account WHERE id = ?", [row.id]);
      expect(seen).toEqual([{ fence: 1 }]);
      await expect(tables[0].write(row, holder(1n), { balance: 1 })).rejects.toThrow(
        expect.objectContaining({ token: 1n, seen: 2n }),
      );
      await end();
    });

    test("REPEATABLE READ: what enter returns is the row's as it is, not the snapshot's", async () => {
      const { clients, tables, row, end } = await sessions("REPEATABLE READ");
      await clients[1].query("SELECT 1 FROM account"); // takes the snapshot
      await tables[0].write(row, holder(1n), { balance: 1 });
      await clients[0].query("COMMIT");
      expect(await tables[1].enter(row, holder(2n), ["balance"])).toEqual({ balance: 1 });
      await end();
    });

    test.each(["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"])(
      "%s: a write that waited for a newer holder's commit is refused",
      async (level) => {
        const { clients, tables, row, end } = await sessions(level);
        await tables[1].enter(row, holder(2n), ["balance"]);
        const late = tables[0].write(row, holder(1n), { balance: 1 });
        const verdict = expect(late).rejects.toThrow(expect.objectContaining({ token: 1n, seen: 2n }));
        await blocked(1);
        await tables[1].write(row, holder(2n), { balance: 2 });
        await clients[1].query("COMMIT");
        await verdict;
        await end();
      },
    );

    test("with innodb_snapshot_isolation an older snapshot fails with 1020, and the next try is refused", async () => {
      const setting = "SET SESSION innodb_snapshot_isolation = ON";
      const { clients, tables, row, end } = await sessions("REPEATABLE READ", setting);
      await clients[0].query("SELECT 1 FROM account"); // takes the snapshot
      await tables[1].write(row, holder(2n), { balance: 2 });
      await clients[1].query("COMMIT");
      await expect(tables[0].enter(row, holder(1n))).rejects.toMatchObject({ errno: 1020 });
      await clients[0].query("ROLLBACK");
      await expect(tables[0].enter(row, holder(1n))).rejects.toThrow(StaleTokenError);
      await end();
    });

    /**
     * Resolves when so many transactions wait for a lock: asked of the server, which knows. It answers from a copy, and
     * makes a new one only where nobody has asked for 100 ms.
     */
    async function blocked(count: number): Promise<void> {
      const waiting = "SELECT count(*) AS n FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'";
      await until("transactions that wait", async () => {
        await pause(150);
        const [rows] = await pool.query(waiting);
        return ((rows as { n: number }[])[0]?.n ?? 0) >= count;
      });
    }
  });
});
