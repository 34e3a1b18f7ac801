/** Every kind of inconsistency, planted into the raw data: each is found, named, and repaired where the data decides. */
import { describe, expect, test } from "vitest";
import { differencesOfRooms } from "../src/check/across.js";
import { type Answer, lostAnswers } from "../src/check/answers.js";
import { readBatch } from "../src/check/read.js";
import { repairBatch } from "../src/check/repair.js";
import { outcome, Planted, team } from "./planted.js";

interface Plant {
  readonly what: string;
  readonly plant: (planted: Planted) => Promise<void>;
  readonly found: readonly string[];
  /** Those that only people can decide. */
  readonly stays?: readonly string[];
}

const PLANTS: readonly Plant[] = [
  {
    what: "a bed that is given twice",
    plant: async (planted) => {
      await planted.set("choices", { dot: "r2:1" });
    },
    found: [
      "bed-given-twice: bed r2:1 is given to students cem, dot",
      "one-sided: student dot has bed r2:1, and the bed says otherwise",
    ],
    stays: [
      "bed-given-twice: bed r2:1 is given to students cem, dot",
      "one-sided: student dot has bed r2:1, and the bed says otherwise",
    ],
  },
  {
    what: "a room with more students than beds",
    plant: async (planted) => {
      await planted.set("choices", { dot: "r1:3" });
      await planted.set("beds", { "r1:3": "dot" });
      await planted.set("free", { r1: -1 });
    },
    found: [
      "room-over-capacity: room r1 has 2 beds and 3 students: ann, bob, dot",
      "wrong-room: student dot has bed r1:3, and the room has 2 beds",
    ],
    stays: [
      "room-over-capacity: room r1 has 2 beds and 3 students: ann, bob, dot",
      "wrong-room: student dot has bed r1:3, and the room has 2 beds",
    ],
  },
  {
    what: "a student with two rooms",
    plant: async (planted) => {
      await planted.set("beds", { "r3:1": "cem" });
      await planted.set("free", { r3: 3 });
    },
    found: [
      "student-with-two-rooms: student cem is in rooms r2, r3",
      "one-sided: bed r3:1 has student cem, and the student's record says otherwise",
    ],
  },
  {
    what: "a student with two beds of one room",
    plant: async (planted) => {
      await planted.set("beds", { "r2:2": "cem" });
      await planted.set("free", { r2: 0 });
    },
    found: [
      "student-with-two-beds: student cem has beds r2:1, r2:2",
      "one-sided: bed r2:2 has student cem, and the student's record says otherwise",
    ],
  },
  {
    what: "a team torn apart",
    plant: async (planted) => {
      await planted.set("choices", { bob: "r3:1" });
      await planted.drop("beds", "r1:2");
      await planted.set("beds", { "r3:1": "bob" });
      await planted.set("free", { r1: 1, r3: 3 });
    },
    found: ["team-torn-apart: team t1: student ann has room r1, bob has room r3"],
    stays: ["team-torn-apart: team t1: student ann has room r1, bob has room r3"],
  },
  {
    what: "a team of which one has no room",
    plant: async (planted) => {
      await planted.drop("choices", "bob");
      await planted.drop("beds", "r1:2");
      await planted.set("free", { r1: 1 });
    },
    found: ["team-torn-apart: team t1: student ann has room r1, bob has no room"],
    stays: ["team-torn-apart: team t1: student ann has room r1, bob has no room"],
  },
  {
    what: "a student in two teams",
    plant: (planted) => planted.set("teams", { t3: team("cem", "dot") }),
    found: [
      "team-torn-apart: team t3: student cem has room r2, dot has no room",
      "wrong-team: team t3 lists student cem, whose own record says t2",
    ],
    stays: [
      "team-torn-apart: team t3: student cem has room r2, dot has no room",
      "wrong-team: team t3 lists student cem, whose own record says t2",
    ],
  },
  {
    what: "a student of a team that is gone",
    plant: (planted) => planted.drop("teams", "t3"),
    found: ["wrong-team: student dot is of team t3, which does not list the student"],
    stays: ["wrong-team: student dot is of team t3, which does not list the student"],
  },
  {
    what: "a room of another batch",
    plant: async (planted) => {
      await planted.set("choices", { dot: "r9:1" });
      await planted.set("beds", { "r9:1": "dot" });
    },
    found: ["wrong-room: student dot has room r9, which is not of the batch"],
    stays: ["wrong-room: student dot has room r9, which is not of the batch"],
  },
  {
    what: "a student of another batch",
    plant: async (planted) => {
      await planted.set("choices", { eve: "r3:1" });
      await planted.set("beds", { "r3:1": "eve" });
      await planted.set("free", { r3: 3 });
    },
    found: ["wrong-room: bed r3:1 has student eve, who is not of the batch"],
    stays: ["wrong-room: bed r3:1 has student eve, who is not of the batch"],
  },
  {
    what: "a bed that lost its student",
    plant: async (planted) => {
      await planted.drop("beds", "r2:1");
      await planted.set("free", { r2: 2 });
    },
    found: ["one-sided: student cem has bed r2:1, and the bed says otherwise"],
  },
  {
    what: "a student who lost an answered bed",
    plant: (planted) => planted.drop("choices", "cem"),
    found: ["one-sided: bed r2:1 has student cem, and the student's record says otherwise"],
  },
  {
    what: "a count of free beds that is wrong, and one that is missing",
    plant: async (planted) => {
      await planted.set("free", { r1: 2 });
      await planted.drop("free", "r3");
    },
    found: [
      "wrong-count: room r1 counts 2 free beds, and has 0",
      "wrong-count: room r3 counts no free beds, and has 4",
    ],
  },
];

describe("the check", () => {
  test("finds nothing in sound data", async () => {
    const planted = await Planted.start();
    expect(await planted.found()).toEqual([]);
    expect(await repairBatch(planted, "b1")).toBe(0);
  });

  test("finds and names what is planted, and repairs what the data decides", async () => {
    const planted = await Planted.start();
    for (const { what, plant, found, stays = [] } of PLANTS) {
      await planted.restore();
      await plant(planted);
      expect(await planted.found(), what).toEqual(found);
      await repairBatch(planted, "b1");
      expect(await planted.found(), `${what}, after the repair`).toEqual(stays);
    }
  });

  test("finds a student in two batches, with two rooms, and a directory that says otherwise", async () => {
    const planted = await Planted.start();
    expect(await planted.foundAcross()).toEqual([]);
    await planted.set("people", { cem: "Cem" }, "b2");
    await planted.set("choices", { cem: "r9:1" }, "b2");
    await planted.enter("ann", "b2");
    await planted.enter("bob", null);
    await planted.enter("eve", "b2");
    expect(await planted.foundAcross()).toEqual([
      "wrong-directory: student ann is in b1, and the directory says b2",
      "wrong-directory: student bob is in b1, and the directory says no batch",
      "student-in-two-batches: student cem is in b1, b2",
      "student-with-two-rooms: student cem has rooms in b1, b2",
      "wrong-directory: student eve is in no batch, and the directory says b2",
    ]);
  });

  test("finds rooms that PostgreSQL has otherwise", async () => {
    const planted = await Planted.start();
    const batch = await readBatch(planted, "b1");
    const rows = [
      { id: "r1", beds: 2 },
      { id: "r2", beds: 3 },
      { id: "r4", beds: 1 },
    ];
    expect(differencesOfRooms(batch, rows).map(({ text }) => text)).toEqual([
      "room r2 has 2 beds in Redis, and 3 beds in PostgreSQL",
      "room r3 has 4 beds in Redis, and no record in PostgreSQL",
      "room r4 has no record in Redis, and 1 beds in PostgreSQL",
    ]);
  });

  test("a repair gives an answered bed back to its student, and frees a bed that nobody was given", async () => {
    const planted = await Planted.start();
    await planted.drop("choices", "cem");
    await planted.set("beds", { "r3:1": "dot" });
    await repairBatch(planted, "b1");
    const { choices, taken } = await readBatch(planted, "b1");
    expect(choices.map(({ studentId }) => studentId).sort()).toEqual(["ann", "bob", "cem"]);
    expect(taken.map(({ studentId }) => studentId).sort()).toEqual(["ann", "bob", "cem"]);
  });
});

describe("answers", () => {
  const places = (...all: [studentId: string, roomId: string, bed: number][]): Answer["places"] =>
    all.map(([studentId, roomId, bed]) => ({ studentId, roomId, bed }));
  const told = (studentId: string, atMs: number, ...all: Parameters<typeof places>): Answer => {
    return { studentId, atMs, places: places(...all) };
  };
  const lost = async (answers: readonly Answer[], unanswered?: ReadonlySet<string>): Promise<string[]> => {
    const planted = await Planted.start();
    await planted.set("outcomes", { t1: outcome(1_000) });
    return lostAnswers(await readBatch(planted, "b1"), answers, unanswered).map(({ text }) => text);
  };

  test("that the data shows are not lost", async () => {
    const both = [["ann", "r1", 1] as const, ["bob", "r1", 2] as const].map(([...place]) => place);
    const answers = [
      told("ann", 900),
      told("ann", 1_000, ...both),
      told("bob", 1_000, ...both),
      told("dot", 50),
    ];
    expect(await lost(answers)).toEqual([]);
  });

  test("that the data does not show are lost: another room, no room, a room that was given back", async () => {
    expect(await lost([told("cem", 1, ["cem", "r3", 1])])).toEqual([
      "student cem was told cem in r3:1, and the data says cem in r2:1",
    ]);
    expect(await lost([told("dot", 1, ["dot", "r3", 1])])).toEqual([
      "student dot was told dot in r3:1, and the data says no room",
    ]);
    expect(await lost([told("cem", 2, ["cem", "r2", 1]), told("cem", 3)])).toEqual([
      "student cem was told no room, and the data says cem in r2:1",
    ]);
  });

  test("are left open while a later request of the team has no answer", async () => {
    expect(await lost([told("ann", 3)], new Set(["bob"]))).toEqual([]);
  });
});
