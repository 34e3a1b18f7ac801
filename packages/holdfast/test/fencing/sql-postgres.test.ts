/** The SQL fence on a real PostgreSQL: drivers, builders, isolation levels. */
import { needing, program, until } from "@holdfast/conformance";
import { type Database, startPostgres } from "@holdfast/databases";
import { sql as drizzleSql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { StaleTokenError } from "holdfast";
import { FencedTable, TokenFence } from "holdfast/fencing/sql";
import knex, { type Knex } from "knex";
import { CompiledQuery, Kysely, sql as kyselySql, PostgresDialect } from "kysely";
import pg from "pg";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fenceSuite, holder, newRow, raceOf, type Subject, schemaFor } from "./sql-suite.js";

needing(describe, "postgres")("the SQL fence on PostgreSQL", () => {
  let database: Database;
  let pool: pg.Pool;

  beforeAll(async () => {
    database = await startPostgres(program("postgres"));
    pool = new pg.Pool({ connectionString: database.url, max: 8 });
    pool.on("error", () => {});
    for (const statement of schemaFor("postgres")) await pool.query(statement);
  });

  afterAll(async () => {
    await pool?.end();
    await database?.stop();
  });

  const withPg = (): Subject => ({ dialect: "postgres", run: (statement) => pool.query(statement) });

  describe("with pg", () => {
    fenceSuite(withPg);

    test("many holders at once lose no update", () => raceOf(withPg()));
  });

  describe("with postgres", () => {
    let client: postgres.Sql;
    beforeAll(() => {
      client = postgres(database.url, { max: 4, onnotice: () => {} });
    });
    afterAll(() => client.end());

    fenceSuite(() => ({
      dialect: "postgres",
      run: ({ text, values }) => client.unsafe(text, values as never[]),
    }));

    test("its template takes the fragments", async () => {
      const fence = new TokenFence({ dialect: "postgres", table: "account" });
      const table = new FencedTable(fence, ({ text, values }) => client.unsafe(text, values as never[]));
      const row = newRow();
      await table.create(row);
      const add = (by: { fence: bigint; id: string }) => {
        const [raise, admits] = [fence.raise(by), fence.admits(by)];
        return client`UPDATE account
          SET balance = balance + ${5}, ${client(raise.strings, ...raise.values)}
          WHERE id = ${row.id} AND ${client(admits.strings, ...admits.values)}`;
      };
      expect(await table.confirm(await add(holder(2n)), row, holder(2n))).toBe(1);
      await expect(table.confirm(await add(holder(1n)), row, holder(1n))).rejects.toThrow(StaleTokenError);
    });
  });

  describe("with knex", () => {
    let db: Knex;
    beforeAll(() => {
      db = knex({ client: "pg", connection: database.url });
    });
    afterAll(() => db.destroy());

    fenceSuite(() => ({
      dialect: "postgres",
      placeholders: "question",
      run: ({ text, values }) => db.raw(text, values as Knex.RawBinding[]),
    }));

    test("its builder takes the fragments", async () => {
      const fence = new TokenFence({ dialect: "postgres", table: "account" });
      const [table, row] = [new FencedTable(fence, (statement) => pool.query(statement)), newRow()];
      await table.create(row);
      const add = (by: { fence: bigint; id: string }) => {
        const admits = fence.admits(by);
        return db("account")
          .where("id", row.id)
          .whereRaw(admits.strings.join("?"), admits.values)
          .update({ balance: 5, fence: String(by.fence), fence_holder: by.id });
      };
      expect(await table.confirm(await add(holder(2n)), row, holder(2n))).toBe(1);
      await expect(table.confirm(await add(holder(1n)), row, holder(1n))).rejects.toThrow(StaleTokenError);
    });
  });

  describe("with kysely", () => {
    let db: Kysely<{ account: { id: string; balance: number; fence: string; fence_holder: string } }>;
    beforeAll(() => {
      db = new Kysely({
        dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: database.url, max: 2 }) }),
      });
    });
    afterAll(() => db.destroy());

    fenceSuite(() => ({
      dialect: "postgres",
      run: ({ text, values }) => db.executeQuery(CompiledQuery.raw(text, values)),
    }));

    test("its builder takes the fragments", async () => {
      const fence = new TokenFence({ dialect: "postgres", table: "account" });
      const [table, row] = [new FencedTable(fence, (statement) => pool.query(statement)), newRow()];
      await table.create(row);
      const add = (by: { fence: bigint; id: string }) => {
        const admits = fence.admits(by);
        return db
          .updateTable("account")
          .set({ balance: 5, fence: String(by.fence), fence_holder: by.id })
          .where("id", "=", row.id)
          .where(kyselySql<boolean>(admits.strings, ...admits.values))
          .execute();
      };
      expect(await table.confirm(await add(holder(2n)), row, holder(2n))).toBe(1);
      await expect(table.confirm(await add(holder(1n)), row, holder(1n))).rejects.toThrow(StaleTokenError);
    });
  });

  describe("with drizzle", () => {
    test("its template takes the fragments", async () => {
      const db = drizzle(pool);
      const fence = new TokenFence({ dialect: "postgres", table: "account" });
      const [table, row] = [new FencedTable(fence, (statement) => pool.query(statement)), newRow()];
      await table.create(row);
      const add = (by: { fence: bigint; id: string }) => {
        const [raise, admits] = [fence.raise(by), fence.admits(by)];
        return db.execute(drizzleSql`UPDATE account
          SET balance = balance + ${5}, ${drizzleSql(raise.strings, ...raise.values)}
          WHERE id = ${row.id} AND ${drizzleSql(admits.strings, ...admits.values)}`);
      };
      expect(await table.confirm(await add(holder(2n)), row, holder(2n))).toBe(1);
      await expect(table.confirm(await add(holder(1n)), row, holder(1n))).rejects.toThrow(StaleTokenError);
    });
  });

  describe("in a transaction", () => {
    /** Two sessions in transactions of their own, and a table on each. */
    async function sessions(level: string) {
      const clients = [new pg.Client(database.url), new pg.Client(database.url)] as const;
      const tables = clients.map((client) => {
        const fence = new TokenFence({ dialect: "postgres", table: "account" });
        return new FencedTable(fence, (statement) => client.query(statement));
      }) as [FencedTable, FencedTable];
      for (const client of clients) {
        client.on("error", () => {});
        await client.connect();
        await client.query(`BEGIN ISOLATION LEVEL ${level}`);
        await client.query("SET LOCAL lock_timeout = '10s'");
      }
      const row = newRow();
      await new FencedTable(tables[0].fence, (statement) => pool.query(statement)).create(row);
      return { clients, tables, row, end: () => Promise.all(clients.map((client) => client.end())) };
    }

    test("READ COMMITTED: a write that waited for a newer holder's commit is refused", async () => {
      const { clients, tables, row, end } = await sessions("READ COMMITTED");
      await tables[1].enter(row, holder(2n), ["balance"]);
      const late = tables[0].write(row, holder(1n), { balance: 1 });
      const verdict = expect(late).rejects.toThrow(expect.objectContaining({ token: 1n, seen: 2n }));
      await blocked(1);
      await tables[1].write(row, holder(2n), { balance: 2 });
      await clients[1].query("COMMIT");
      await verdict;
      await end();
    });

    test("READ COMMITTED: a newer holder waits until the older one's transaction ends, and sees what it wrote", async () => {
      const { clients, tables, row, end } = await sessions("READ COMMITTED");
      await tables[0].enter(row, holder(1n), ["balance"]);
      const next = tables[1].enter(row, holder(2n), ["balance"]);
      await blocked(1);
      await tables[0].write(row, holder(1n), { balance: 1 });
      await clients[0].query("COMMIT");
      expect(await next).toEqual({ balance: "1" });
      await end();
    });

    test.each(["REPEATABLE READ", "SERIALIZABLE"])(
      "%s: a snapshot older than the newer holder fails with 40001, and the next try is refused",
      async (level) => {
        const { clients, tables, row, end } = await sessions(level);
        await clients[0].query("SELECT 1 FROM account"); // takes the snapshot
        await tables[1].enter(row, holder(2n), ["balance"]);
        await tables[1].write(row, holder(2n), { balance: 2 });
        await clients[1].query("COMMIT");
        await expect(tables[0].enter(row, holder(1n))).rejects.toMatchObject({ code: "40001" });
        await clients[0].query("ROLLBACK");
        await clients[0].query(`BEGIN ISOLATION LEVEL ${level}`);
        await expect(tables[0].enter(row, holder(1n))).rejects.toThrow(StaleTokenError);
        await end();
      },
    );

    test("a holder that is paused in its transaction keeps the next one waiting until the server ends its session", async () => {
      const { clients, tables, row, end } = await sessions("READ COMMITTED");
      await clients[0].query("SET LOCAL idle_in_transaction_session_timeout = '200ms'");
      await tables[0].enter(row, holder(1n), ["balance"]);
      await tables[1].enter(row, holder(2n), ["balance"]);
      await clients[1].query("COMMIT");
      await expect(tables[0].write(row, holder(1n), { balance: 1 })).rejects.toThrow();
      await end().catch(() => {});
    });

    /** Resolves when so many sessions wait for a lock: asked of the server, which knows. */
    async function blocked(count: number): Promise<void> {
      const waiting = "SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
      await until("sessions that wait", async () => (await pool.query(waiting)).rows[0].n >= count);
    }
  });
});
