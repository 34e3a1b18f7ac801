import { describe, expect, test } from "vitest";
import { stateOf } from "../src/domain/batch.js";
import { inCanonicalOrder } from "../src/domain/order.js";
import type { Place, Room } from "../src/domain/room.js";
import { decide, type Situation } from "../src/domain/selection.js";
import {
  endedBy,
  type Invitation,
  refusalOfInvitation,
  refusalOfWishes,
  type Team,
} from "../src/domain/team.js";

const room = (id: string, beds: number): Room => ({ id, batchId: "b", building: "North", name: id, beds });
const place = (studentId: string, roomId: string, bed: number): Place => ({ studentId, roomId, bed });
const team = (...members: string[]): Team => ({ id: `t${members[0]}`, members, version: "1" });

function situation(given: Partial<Situation>): Situation {
  return {
    batchState: "open",
    team: team("ann", "bob"),
    places: [],
    wishes: [],
    rooms: [],
    taken: [],
    ...given,
  };
}

describe("a room along the wishes", () => {
  test("is the first one with a bed for each of the team", () => {
    const decision = decide(
      { kind: "grab" },
      situation({
        wishes: ["r1", "r2", "r3"],
        rooms: [room("r1", 2), room("r2", 3), room("r3", 4)],
        taken: [place("cem", "r1", 2), place("dot", "r2", 1)],
      }),
    );
    expect(decision).toEqual({
      kind: "change",
      give: [place("ann", "r2", 2), place("bob", "r2", 3)],
      leave: [],
      passedOver: ["r1"],
    });
  });

  test.each([
    ["no-wishes", {}],
    ["wishes-full", { wishes: ["r1"], rooms: [room("r1", 1)] }],
    ["not-open", { batchState: "planned" }],
    ["over", { batchState: "closed" }],
  ] as const)("is refused: %s", (reason, given) => {
    expect(decide({ kind: "grab" }, situation(given))).toMatchObject({ kind: "refuse", reason });
  });

  test("is not looked for when the team has one", () => {
    expect(decide({ kind: "grab" }, situation({ places: [place("ann", "r1", 1)] }))).toEqual({
      kind: "keep",
    });
  });
});

describe("a room by hand", () => {
  test("is changed for the one that the team had", () => {
    const places = [place("ann", "r1", 1), place("bob", "r1", 2)];
    expect(
      decide({ kind: "pick", roomId: "r2" }, situation({ places, rooms: [room("r2", 2)] })),
    ).toMatchObject({
      give: [place("ann", "r2", 1), place("bob", "r2", 2)],
      leave: places,
    });
  });

  test("is refused when it has too few beds, and then the old one stays", () => {
    const places = [place("ann", "r1", 1), place("bob", "r1", 2)];
    expect(
      decide({ kind: "pick", roomId: "r2" }, situation({ places, rooms: [room("r2", 1)] })),
    ).toMatchObject({
      reason: "room-full",
    });
  });
});

test("locks nest in one order, whoever asks and in whatever order", () => {
  const names = inCanonicalOrder("b", { members: ["s9", "s10"], rooms: ["r2", "r1", "r2"] });
  expect(names).toEqual(["b:member:s10", "b:member:s9", "b:room:r1", "b:room:r2"]);
});

test("a batch is planned, open, closed and archived", () => {
  const terms = { startsAtMs: 100, endsAtMs: 200, archived: false };
  expect([99, 100, 199, 200].map((now) => stateOf(terms, now))).toEqual([
    "planned",
    "open",
    "open",
    "closed",
  ]);
  expect(stateOf({ ...terms, archived: true }, 150)).toBe("archived");
});

describe("invitations", () => {
  const person = (id: string) => ({ id, name: id });
  const invitation = (id: string, from: string, to: string): Invitation => ({
    id,
    from: person(from),
    fromTeam: `t${from}`,
    to: person(to),
    atMs: 0,
  });
  const alone = (studentId: string) => ({ studentId, team: team(studentId) });

  test.each([
    ["no-such-student", team("ann"), null],
    ["yourself", team("ann"), alone("ann")],
    ["same-team", team("ann", "bob"), { studentId: "bob", team: team("ann", "bob") }],
    ["in-a-team", team("ann"), { studentId: "bob", team: team("bob", "cem") }],
    ["too-large", team("ann", "cem", "dot", "eve"), alone("bob")],
    [null, team("ann", "cem"), alone("bob")],
  ] as const)("are judged: %s", (refusal, from, to) => {
    expect(refusalOfInvitation(from, to, [], "ann")).toBe(refusal);
  });

  test("are sent once", () => {
    expect(refusalOfInvitation(team("ann"), alone("bob"), [invitation("i1", "ann", "bob")], "ann")).toBe(
      "invited-already",
    );
  });

  test("end on both sides when one is accepted", () => {
    const accepted = invitation("i1", "ann", "bob");
    const others = [
      invitation("i2", "ann", "cem"),
      invitation("i3", "dot", "bob"),
      invitation("i4", "bob", "eve"),
      invitation("i5", "dot", "eve"),
    ];
    const ended = endedBy(accepted, [accepted, ...others], team("ann"));
    expect(ended.map(({ id }) => id)).toEqual(["i2", "i3", "i4"]);
  });
});

test("wishes are rooms of the batch, each once, and not too many", () => {
  const isRoom = (id: string) => id.startsWith("r");
  expect(refusalOfWishes(["r1", "r2"], isRoom)).toBeNull();
  expect(refusalOfWishes(["r1", "x"], isRoom)).toBe("no-such-room");
  expect(refusalOfWishes(["r1", "r1"], isRoom)).toBe("twice");
  expect(
    refusalOfWishes(
      Array.from({ length: 11 }, (_, at) => `r${at}`),
      isRoom,
    ),
  ).toBe("too-many");
});
