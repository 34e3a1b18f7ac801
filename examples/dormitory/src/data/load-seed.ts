/** Writes the seed data: accounts, rooms and batches to PostgreSQL, and the working state to Redis, in bulk. */
import type { Holdfast } from "holdfast";
import type { Redis } from "ioredis";
import type { Kysely } from "kysely";
import type { Keys } from "../state/keys.js";
import { wishesRecord } from "../state/names.js";
import { chunks } from "./chunks.js";
import { DEMO_COST, hashPassword, passwordOf } from "./passwords.js";
import { ADMINISTRATOR, type SeedBatch } from "./seed.js";
import type { Tables } from "./tables.js";

/** The threads that Node.js has for hashes. */
const HASHES_AT_ONCE = 8;

export interface SeedTargets {
  readonly db: Kysely<Tables>;
  readonly redis: Redis;
  readonly hf: Holdfast;
  readonly keys: Keys;
}

export async function loadSeed(
  targets: SeedTargets,
  batches: readonly SeedBatch[],
  seed: string,
): Promise<void> {
  await Promise.all([writeRows(targets.db, batches, seed), loadState(targets, batches)]);
  const entry = JSON.stringify({ name: ADMINISTRATOR, role: "admin", batchId: null });
  await targets.redis.hset(targets.keys.directory, ADMINISTRATOR, entry);
}

/** The part in Redis. */
export async function loadState(
  targets: Omit<SeedTargets, "db">,
  batches: readonly SeedBatch[],
): Promise<void> {
  await Promise.all(batches.map((batch) => writeState(targets, batch)));
  await targets.redis.sadd(targets.keys.batches, ...batches.map(({ id }) => id));
}

async function writeRows(db: Kysely<Tables>, batches: readonly SeedBatch[], seed: string): Promise<void> {
  const students = batches.flatMap((batch) =>
    batch.students.map(({ number, name }) => ({
      number,
      name,
      role: "student",
      batch_id: batch.id as string | null,
    })),
  );
  students.push({ number: ADMINISTRATOR, name: ADMINISTRATOR, role: "admin", batch_id: null });
  const hashed = await hashAll(students, seed);
  await db
    .insertInto("batches")
    .values(
      batches.map(({ id, name, startsAtMs, endsAtMs, way }) => ({
        id,
        name,
        starts_at_ms: startsAtMs,
        ends_at_ms: endsAtMs,
        way,
        archived: false,
        fence: 0,
        fence_holder: "",
      })),
    )
    .execute();
  const rooms = batches.flatMap((batch) => batch.rooms.map((room) => ({ ...room, batch_id: batch.id })));
  for (const some of chunks(rooms)) await db.insertInto("rooms").values(some).execute();
  for (const some of chunks(hashed)) await db.insertInto("students").values(some).execute();
}

async function hashAll<Row extends { readonly number: string }>(
  rows: readonly Row[],
  seed: string,
): Promise<(Row & { readonly password: string })[]> {
  const hashed: (Row & { readonly password: string })[] = [];
  const left = rows.values();
  const work = async (): Promise<void> => {
    for (const row of left)
      hashed.push({ ...row, password: await hashPassword(passwordOf(seed, row.number), DEMO_COST) });
  };
  await Promise.all(Array.from({ length: HASHES_AT_ONCE }, work));
  return hashed;
}

/** One pipeline for each batch, and one bulk write of the wishes. */
async function writeState({ redis, hf, keys }: Omit<SeedTargets, "db">, batch: SeedBatch): Promise<void> {
  const of = (part: Parameters<Keys["of"]>[1]): string => keys.of(batch.id, part);
  const version = "1";
  const teams = batch.teams.map((team) => ({ ...team, id: `t${team.members[0]}` }));
  const pipeline = redis.pipeline();
  pipeline.hset(of("meta"), {
    name: batch.name,
    startsAtMs: batch.startsAtMs,
    endsAtMs: batch.endsAtMs,
    way: batch.way,
    archived: "no",
    version,
  });
  pipeline.hset(
    of("rooms"),
    Object.fromEntries(
      batch.rooms.map(({ id, building, name, beds }) => [id, JSON.stringify({ building, name, beds })]),
    ),
  );
  pipeline.hset(of("free"), Object.fromEntries(batch.rooms.map(({ id, beds }) => [id, beds])));
  pipeline.hset(of("people"), Object.fromEntries(batch.students.map(({ number, name }) => [number, name])));
  pipeline.hset(
    of("teams"),
    Object.fromEntries(teams.map(({ id, members }) => [id, JSON.stringify({ members, version })])),
  );
  pipeline.hset(
    of("team-of"),
    Object.fromEntries(teams.flatMap(({ id, members }) => members.map((member) => [member, id]))),
  );
  pipeline.hset(
    keys.directory,
    Object.fromEntries(
      batch.students.map(({ number, name }) => [
        number,
        JSON.stringify({ name, role: "student", batchId: batch.id }),
      ]),
    ),
  );
  await pipeline.exec();
  const written = await hf.records.putMany(
    teams.map(({ id, wishes }) => ({
      ...wishesRecord(batch.id, id),
      value: { roomIds: wishes, by: null, atMs: batch.startsAtMs },
    })),
  );
  const failed = written.find((one) => !one.ok);
  if (failed && !failed.ok) throw failed.error;
}
