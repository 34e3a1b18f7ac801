/** Random schedules of students and their teams under faults, in virtual time, both ways of deciding: the data keeps its rules. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Click, type Fault, type Move, play, STUDENTS, WEB_SERVERS } from "./world.js";

const isSoak = process.env["HOLDFAST_TEST_SOAK"] === "1";
const SCHEDULES = isSoak ? 150 : 4;
/** The same schedules in every run: another seed tries others. */
const SEED = Number(process.env["HOLDFAST_SCHEDULE_SEED"] ?? 1);
/** Most come at the same second. */
const SPAN_MS = 2_000;

const click: fc.Arbitrary<Click> = fc.record({
  atMs: fc.nat(SPAN_MS),
  student: fc.nat(STUDENTS - 1),
  action: fc.oneof({ weight: 6, arbitrary: fc.constant("grab") }, fc.constant("pick"), fc.constant("regret")),
  room: fc.nat(20),
  webServer: fc.nat(WEB_SERVERS - 1),
});

/** Some before the first click, some in the middle of the crowd. */
const move: fc.Arbitrary<Move> = fc.record({
  atMs: fc.nat(SPAN_MS),
  student: fc.nat(STUDENTS - 1),
  action: fc.constantFrom("invite", "accept", "join", "join", "join", "leave", "wish"),
  which: fc.nat(20),
  webServer: fc.nat(WEB_SERVERS - 1),
});

const fault: fc.Arbitrary<Fault> = fc.oneof(
  fc.record({
    kind: fc.constantFrom("kill web server", "kill worker"),
    atMs: fc.nat(SPAN_MS + 2_000),
    which: fc.nat(4),
  }),
  fc.record({
    kind: fc.constantFrom("pause web server", "pause worker"),
    atMs: fc.nat(SPAN_MS),
    which: fc.nat(4),
    forMs: fc.nat(12_000),
  }),
  fc.record({ kind: fc.constantFrom("cut", "lose answer"), atMs: fc.nat(SPAN_MS), which: fc.nat(4) }),
);

describe.each(["locks", "lanes"] as const)("%s", (way) => {
  test("keep every rule of the data under any schedule", { timeout: 1_200_000 }, async () => {
    const schedule = fc.record({
      seed: fc.nat(1_000_000),
      way: fc.constant(way),
      clicks: fc.array(click, { minLength: 12, maxLength: 30 }),
      moves: fc.array(move, { minLength: 8, maxLength: 20 }),
      faults: fc.array(fault, { maxLength: 4 }),
    });
    let answers = 0;
    let moved = 0;
    await fc.assert(
      fc.asyncProperty(schedule, async (given) => {
        const judged = await play(given);
        answers += judged.answers;
        moved += judged.moved;
        expect(judged).toMatchObject({ differences: [], unanswered: 0, errors: [] });
      }),
      { seed: SEED, numRuns: SCHEDULES, endOnFailure: true },
    );
    // A crowd that is given nothing keeps every rule.
    expect(answers).toBeGreaterThan(SCHEDULES);
    expect(moved).toBeGreaterThan(SCHEDULES);
  });
});
