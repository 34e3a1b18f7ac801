/** The figures of a load run: what counts, the table, the line of JSON and the report. */
import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import type { Way } from "../src/domain/batch.js";
import type { Difference, DifferenceKind } from "../src/domain/upkeep.js";
import { jsonOf } from "../src/load/output/json.js";
import { notesOf } from "../src/load/output/notes.js";
import { rowOf } from "../src/load/output/rows.js";
import { tableOf } from "../src/load/output/table.js";
import { isWhole, outcomeOf, type WayFacts, type WayOutcome } from "../src/load/result.js";
import type { RunFacts } from "../src/load/run-facts.js";
import type { Heard } from "../src/load/student.js";

function heard(at: number): Heard {
  const roomId = at % 10 === 0 ? null : `r${at % 7}`;
  return {
    studentId: `s${at}`,
    wishes: ["r1", "r2", "r3"],
    roomId,
    answers: [],
    latencyMs: at * 10,
    decidedAtMs: at * 11,
  };
}

function difference(kind: DifferenceKind): Difference {
  return { kind, batchId: "b01", text: `<${kind}> of Ann & Bob`, repaired: false };
}

function outcome(way: Way, facts: Partial<WayFacts> = {}): WayOutcome {
  return outcomeOf({
    way,
    heard: Array.from({ length: 100 }, (_, at) => heard(at + 1)),
    durationMs: 2_000,
    requests: 500,
    retries: 3,
    killed: [{ program: "worker", pid: 17, atMs: 400 }],
    differences: [],
    ...facts,
  });
}

function runOf(...outcomes: WayOutcome[]): RunFacts {
  const options = {
    students: 100,
    servers: 4,
    workers: 2,
    seed: 1,
    ways: ["locks", "lanes"] as const,
    redisUrl: null,
    postgresUrl: null,
    json: true,
    reportFile: null,
  };
  return { options, batches: 20, server: "Valkey", outcomes, archive: { differences: 0 }, at: new Date(0) };
}

describe("the figures", () => {
  test("are those of the students", () => {
    const { result } = outcome("locks");
    expect(result.latencyMs).toEqual({ p50: 500, p99: 990, max: 1_000 });
    expect(result).toMatchObject({ requestsPerSecond: 250, retries: 3, withRoom: 90, withoutRoom: 10 });
  });

  test.each<[DifferenceKind, keyof WayOutcome["result"]]>([
    ["bed-given-twice", "bedsGivenTwice"],
    ["room-over-capacity", "bedsGivenTwice"],
    ["student-with-two-rooms", "studentsWithTwoRooms"],
    ["student-with-two-beds", "studentsWithTwoRooms"],
    ["team-torn-apart", "teamsTornApart"],
    ["answer-lost", "answersLost"],
    ["one-sided", "otherDifferences"],
    ["wrong-count", "otherDifferences"],
    ["wrong-room", "otherDifferences"],
    ["wrong-team", "otherDifferences"],
  ])("count %s as %s, and the run is not whole", (kind, field) => {
    const found = outcome("lanes", { differences: [difference(kind)] });
    expect(found.result[field]).toBe(1);
    expect(isWhole(found)).toBe(false);
    expect(isWhole(outcome("lanes"))).toBe(true);
  });

  test("are one line of JSON for programs", () => {
    const line = JSON.parse(jsonOf(runOf(outcome("locks"), outcome("lanes"))));
    expect(line).toMatchObject({ students: 100, batches: 20, archive: { differences: 0 } });
    expect(line.ways.map(({ way }: { way: string }) => way)).toEqual(["locks", "lanes"]);
    expect(line.ways[0]).toMatchObject({
      way: "locks",
      requestsPerSecond: 250,
      latencyMs: { p50: 500, p99: 990, max: 1_000 },
      bedsGivenTwice: 0,
      studentsWithTwoRooms: 0,
      teamsTornApart: 0,
      answersLost: 0,
      killed: [{ program: "worker", pid: 17, atMs: 400 }],
    });
  });

  test.each([30, 60, 80, 120, Infinity])("fit a terminal of %s columns", (width) => {
    const rows = [outcome("locks"), outcome("lanes")].map(({ result }) => rowOf(result));
    const text = stripVTControlCharacters(tableOf(rows, width));
    const longest = Math.max(...text.split("\n").map((line) => line.trimEnd().length));
    expect(longest).toBeLessThanOrEqual(Math.max(width, 40));
    expect(text).toContain("990");
  });

  test("are in the report, with pictures for both screens, without scripts and with names escaped", async () => {
    const { pageOf } = await import("../src/load/report/report.js");
    const page = pageOf(
      runOf(outcome("locks"), outcome("lanes", { differences: [difference("answer-lost")] })),
    );
    expect(page.match(/<svg/g)).toHaveLength(6);
    expect(page).not.toContain("<script");
    expect(page).toContain("&lt;answer-lost&gt; of Ann &amp; Bob");
  });

  test("of many differences are listed in part", () => {
    const differences = Array.from({ length: 50 }, () => difference("one-sided"));
    expect(notesOf(runOf(outcome("locks", { differences })))).toContain("locks: 38 differences more");
  });
});
