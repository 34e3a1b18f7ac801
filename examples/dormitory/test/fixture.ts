/** The application without its web servers: the embedded Valkey, PGlite, and data of a seed. */
import { PGlite } from "@electric-sql/pglite";
import { EmbeddedValkey } from "@holdfast/embedded";
import { sql } from "kysely";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { loadSeed } from "../src/data/load-seed.js";
import { migrate } from "../src/data/migrations.js";
import { type SeedBatch, type SeedOptions, seedData } from "../src/data/seed.js";
import { serveDatabase } from "../src/data/wire-server.js";
import type { Student } from "../src/domain/student.js";
import { type OpenDormitory, openDormitory } from "../src/state/dormitory.js";

const SEED = "test";
export const ADMIN: Student = { id: "admin", name: "admin", role: "admin", batchId: null };

export interface Stores {
  readonly redisUrl: string;
  readonly postgresUrl: string;
}

/** Both stores, for all tests of a file: PGlite takes seconds to start. */
export function storesOfFile(): () => Stores {
  let stores: Stores | null = null;
  let stop = async (): Promise<void> => {};
  beforeAll(async () => {
    const [valkey, database] = await Promise.all([EmbeddedValkey.start(), PGlite.create()]);
    const server = await serveDatabase(database, 0);
    stores = { redisUrl: valkey.url, postgresUrl: `postgres://postgres@127.0.0.1:${server.port}/postgres` };
    stop = async () => {
      await server.close();
      await valkey.stop();
      await database.close();
    };
  });
  afterAll(() => stop());
  return () => {
    if (!stores) throw new Error("the stores have not started");
    return stores;
  };
}

/** One process of the application, as it were. It closes with the test. */
export function openOn(stores: Stores): OpenDormitory {
  const dormitory = openDormitory({ ...stores, prefix: "test" });
  onTestFinished(() => dormitory.close());
  return dormitory;
}

/** Nothing but data of a seed: open from a second ago for an hour, unless the options say otherwise. */
export async function seeded(
  dormitory: OpenDormitory,
  options: Partial<SeedOptions> = {},
): Promise<readonly SeedBatch[]> {
  const { db, redis } = dormitory;
  await migrate(db);
  await sql`TRUNCATE batches, rooms, students, results, archive_log, archive_fences CASCADE`.execute(db);
  await redis.flushall();
  const data = seedData({
    seed: SEED,
    batches: 1,
    studentsPerBatch: 20,
    startsAtMs: Date.now() - 1_000,
    apartMs: 0,
    openMs: 3_600_000,
    ...options,
  });
  await loadSeed(dormitory, data, SEED);
  return data;
}

export function studentsOf({ id, students }: SeedBatch): Student[] {
  return students.map(({ number, name }) => ({ id: number, name, role: "student", batchId: id }));
}
