/** The servers start on an empty database, and nothing is left of them. */
import { needing, program } from "@holdfast/conformance";
import { createConnection } from "mysql2/promise";
import pg from "pg";
import { describe, expect, test } from "vitest";
import { startMariaDb, startPostgres } from "../src/index.js";

needing(describe, "postgres")("PostgreSQL", () => {
  test("answers on its address, and is gone when it is stopped", async () => {
    const database = await startPostgres(program("postgres"));
    const client = new pg.Client({ connectionString: database.url });
    client.on("error", () => {});
    await client.connect();
    expect((await client.query("SELECT current_database() AS name")).rows).toEqual([{ name: "test" }]);
    await database.stop();
    await expect(new pg.Client({ connectionString: database.url }).connect()).rejects.toThrow("ECONNREFUSED");
  });
});

needing(describe, "mariadbd")("MariaDB", () => {
  test("answers on its address, and is gone when it is stopped", async () => {
    const database = await startMariaDb(program("mariadbd"));
    const connection = await createConnection(database.url);
    connection.on("error", () => {});
    expect((await connection.query("SELECT DATABASE() AS name"))[0]).toEqual([{ name: "test" }]);
    await database.stop();
    await expect(createConnection(database.url)).rejects.toThrow("ECONNREFUSED");
  });
});
