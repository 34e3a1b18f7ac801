import { expect, test } from "vitest";
import { Judge } from "../src/deciders/judge.js";
import type { Way } from "../src/domain/batch.js";
import type { Outcome, Ticket } from "../src/domain/selection.js";
import type { Student } from "../src/domain/student.js";
import type { OpenDormitory } from "../src/state/dormitory.js";
import { Rooms } from "../src/state/rooms.js";
import { Store } from "../src/state/store.js";
import { type Faculty, openFaculty } from "./faculty.js";

/** Waits for the outcome of a ticket, as a page does. */
async function outcomeOf(
  dormitory: OpenDormitory,
  student: Student,
  asked: Ticket | Outcome,
): Promise<Outcome> {
  if (asked.state !== "waiting") return asked;
  const over = new AbortController();
  try {
    for await (const view of dormitory.selection.watch(student, over.signal))
      if (view.state === "decided" && view.outcome) return view.outcome;
  } finally {
    over.abort();
  }
  throw new Error("the watch ended without an outcome");
}

/** What the data says: beds by student, and students by bed. */
async function readBeds({ processes: [dormitory], batch }: Faculty) {
  const { redis, keys } = dormitory as OpenDormitory;
  const choices = await redis.hgetall(keys.of(batch.id, "choices"));
  const beds = await redis.hgetall(keys.of(batch.id, "beds"));
  const free = await redis.hgetall(keys.of(batch.id, "free"));
  return { choices, beds, free };
}

test.each<Way>(["locks", "lanes"])(
  "a crowd under %s: no bed twice, teams together, every answer kept",
  async (way) => {
    const faculty = await openFaculty({ way, students: 200, processes: 3 });
    const { batch, processes } = faculty;
    const [worker, other] = processes.slice(1).map((one) => one.decideLanes(8));
    const students = batch.students.map(({ number }) => faculty.student(number));
    const answers = new Map<string, Outcome>();
    await Promise.all(
      students.flatMap((student, at) => {
        const dormitory = processes[at % processes.length] as OpenDormitory;
        const click = async (): Promise<void> => {
          const asked = await dormitory.selection.grab(student);
          answers.set(student.id, await outcomeOf(dormitory, student, asked));
        };
        // Every fifth student clicks twice.
        return at % 5 === 0 ? [click(), click()] : [click()];
      }),
    );
    await Promise.all([worker?.stop(), other?.stop()]);

    const { choices, beds, free } = await readBeds(faculty);
    const taken = Object.values(choices);
    expect(new Set(taken).size).toBe(taken.length);
    expect(Object.fromEntries(Object.entries(beds).map(([bed, student]) => [student, bed]))).toEqual(choices);
    for (const { members } of batch.teams) {
      const rooms = new Set(members.map((member) => choices[member]?.split(":")[0]));
      expect([...rooms], `team of ${members}`).toHaveLength(1);
    }
    for (const { id, beds: all } of batch.rooms)
      expect(Number(free[id])).toBe(all - taken.filter((bed) => bed.startsWith(`${id}:`)).length);
    expect(answers.size).toBe(students.length);
    for (const [student, outcome] of answers) {
      if (outcome.state === "done") {
        const place = outcome.places.find(({ studentId }) => studentId === student);
        expect(`${place?.roomId}:${place?.bed}`).toBe(choices[student]);
      } else expect(choices[student]).toBeUndefined();
    }
    expect(taken.length).toBeGreaterThan(120);
  },
);

test.each<Way>(["locks", "lanes"])(
  "regret and choose again under %s; a repeat of an old request changes nothing",
  async (way) => {
    const faculty = await openFaculty({ way, students: 20, processes: 1 });
    const [dormitory] = faculty.processes as [OpenDormitory];
    const consumer = dormitory.decideLanes(1);
    const alone = faculty.batch.teams.find(({ members }) => members.length === 1)?.members[0] as string;
    const student = faculty.student(alone);
    const ask = async (asked: Promise<Ticket | Outcome>) => outcomeOf(dormitory, student, await asked);

    const first = await ask(dormitory.selection.grab(student, "first-request"));
    expect(first).toMatchObject({ state: "done", kind: "grab" });
    expect(await ask(dormitory.selection.grab(student, "first-request"))).toEqual(first);
    expect(await ask(dormitory.selection.regret(student))).toMatchObject({
      state: "done",
      kind: "regret",
      places: [],
    });
    expect(await ask(dormitory.selection.regret(student))).toMatchObject({
      state: "refused",
      reason: "no-room",
    });

    const free = (await dormitory.rooms.of(faculty.batch.id)).find((room) => room.free > 0);
    const picked = await ask(dormitory.selection.pick(student, free?.id ?? ""));
    expect(picked).toMatchObject({ state: "done", places: [{ studentId: alone, roomId: free?.id }] });
    // The answer to an older request was lost, and the request comes again.
    expect(await ask(dormitory.selection.grab(student, "first-request"))).toMatchObject({ state: "done" });
    expect((await dormitory.selection.ticket(student))?.places).toEqual(
      picked.state === "done" && picked.places,
    );
    expect(await ask(dormitory.selection.pick(student, "no-such-room"))).toMatchObject({
      reason: "no-such-room",
    });
    expect((await dormitory.selection.ticket(student))?.places).toHaveLength(1);
    await consumer.stop();
  },
);

test("nobody grabs before the start, by the clock of Redis", async () => {
  const faculty = await openFaculty({ way: "lanes", students: 20, processes: 1, startsInMs: 60_000 });
  const [dormitory] = faculty.processes as [OpenDormitory];
  const student = faculty.student(faculty.batch.students[0]?.number ?? "");
  expect(await dormitory.selection.grab(student)).toMatchObject({ state: "refused", reason: "not-open" });
});

test("an answer that changes nothing is written only while it is true", async () => {
  const faculty = await openFaculty({ way: "locks", students: 20, processes: 1 });
  const [dormitory] = faculty.processes as [OpenDormitory];
  const members = faculty.batch.teams.find((team) => team.members.length > 1)?.members ?? [];
  const [ann, bob] = members.map((number) => faculty.student(number)) as [Student, Student];
  await dormitory.selection.grab(ann);
  const store = new Store(faculty.redisUrl, dormitory.prefix);
  const judge = new Judge(store, new Rooms(store));
  const request = {
    id: "keeps-the-room",
    batchId: faculty.batch.id,
    studentId: ann.id,
    action: { kind: "grab" },
  } as const;
  const found = await judge.read(request);
  expect(found?.decision).toEqual({ kind: "keep" });
  await dormitory.selection.regret(bob);
  expect(found && (await judge.write(found, []))).toBe("moved");
  await store.close();
});
