/** A batch of the seed data over the embedded engine, without PostgreSQL, and several processes of the application on it. */
import { EmbeddedValkey } from "@holdfast/embedded";
import { onTestFinished } from "vitest";
import { loadState } from "../src/data/load-seed.js";
import { type SeedBatch, seedData } from "../src/data/seed.js";
import type { Way } from "../src/domain/batch.js";
import type { Student } from "../src/domain/student.js";
import { type OpenDormitory, openDormitory } from "../src/state/dormitory.js";

export interface Faculty {
  readonly batch: SeedBatch;
  readonly redisUrl: string;
  /** As many as were asked for: each has its own connections. */
  readonly processes: readonly OpenDormitory[];
  student(number: string): Student;
}

export interface FacultyOptions {
  readonly way: Way;
  readonly students: number;
  readonly processes: number;
  /** From now. @default an hour ago */
  readonly startsInMs?: number;
}

const HOUR_MS = 3_600_000;
/** A crowd gets all its locks on however busy a machine. */
const LOCK_WAIT = "60s";

export async function openFaculty({
  way,
  students,
  processes,
  startsInMs = -HOUR_MS,
}: FacultyOptions): Promise<Faculty> {
  const valkey = await EmbeddedValkey.start();
  const setup = {
    redisUrl: valkey.url,
    postgresUrl: "postgres://nobody@127.0.0.1:1/none",
    prefix: "faculty",
  };
  const opened = Array.from({ length: processes }, () => openDormitory(setup, { lockWait: LOCK_WAIT }));
  onTestFinished(async () => {
    await Promise.all(opened.map((one) => one.close()));
    await valkey.stop();
  });
  const terms = { startsAtMs: Date.now() + startsInMs, apartMs: 0, openMs: 2 * HOUR_MS };
  const data = seedData({ seed: "1", batches: 1, studentsPerBatch: students, way, ...terms });
  const [first] = opened;
  const [batch] = data;
  if (!first || !batch) throw new Error("no process, or no batch");
  await loadState(first, data);
  const names = new Map(batch.students.map(({ number, name }) => [number, name]));
  return {
    batch,
    redisUrl: valkey.url,
    processes: opened,
    student: (number) => ({ id: number, name: names.get(number) ?? "", role: "student", batchId: batch.id }),
  };
}
