/** The statements as text: what a driver is given. No server is needed. */
import { InvalidArgumentError, MissingRowError, StaleHolderError, StaleTokenError } from "holdfast";
import {
  affectedRows,
  FencedTable,
  HolderFence,
  onSqlite,
  SqlFragment,
  TokenFence,
} from "holdfast/fencing/sql";
import { describe, expect, test } from "vitest";

const postgres = new TokenFence({ dialect: "postgres", table: "account" });
const mysql = new TokenFence({ dialect: "mysql", table: ["bank", "account"] });
const sqlite = new TokenFence({ dialect: "sqlite", table: "account" });
const bare = new HolderFence({ dialect: "postgres", table: "account" });
const lease = { fence: 7n, id: "a" };

describe("statements", () => {
  test("of PostgreSQL number their parameters and return columns", () => {
    expect(postgres.enter({ id: 13 }, lease, ["balance"])).toMatchObject({
      text:
        'UPDATE "account" SET "fence" = CAST($1 AS bigint), "fence_holder" = $2 WHERE "id" = $3 AND ' +
        '("fence" < CAST($4 AS bigint) OR ("fence" = CAST($5 AS bigint) AND "fence_holder" = $6)) RETURNING "balance"',
      values: ["7", "a", 13, "7", "7", "a"],
    });
  });

  test("of MySQL mark them, compare holders byte by byte, and qualify the table", () => {
    const { text, sql, values } = mysql.write({ id: 13, tenant: "x" }, lease, { balance: 5 });
    expect(sql).toBe(text);
    expect(text).toBe(
      "UPDATE `bank`.`account` SET `balance` = ?, `fence` = CAST(? AS SIGNED), `fence_holder` = ? " +
        "WHERE `id` = ? AND `tenant` = ? AND (`fence` < CAST(? AS SIGNED) OR " +
        "(`fence` = CAST(? AS SIGNED) AND `fence_holder` = CAST(? AS BINARY)))",
    );
    expect(values).toEqual([5, "7", "a", 13, "x", "7", "7", "a"]);
  });

  test("of SQLite quote names so that none can be a text, and compare holders byte by byte", () => {
    expect(sqlite.write({ id: 13 }, lease, { balance: null })).toMatchObject({
      text:
        "UPDATE `account` SET `balance` = ?, `fence` = CAST(? AS INTEGER), `fence_holder` = ? WHERE `id` = ? AND " +
        "(`fence` < CAST(? AS INTEGER) OR (`fence` = CAST(? AS INTEGER) AND `fence_holder` = ? COLLATE BINARY))",
      values: [null, "7", "a", 13, "7", "7", "a"],
    });
    expect(sqlite.read({ id: 13 }).text).toMatch(/WHERE `id` = \?$/);
    expect(sqlite.create({ id: 13 }).text).toMatch(/ON CONFLICT DO NOTHING$/);
    expect(sqlite.migration()).toBe(
      "ALTER TABLE `account` ADD COLUMN `fence` INTEGER NOT NULL DEFAULT 0;\n" +
        "ALTER TABLE `account` ADD COLUMN `fence_holder` TEXT NOT NULL DEFAULT '';",
    );
  });

  test("of one's own take fragments in, and make a parameter of everything else", () => {
    const statement = postgres.sql`UPDATE account SET balance = balance - ${5}, ${postgres.raise(lease)}
      WHERE id = ${13} AND ${postgres.admits(lease)} AND balance >= ${5}`;
    expect(statement.text.match(/\$\d+/g)).toEqual(["$1", "$2", "$3", "$4", "$5", "$6", "$7", "$8"]);
    expect(statement.values).toEqual([5, "7", "a", 13, "7", "7", "a", 5]);
    const forged = { strings: ["1; DROP TABLE account"], values: [] };
    expect(postgres.sql`SELECT ${forged}`).toMatchObject({ text: "SELECT $1", values: [forged] });
    expect(postgres.write({ id: 1 }, lease, { n: new SqlFragment(["n + ", ""], [1]) }).text).toContain(
      'SET "n" = n + $1',
    );
  });

  test("have ? for builders that number the parameters themselves", () => {
    const fence = new TokenFence({ dialect: "postgres", table: "a", placeholders: "question" });
    expect(fence.read({ id: 1 }).text).toContain('WHERE "id" = ? FOR UPDATE');
  });

  test("quote every name", () => {
    const odd = new TokenFence({ dialect: "postgres", table: 'a"b', tokenColumn: "to ken" });
    expect(odd.read({ "i;d": 1 }).text).toMatch(/"to ken".*FROM "a""b" WHERE "i;d" = \$1/);
    expect(new TokenFence({ dialect: "mysql", table: "a`b" }).read({ id: 1 }).text).toContain("FROM `a``b`");
  });

  test("of PostgreSQL know a column in capitals as another one", () => {
    expect(postgres.write({ id: 1 }, lease, { FENCE: 9 }).text).toMatch(
      /SET "FENCE" = \$1, "fence" = CAST\(\$2/,
    );
  });

  test("of HolderFence compare with id and token: turns of one process share the id", () => {
    const fence = new HolderFence({ dialect: "postgres", table: "account" });
    expect(fence.enter({ id: 13 }, lease)).toMatchObject({
      text: 'UPDATE "account" SET "fence_holder" = $1 WHERE "id" = $2',
      values: ["7:a", 13],
    });
    expect(fence.write({ id: 13 }, lease, { balance: 1 })).toMatchObject({
      text: 'UPDATE "account" SET "balance" = $1 WHERE "id" = $2 AND "fence_holder" = $3',
      values: [1, 13, "7:a"],
    });
  });
});

describe("what can never work is refused before it is sent", () => {
  const refused = (call: () => unknown, argument: string) => {
    expect(call).toThrow(InvalidArgumentError);
    expect(call).toThrow(expect.objectContaining({ argument }));
  };

  test.each([
    ["a key that names all rows", () => postgres.enter({}, lease), "row"],
    ["a key of NULL", () => postgres.enter({ id: null as never }, lease), "row"],
    ["a key that is an object", () => mysql.enter({ id: { id: 1 } as never }, lease), "row"],
    ["a key that is a list", () => postgres.enter({ id: [1, 2] as never }, lease), "row"],
    ["an object for MySQL", () => mysql.write({ id: 1 }, lease, { a: { b: 1 } }), "values"],
    ["a value that is missing", () => postgres.write({ id: 1 }, lease, { a: undefined as never }), "values"],
    ["writing the fence's own column", () => postgres.write({ id: 1 }, lease, { fence: 9 }), "values"],
    ["the same in capitals for MySQL", () => mysql.create({ id: 1 }, { FENCE: 9 }), "values"],
    ["the same with an accent for MySQL", () => mysql.write({ id: 1 }, lease, { f\u00e9nce: 9 }), "values"],
    [
      "the same in wide letters for MySQL",
      () => mysql.write({ id: 1 }, lease, { "\uff46ence": 9 }),
      "values",
    ],
    [
      "the holder in capitals for MySQL",
      () => mysql.write({ id: 1 }, lease, { Fence_Holder: "b" }),
      "values",
    ],
    ["a key with the fence's own column", () => mysql.create({ id: 1, Fence: 9 }), "row"],
    ["values that are null", () => postgres.write({ id: 1 }, lease, null as never), "values"],
    ["values that are a list", () => postgres.create({ id: 1 }, [1] as never), "values"],
    ["values that are text", () => postgres.create({ id: 1 }, "ab" as never), "values"],
    ["nothing to set without a token", () => bare.write({ id: 1 }, lease, {}), "values"],
    ["columns that are text", () => postgres.read({ id: 1 }, "ab" as never), "columns"],
    ["columns that are null", () => postgres.enter({ id: 1 }, lease, null as never), "columns"],
    ["a key that is null", () => postgres.enter(null as never, lease), "row"],
    ["a holder that is null", () => postgres.enter({ id: 1 }, null as never), "holder"],
    ["a table without a fence", () => new FencedTable(null as never, async () => ({})), "fence"],
    ["columns returned by MySQL", () => mysql.enter({ id: 1 }, lease, ["a"]), "columns"],
    ["a token that is a number", () => postgres.admits({ fence: 7 as never, id: "a" }), "holder"],
    ["a token beyond 64 bits", () => postgres.admits({ fence: 2n ** 63n, id: "a" }), "holder"],
    ["a negative token", () => postgres.admits({ fence: -1n, id: "a" }), "holder"],
    ["an id with a space", () => postgres.admits({ fence: 1n, id: "a b" }), "holder"],
    ["an empty id", () => postgres.admits({ fence: 1n, id: "" }), "holder"],
    ["a name that a server would cut", () => postgres.read({ ["x".repeat(64)]: 1 }), "row"],
    ["a name with a parameter in it", () => mysql.read({ "a?": 1 }), "row"],
    ["columns returned by SQLite", () => sqlite.enter({ id: 1 }, lease, ["a"]), "columns"],
    ["the fence's column in capitals for SQLite", () => sqlite.create({ id: 1 }, { FENCE: 9 }), "values"],
    ["a list for SQLite", () => sqlite.write({ id: 1 }, lease, { a: [1] }), "values"],
    ["an object for SQLite", () => sqlite.write({ id: 1 }, lease, { a: { b: 1 } }), "values"],
    ["a date for SQLite", () => sqlite.enter({ id: new Date(0) }, lease), "values"],
    ["a boolean for SQLite", () => sqlite.write({ id: 1 }, lease, { a: true }), "values"],
    [
      "numbered parameters of SQLite",
      () => new TokenFence({ dialect: "sqlite", table: "a", placeholders: "numbered" }),
      "placeholders",
    ],
    ["no database of SQLite", () => onSqlite({} as never), "database"],
    ["no options", () => new TokenFence(undefined as never), "options"],
    ["an unknown dialect", () => new TokenFence({ dialect: "oracle" as never, table: "a" }), "dialect"],
    ["a misspelt option", () => new TokenFence({ dialect: "mysql", tabel: "a" } as never), "tabel"],
    ["a table of no name", () => new TokenFence({ dialect: "mysql", table: "" }), "table"],
  ])("%s", (_title, call, argument) => refused(call, argument));
});

describe("the verdict on a row that a statement did not change", () => {
  const row = (token: string, holder: string) => ({ holdfast_token: token, holdfast_holder: holder });
  const judge = (found: Record<string, unknown> | undefined) => () =>
    postgres.judge({ id: 13 }, lease, found);

  test("is the fence's", () => {
    expect(judge(row("7", "a"))).not.toThrow();
    expect(judge(row("8", "a"))).toThrow(StaleTokenError);
    expect(judge(row("7", "b"))).toThrow(expect.objectContaining({ token: 7n, seen: 7n }));
    expect(judge(row("9007199254740993", "b"))).toThrow(
      expect.objectContaining({ resource: "account id=13", seen: 9007199254740993n }),
    );
    expect(judge(row("6", "a"))).toThrow(MissingRowError);
    expect(judge(undefined)).toThrow(MissingRowError);
    expect(judge({ holdfast_token: null, holdfast_holder: null })).toThrow(InvalidArgumentError);
  });

  test("is the holder's, where there are no tokens", () => {
    const fence = new HolderFence({ dialect: "mysql", table: "account" });
    expect(() => fence.judge({ id: 1 }, lease, { holdfast_holder: "7:a" })).not.toThrow();
    expect(() => fence.judge({ id: 1 }, lease, { holdfast_holder: "8:b" })).toThrow(
      expect.objectContaining({ code: "STALE_HOLDER", holder: "7:a", seen: "8:b" }),
    );
    expect(() => fence.judge({ id: 1 }, lease, { holdfast_holder: "" })).toThrow(StaleHolderError);
    expect(() => fence.judge({ id: 1 }, lease, undefined)).toThrow(MissingRowError);
  });
});

test("a table rejects with an error of holdfast, whatever its caller passes", async () => {
  const table = new FencedTable(mysql, async () => ({ affectedRows: 1 }));
  const refused = { code: "INVALID_ARGUMENT" };
  await expect(table.write({ id: 1 }, lease, null as never)).rejects.toMatchObject(refused);
  await expect(table.create({ id: 1 }, null as never)).rejects.toMatchObject(refused);
  await expect(table.enter({ id: 1 }, lease, null as never)).rejects.toMatchObject(refused);
  await expect(table.enter({ id: 1 }, lease, "ab" as never)).rejects.toMatchObject(refused);
  await expect(table.confirm(null, { id: 1 }, lease)).rejects.toMatchObject(refused);
});

test("the answers of drivers say how many rows were affected", () => {
  expect(affectedRows({ command: "UPDATE", rowCount: 1, rows: [] })).toBe(1); // pg
  expect(affectedRows(Object.assign([], { count: 1, command: "UPDATE" }))).toBe(1); // postgres
  expect(affectedRows([{ affectedRows: 1, insertId: 0 }, undefined])).toBe(1); // mysql2
  expect(affectedRows({ affectedRows: 0 })).toBe(0);
  expect(affectedRows({ numAffectedRows: 1n, rows: [] })).toBe(1); // kysely
  expect(affectedRows([{ numUpdatedRows: 1n }])).toBe(1);
  expect(affectedRows({ changes: 1, lastInsertRowid: 3 })).toBe(1); // better-sqlite3, node:sqlite
  expect(affectedRows({ rows: [], rowsAffected: 1 })).toBe(1); // @libsql/client
  expect(affectedRows(1)).toBe(1); // knex
  for (const other of [undefined, null, "1", {}, [], { rowCount: null }, [[{ id: 1 }], []]]) {
    expect(() => affectedRows(other)).toThrow(InvalidArgumentError);
  }
});
