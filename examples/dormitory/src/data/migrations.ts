/** The tables, step by step. Only the first process migrates, before the servers start. */
import { type Kysely, type Migration, Migrator, sql } from "kysely";
import { archiveFence } from "../archive/fence.js";
import { MOST_BEDS } from "../domain/room.js";
import type { Tables } from "./tables.js";

const migrations: Record<string, Migration> = {
  "0001-start": {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable("batches")
        .addColumn("id", "text", (column) => column.primaryKey())
        .addColumn("name", "text", (column) => column.notNull())
        .addColumn("starts_at_ms", "bigint", (column) => column.notNull())
        .addColumn("ends_at_ms", "bigint", (column) => column.notNull())
        .addColumn("way", "text", (column) => column.notNull().check(sql`way in ('locks', 'lanes')`))
        .addColumn("archived", "boolean", (column) => column.notNull().defaultTo(false))
        .addColumn("fence", "bigint", (column) => column.notNull().defaultTo(0))
        .addColumn("fence_holder", sql`varchar(200)`, (column) => column.notNull().defaultTo(""))
        .execute();
      await db.schema
        .createTable("rooms")
        .addColumn("id", "text", (column) => column.primaryKey())
        .addColumn("batch_id", "text", (column) => column.references("batches.id"))
        .addColumn("building", "text", (column) => column.notNull())
        .addColumn("name", "text", (column) => column.notNull())
        .addColumn("beds", "integer", (column) =>
          column.notNull().check(sql`beds between 1 and ${sql.lit(MOST_BEDS)}`),
        )
        .execute();
      await db.schema
        .createTable("students")
        .addColumn("number", "text", (column) => column.primaryKey())
        .addColumn("name", "text", (column) => column.notNull())
        .addColumn("role", "text", (column) => column.notNull().check(sql`role in ('student', 'admin')`))
        .addColumn("batch_id", "text", (column) => column.references("batches.id"))
        .addColumn("password", "text", (column) => column.notNull())
        .execute();
      await db.schema
        .createTable("results")
        .addColumn("student", "text", (column) => column.notNull())
        .addColumn("batch_id", "text", (column) => column.notNull())
        .addColumn("room_id", "text", (column) => column.notNull())
        .addColumn("bed", "integer", (column) => column.notNull())
        .addColumn("decided_at_ms", "bigint", (column) => column.notNull())
        .addColumn("fence", "bigint", (column) => column.notNull().defaultTo(0))
        .addColumn("fence_holder", sql`varchar(200)`, (column) => column.notNull().defaultTo(""))
        .addPrimaryKeyConstraint("results_key", ["batch_id", "student"])
        .execute();
      await db.schema
        .createTable("archive_log")
        .addColumn("id", "serial", (column) => column.primaryKey())
        .addColumn("at_ms", "bigint", (column) => column.notNull())
        .addColumn("who", "text", (column) => column.notNull())
        .addColumn("batch_id", "text")
        .addColumn("kind", "text", (column) => column.notNull())
        .addColumn("line", "text", (column) => column.notNull())
        .execute();
      await db.schema
        .createTable("archive_fences")
        .addColumn("resource", "text", (column) => column.primaryKey())
        .execute();
      await sql.raw(archiveFence.migration()).execute(db);
      await db.schema.createIndex("students_by_batch").on("students").column("batch_id").execute();
      await db.schema.createIndex("rooms_by_batch").on("rooms").column("batch_id").execute();
    },
  },
  "0002-room-once": {
    /** A room that no batch has any more leaves its name free. */
    async up(db: Kysely<unknown>) {
      await db.schema
        .createIndex("room_once_in_batch")
        .unique()
        .on("rooms")
        .columns(["batch_id", "building", "name"])
        .execute();
    },
  },
};

export async function migrate(db: Kysely<Tables>): Promise<void> {
  const { rows } = await sql<{ schema: string }>`SELECT current_schema() AS schema`.execute(db);
  // Named, because Kysely looks for its own tables in all schemas and makes them in the first of the search path.
  const migrationTableSchema = rows[0]?.schema ?? "public";
  const provider = { getMigrations: async () => migrations };
  const migrator = new Migrator({ db, provider, migrationTableSchema });
  const { error } = await migrator.migrateToLatest();
  if (error) throw error;
}
