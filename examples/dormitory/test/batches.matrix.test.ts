import { until } from "@holdfast/conformance";
import { describe, expect, test } from "vitest";
import { upkeepOf } from "../src/archive/upkeep.js";
import { batchLock } from "../src/state/names.js";
import { ADMIN, openOn, seeded, storesOfFile, studentsOf } from "./fixture.js";

const stores = storesOfFile();
const BATCH = "b01";

async function opened() {
  const dormitory = openOn(stores());
  const [batch] = await seeded(dormitory, { way: "locks" });
  if (!batch) throw new Error("no batch");
  return { dormitory, batch, students: studentsOf(batch) };
}

describe("an edit", () => {
  test("waits for the selections under way, and keeps new ones out until it is done", async () => {
    const { dormitory, students } = await opened();
    const inspector = await dormitory.hf.inspector();
    const inLine = (count: number) =>
      until("it stands in line", async () => (await inspector.rwLock(batchLock(BATCH))).waiting === count);
    const selecting = await dormitory.hf.rwLock(batchLock(BATCH)).read().acquire();
    const log: string[] = [];
    const edit = dormitory.batches.edit(BATCH, { name: "Renamed" }, ADMIN).then(() => log.push("edited"));
    await inLine(1);
    const [student] = students;
    if (!student) throw new Error("no student");
    const grab = dormitory.selection.grab(student).then(() => log.push("grabbed"));
    await inLine(2);
    expect(log).toEqual([]);
    await selecting.release();
    await Promise.all([edit, grab]);
    expect(log).toEqual(["edited", "grabbed"]);
    expect(await dormitory.batches.get(BATCH)).toMatchObject({ name: "Renamed", state: "open" });
    const row = await dormitory.db
      .selectFrom("batches")
      .select("name")
      .where("id", "=", BATCH)
      .executeTakeFirst();
    expect(row?.name).toBe("Renamed");
  });

  test("is refused whole when somebody lives in a room that it removes", async () => {
    const { dormitory, students } = await opened();
    const [student] = students;
    if (!student) throw new Error("no student");
    const outcome = await dormitory.selection.grab(student);
    const roomId = outcome.state === "done" ? (outcome.places[0]?.roomId ?? "") : "";
    const change = { name: "Smaller", removeRooms: [roomId] };
    expect(await dormitory.batches.edit(BATCH, change, ADMIN)).toEqual({
      ok: false,
      reason: "room-taken",
      subject: roomId,
    });
    expect((await dormitory.batches.get(BATCH))?.name).not.toBe("Smaller");
    expect(await dormitory.batches.edit(BATCH, { removeStudents: [student.id] }, ADMIN)).toMatchObject({
      ok: false,
    });
    expect(await dormitory.batches.edit(BATCH, { startsAtMs: 2, endsAtMs: 1 }, ADMIN)).toMatchObject({
      reason: "terms",
    });
  });

  test("moves a student out and in again, alone", async () => {
    const { dormitory, batch } = await opened();
    const number = batch.teams.find(({ members }) => members.length > 1)?.members[0] ?? "";
    const alone = batch.teams.find(({ members }) => members.length === 1)?.members[0] ?? "";
    const [invited, inviting] = await Promise.all([
      dormitory.students.find(alone),
      dormitory.students.find(number),
    ]);
    if (!invited || !inviting) throw new Error("no student");
    await dormitory.teams.invite(inviting, alone);
    expect((await dormitory.teams.of(invited))?.received).toHaveLength(1);
    expect(await dormitory.batches.edit(BATCH, { removeStudents: [number] }, ADMIN)).toMatchObject({
      ok: true,
    });
    expect((await dormitory.teams.of(invited))?.received).toEqual([]);
    expect(await dormitory.students.find(number)).toMatchObject({ batchId: null });
    expect(await dormitory.batches.edit(BATCH, { addStudents: [number] }, ADMIN)).toMatchObject({ ok: true });
    const student = await dormitory.students.find(number);
    expect(student).toMatchObject({ batchId: BATCH });
    expect(student && (await dormitory.teams.of(student))?.members).toHaveLength(1);
  });
});

test("a student goes by the batch of the directory, not by that of an old session", async () => {
  const dormitory = openOn(stores());
  const [one, two] = await seeded(dormitory, { way: "locks", batches: 2 });
  const [old] = one ? studentsOf(one) : [];
  if (!one || !two || !old) throw new Error("no batches");
  await dormitory.batches.edit(one.id, { removeStudents: [old.id] }, ADMIN);
  await dormitory.batches.edit(two.id, { addStudents: [old.id] }, ADMIN);
  const room = two.rooms[0]?.id ?? "";
  expect(await dormitory.selection.pick(old, room)).toMatchObject({ state: "done" });
  expect((await dormitory.selection.ticket(old))?.places).toMatchObject([{ roomId: room }]);
  await dormitory.selection.regret(old);
  await dormitory.batches.edit(two.id, { removeStudents: [old.id] }, ADMIN);
  expect(await dormitory.selection.grab(old)).toMatchObject({ reason: "not-in-batch" });
  expect(await dormitory.selection.ticket(old)).toBeNull();
});

test("a request that came too early may be sent again with its id", async () => {
  const dormitory = openOn(stores());
  const [batch] = await seeded(dormitory, { way: "locks", startsAtMs: Date.now() + 60_000 });
  const [student] = batch ? studentsOf(batch) : [];
  const room = batch?.rooms[0]?.id ?? "";
  if (!student) throw new Error("no student");
  const ask = () => dormitory.selection.pick(student, room, "request-1");
  expect(await ask()).toMatchObject({ state: "refused", reason: "not-open" });
  await dormitory.batches.edit(BATCH, { startsAtMs: Date.now() - 1_000 }, ADMIN);
  expect(await ask()).toMatchObject({ state: "done" });
});

describe("an edit that one side refuses changes nothing on the other", () => {
  test("a student of another batch is not removed, nor a room, nor an unknown number", async () => {
    const dormitory = openOn(stores());
    const [one, two] = await seeded(dormitory, { way: "locks", batches: 2 });
    if (!one || !two) throw new Error("no batches");
    const number = one.students[0]?.number ?? "";
    const { batches } = dormitory;
    for (const wrong of [number, "nobody"])
      expect(await batches.edit(two.id, { name: "Half", removeStudents: [wrong] }, ADMIN)).toEqual({
        ok: false,
        reason: "no-such-student",
        subject: wrong,
      });
    const room = one.rooms[0]?.id ?? "";
    for (const wrong of [room, "nowhere"])
      expect(await batches.edit(two.id, { name: "Half", removeRooms: [wrong] }, ADMIN)).toEqual({
        ok: false,
        reason: "no-such-room",
        subject: wrong,
      });
    expect((await batches.get(two.id))?.name).toBe(two.name);
    expect(await dormitory.students.find(number)).toMatchObject({ batchId: one.id });
    expect(await upkeepOf(dormitory).check()).toMatchObject({ differences: [] });
  });

  test("a room that PostgreSQL refuses is not in Redis, and its name is given once", async () => {
    const { dormitory, batch } = await opened();
    const { batches } = dormitory;
    const large = { building: "Oak", name: "1", beds: 9 };
    expect(await batches.edit(BATCH, { name: "Half", addRooms: [large] }, ADMIN)).toMatchObject({
      reason: "not-stored",
    });
    const [there] = batch.rooms;
    if (!there) throw new Error("no room");
    const { building, name, beds } = there;
    expect(await batches.edit(BATCH, { addRooms: [{ building, name, beds }] }, ADMIN)).toEqual({
      ok: false,
      reason: "room-exists",
      subject: `${building} ${name}`,
    });
    const twice = { building: "Oak", name: "2", beds: 1 };
    expect(await batches.edit(BATCH, { addRooms: [twice, twice] }, ADMIN)).toMatchObject({
      reason: "room-exists",
    });
    expect(await dormitory.rooms.of(BATCH)).toHaveLength(batch.rooms.length);
    expect((await batches.get(BATCH))?.name).toBe(batch.name);
    expect(await upkeepOf(dormitory).check()).toMatchObject({ differences: [] });
  });

  test("a repeat brings both sides together where an answer of Redis was lost", async () => {
    const { dormitory } = await opened();
    const { redis, keys } = dormitory;
    const room = { building: "Oak", name: "1", beds: 2 };
    await redis.hset(keys.of(BATCH, "rooms"), "half", JSON.stringify(room));
    await redis.hset(keys.of(BATCH, "free"), "half", 2);
    expect((await upkeepOf(dormitory).check()).differences).toMatchObject([{ kind: "rooms-differ" }]);
    expect(await dormitory.batches.edit(BATCH, { addRooms: [room] }, ADMIN)).toMatchObject({ ok: true });
    expect(await upkeepOf(dormitory).check()).toMatchObject({ differences: [] });
  });

  test("two batches that add the same student at once: one is refused", async () => {
    const [dormitory, other] = [openOn(stores()), openOn(stores())];
    const [one, two] = await seeded(dormitory, { way: "locks", batches: 2 });
    if (!one || !two) throw new Error("no batches");
    const number = one.students[0]?.number ?? "";
    await dormitory.batches.edit(one.id, { removeStudents: [number] }, ADMIN);
    const results = await Promise.all([
      dormitory.batches.edit(one.id, { addStudents: [number] }, ADMIN),
      other.batches.edit(two.id, { addStudents: [number] }, ADMIN),
    ]);
    expect(results.filter(({ ok }) => ok)).toHaveLength(1);
    expect(await upkeepOf(dormitory).check()).toMatchObject({ differences: [] });
  });

  test("two edits of different fields both stay, and none follows the archive", async () => {
    const { dormitory, batch } = await opened();
    const { batches } = dormitory;
    await Promise.all([
      batches.edit(BATCH, { name: "Renamed" }, ADMIN),
      batches.edit(BATCH, { endsAtMs: batch.endsAtMs + 1_000 }, ADMIN),
    ]);
    expect(await batches.get(BATCH)).toMatchObject({ name: "Renamed", endsAtMs: batch.endsAtMs + 1_000 });
    const archiving = batches.archive(BATCH, ADMIN);
    await Promise.all([archiving, batches.edit(BATCH, { name: "Late" }, ADMIN)]);
    expect(await batches.get(BATCH)).toMatchObject({ state: "archived" });
  });

  test("that gives more time comes before the archive, which takes only what is over", async () => {
    const { dormitory, batch } = await opened();
    const { batches } = dormitory;
    await batches.edit(BATCH, { endsAtMs: batch.startsAtMs + 1 }, ADMIN);
    expect(await batches.get(BATCH)).toMatchObject({ state: "closed" });
    await batches.edit(BATCH, { endsAtMs: batch.endsAtMs }, ADMIN);
    const late = await batches.archive(BATCH, ADMIN, { onlyIfOver: true });
    expect(late).toMatchObject({ ok: false, reason: "not-over" });
    expect(await batches.get(BATCH)).toMatchObject({ state: "open" });
  });

  test("gives the batch a higher version, also where the clock of Redis was set back", async () => {
    const { dormitory } = await opened();
    const { batches, redis, keys } = dormitory;
    const anHourUs = 3_600_000_000n;
    await batches.edit(BATCH, { name: "By the clock" }, ADMIN);
    const ahead = BigInt((await redis.hget(keys.of(BATCH, "meta"), "version")) ?? 0) + anHourUs;
    await redis.hset(keys.of(BATCH, "meta"), "version", String(ahead));
    await batches.edit(BATCH, { addRooms: [{ building: "Oak", name: "1", beds: 2 }] }, ADMIN);
    expect(await batches.get(BATCH)).toMatchObject({ version: ahead + 1n });
    expect((await dormitory.rooms.of(BATCH)).map(({ building }) => building)).toContain("Oak");
  });
});

describe("an import", () => {
  test("of thousands of rooms is one edit", async () => {
    const { dormitory } = await opened();
    const rows = Array.from({ length: 14_000 }, (_, at) => `Oak,${at},1`);
    const csv = ["building,name,beds", ...rows].join("\n");
    expect(await dormitory.rooms.importCsv(BATCH, csv, ADMIN)).toEqual({ imported: 14_000, problems: [] });
  });

  test("into an archived batch leaves no accounts, and an account without a batch is taken", async () => {
    const { dormitory } = await opened();
    const csv = "number,name,password\nnew-1,Ann,long enough\n";
    const account = { number: "new-1", name: "Ann", role: "student", batch_id: null, password: "" };
    await dormitory.db.insertInto("students").values(account).execute();
    expect(await dormitory.students.importCsv(BATCH, csv, ADMIN)).toEqual({ imported: 1, problems: [] });
    await dormitory.batches.archive(BATCH, ADMIN);
    await expect(
      dormitory.students.importCsv(BATCH, csv.replace("new-1", "new-2"), ADMIN),
    ).rejects.toMatchObject({ name: "EditRefused", reason: "archived" });
    const late = dormitory.db.selectFrom("students").selectAll().where("number", "=", "new-2");
    expect(await late.execute()).toEqual([]);
  });

  test("takes the rows without a problem, and says the others by line", async () => {
    const { dormitory, batch } = await opened();
    const rooms = await dormitory.rooms.importCsv(
      BATCH,
      "building,name,beds\nOak,101,4\nOak,101,2\nOak,,2\nOak,103,nine\n",
      ADMIN,
    );
    expect(rooms.imported).toBe(1);
    expect(rooms.problems.map(({ line, problem }) => [line, problem])).toEqual([
      [3, "twice-in-file"],
      [4, "name"],
      [5, "beds"],
    ]);
    expect((await dormitory.rooms.of(BATCH)).find(({ building }) => building === "Oak")).toMatchObject({
      // Long enough that no two of thousands are alike.
      id: expect.stringMatching(/^[0-9a-f]{16}$/),
      beds: 4,
      free: 4,
    });

    const known = batch.students[0]?.number ?? "";
    const csv = `number,name,password\nnew-1,"Robert'); DROP TABLE students;--",long enough\n${known},Again,long enough\nnew-2,Short,short\n`;
    const students = await dormitory.students.importCsv(BATCH, csv, ADMIN);
    expect(students.imported).toBe(1);
    expect(students.problems.map(({ line, problem, text }) => [line, problem, text])).toEqual([
      [4, "password", ""],
      [3, "exists", known],
    ]);
    expect(await dormitory.students.verify("new-1", "long enough")).toMatchObject({ batchId: BATCH });
    expect(await dormitory.students.verify("new-1", "wrong")).toBeNull();
    expect(await dormitory.students.verify("nobody", "wrong")).toBeNull();

    const [first, second] = batch.rooms;
    const wishes = await dormitory.teams.importWishes(
      BATCH,
      `number,wishes\nnew-1,${first?.id} ${second?.id}\n${known},elsewhere\n`,
      ADMIN,
    );
    expect(wishes).toEqual({ imported: 1, problems: [{ line: 3, problem: "wishes", text: "elsewhere" }] });
    const imported = await dormitory.students.find("new-1");
    expect(imported && (await dormitory.teams.of(imported))?.wishes.roomIds).toEqual([first?.id, second?.id]);
  });

  test("of rooms that another batch has as well is one of its own", async () => {
    const dormitory = openOn(stores());
    const [one, two] = await seeded(dormitory, { way: "locks", batches: 2 });
    const csv = "building,name,beds\nOak 1,01,2\nOak,1 01,2\n";
    for (const batch of [one, two])
      expect(await dormitory.rooms.importCsv(batch?.id ?? "", csv, ADMIN)).toEqual({
        imported: 2,
        problems: [],
      });
    expect(await upkeepOf(dormitory).check()).toMatchObject({ differences: [] });
  });

  test("of something else is one problem", async () => {
    const { dormitory } = await opened();
    expect(await dormitory.rooms.importCsv(BATCH, "a,b\n1,2\n", ADMIN)).toMatchObject({
      imported: 0,
      problems: [{ line: 1, problem: "columns" }],
    });
    expect(
      (await dormitory.rooms.importCsv(BATCH, 'building,name,beds\n"open', ADMIN)).problems,
    ).toMatchObject([{ problem: "syntax" }]);
  });
});
