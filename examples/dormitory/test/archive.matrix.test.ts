/** The archive: the copy under fences, both sides compared and repaired, and leaders that come and go. */
import { StaleTokenError } from "holdfast";
import { describe, expect, onTestFinished, test } from "vitest";
import { archiveBatch } from "../src/archive/archive-batch.js";
import { archiveDifferences } from "../src/archive/compare.js";
import { copyBatch } from "../src/archive/copy.js";
import { runArchive } from "../src/archive/job.js";
import { readLog } from "../src/archive/log.js";
import { Orders } from "../src/archive/orders.js";
import { upkeepOf } from "../src/archive/upkeep.js";
import { readBatch } from "../src/check/read.js";
import type { SeedBatch } from "../src/data/seed.js";
import type { OpenDormitory } from "../src/state/dormitory.js";
import { ADMIN, openOn, seeded, storesOfFile, studentsOf } from "./fixture.js";

const stores = storesOfFile();
const BATCH = "b01";

/** A batch of 20 in which all have grabbed. */
async function decided(): Promise<OpenDormitory> {
  const dormitory = openOn(stores());
  const [batch] = await seeded(dormitory, { way: "locks" });
  if (!batch) throw new Error("no batch");
  for (const student of studentsOf(batch)) await dormitory.selection.grab(student);
  return dormitory;
}

async function differences(dormitory: OpenDormitory): Promise<string[]> {
  const found = await archiveDifferences(dormitory.db, await readBatch(dormitory, BATCH));
  return found.map(({ kind, text }) => `${kind}: ${text}`);
}

/** Runs the job as a worker does. @returns how to stop it */
function job(dormitory: OpenDormitory): () => Promise<void> {
  const ending = new AbortController();
  const running = runArchive(dormitory, ending.signal);
  const stop = async (): Promise<void> => {
    ending.abort();
    await running;
  };
  onTestFinished(stop);
  return stop;
}

describe("the archive", () => {
  test("finds every difference between both sides, repairs it, and writes both down", async () => {
    const dormitory = await decided();
    const { db } = dormitory;
    const batch = await readBatch(dormitory, BATCH);
    const [first, second] = batch.choices;
    if (!first || !second) throw new Error("nobody has a room");
    const task = { store: dormitory, db, batchId: BATCH, by: "Ann" };
    const report = await archiveBatch({ ...task, term: { fence: 5n, id: "leader" } });
    expect(report).toEqual({ copied: batch.choices.length, differences: 0, repaired: 0 });

    await db.deleteFrom("results").where("student", "=", first.studentId).execute();
    await db
      .updateTable("results")
      .set({ room_id: "elsewhere" })
      .where("student", "=", second.studentId)
      .execute();
    const stranger = {
      student: "nobody",
      batch_id: BATCH,
      room_id: "r",
      bed: 1,
      decided_at_ms: 0,
      fence: 0,
      fence_holder: "",
    };
    await db.insertInto("results").values(stranger).execute();
    const planted = [
      `archive-missing: student ${first.studentId} has bed ${first.roomId}:${first.bed}, and the archive has no row`,
      `archive-differs: student ${second.studentId} has bed ${second.roomId}:${second.bed}, and the archive says elsewhere:${second.bed}`,
      "archive-extra: the archive says that student nobody has bed r:1, and Redis has no such choice",
    ];
    expect((await differences(dormitory)).sort()).toEqual(planted.sort());

    const upkeep = upkeepOf(dormitory);
    await dormitory.batches.archive(BATCH, ADMIN);
    expect((await upkeep.check()).counts).toMatchObject({
      "archive-missing": 1,
      "archive-differs": 1,
      "archive-extra": 1,
    });
    const stop = job(dormitory);
    const repaired = await upkeep.repair("Ann");
    await stop();
    // The leader may have been quicker than the administrator.
    expect(repaired.differences.every((difference) => difference.repaired)).toBe(true);
    expect(await differences(dormitory)).toEqual([]);
    const log = await readLog(db, 100);
    for (const text of planted.map((line) => line.replace(/^[a-z-]+: /, "")))
      expect(log).toContainEqual(expect.objectContaining({ kind: "difference", batchId: BATCH, text }));
    expect(log).toContainEqual(
      expect.objectContaining({ kind: "repair", text: "3 of 3 differences repaired by another copy" }),
    );
  });

  test("refuses the writes of a deposed leader, all of them, and says so", async () => {
    const dormitory = await decided();
    const { db } = dormitory;
    const batch = await readBatch(dormitory, BATCH);
    const old = { fence: 7n, id: "deposed" };
    await copyBatch(db, batch, old);
    await copyBatch(db, batch, { fence: 8n, id: "leader" });
    const stale = { ...batch, choices: batch.choices.slice(1) };
    await expect(copyBatch(db, stale, old)).rejects.toThrow(StaleTokenError);
    const task = { store: dormitory, db, batchId: BATCH, by: "archive, term 7", term: old };
    await expect(archiveBatch(task)).rejects.toThrow(StaleTokenError);
    expect(await differences(dormitory)).toEqual([]);
    expect(await readLog(db, 1)).toMatchObject([
      { by: "archive, term 7", kind: "error", text: "refused: a later leader has written (8 after 7)" },
    ]);
  });

  test("is made by one of several workers once a batch is over, and by another when that one goes", async () => {
    const [one, two] = [openOn(stores()), openOn(stores())];
    const data = await seeded(one, { way: "locks", batches: 2, studentsPerBatch: 8 });
    for (const batch of data) for (const student of studentsOf(batch)) await one.selection.grab(student);
    const stops = [job(one), job(two)];
    const archived = async ({ id, startsAtMs }: SeedBatch): Promise<void> => {
      await one.batches.edit(id, { endsAtMs: startsAtMs + 1 }, ADMIN);
      await expect.poll(async () => (await one.batches.get(id))?.state, { timeout: 30_000 }).toBe("archived");
    };
    const [first, second] = data as [SeedBatch, SeedBatch];
    await archived(first);
    await stops[0]?.();
    await archived(second);
    const { counts } = await upkeepOf(one).check();
    expect(Object.values(counts).every((count) => count === 0)).toBe(true);
    expect(await one.db.selectFrom("results").selectAll().execute()).toHaveLength(
      (await readBatch(one, "b01")).choices.length + (await readBatch(one, "b02")).choices.length,
    );
  });

  test("goes on where an order cannot be carried out, and an order that is given up is taken back", async () => {
    const dormitory = openOn(stores());
    const [damaged, good] = await seeded(dormitory, { way: "locks", batches: 2, studentsPerBatch: 8 });
    if (!damaged || !good) throw new Error("no batches");
    const { redis, keys } = dormitory;
    await redis.hset(keys.of(damaged.id, "choices"), damaged.students[0]?.number ?? "", "no bed");
    const waiting = new AbortController();
    const order = new Orders(dormitory).place(damaged.id, "Ann", waiting.signal);
    await expect.poll(() => redis.hlen(keys.archiveOrders)).toBe(1);
    await dormitory.batches.edit(good.id, { endsAtMs: good.startsAtMs + 1 }, ADMIN);
    job(dormitory);
    await expect
      .poll(async () => (await dormitory.batches.get(good.id))?.state, { timeout: 30_000 })
      .toBe("archived");
    expect(await readLog(dormitory.db, 9)).toContainEqual(
      expect.objectContaining({ batchId: damaged.id, kind: "error" }),
    );
    waiting.abort(new Error("no patience"));
    await expect(order).rejects.toThrow("no patience");
    expect(await redis.hlen(keys.archiveOrders)).toBe(0);
  });
});
