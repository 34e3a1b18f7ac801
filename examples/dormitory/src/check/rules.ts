/** The rules that the data of a batch must keep, whatever the code does. Each breach is one difference with names. */
import type { Place } from "../domain/room.js";
import type { Difference, DifferenceKind } from "../domain/upkeep.js";
import type { BatchFacts } from "./facts.js";

type Found = (kind: DifferenceKind, text: string) => void;

export function differencesIn(batch: BatchFacts): Difference[] {
  const differences: Difference[] = [];
  const found: Found = (kind, text) => {
    differences.push({ kind, batchId: batch.id, text, repaired: false });
  };
  // A place that only one side knows counts too.
  const places = union(batch.choices, batch.taken);
  checkBeds(batch, places, found);
  checkStudents(places, found);
  checkTeams(batch, found);
  checkSides(batch, found);
  checkCounts(batch, found);
  checkBelonging(batch, places, found);
  return differences;
}

/** A bed has one student, and a room has no more students than beds. */
function checkBeds(batch: BatchFacts, places: readonly Place[], found: Found): void {
  for (const [bed, sleepers] of grouped(places, bedOf)) {
    const names = unique(sleepers.map(({ studentId }) => studentId));
    if (names.length > 1) found("bed-given-twice", `bed ${bed} is given to students ${listed(names)}`);
  }
  const inRoom = grouped(places, ({ roomId }) => roomId);
  for (const { id, beds } of batch.rooms) {
    const names = unique((inRoom.get(id) ?? []).map(({ studentId }) => studentId));
    if (names.length > beds)
      found(
        "room-over-capacity",
        `room ${id} has ${beds} beds and ${names.length} students: ${listed(names)}`,
      );
  }
}

/** A student has one bed in all rooms together, by both sides together. */
function checkStudents(places: readonly Place[], found: Found): void {
  for (const [studentId, own] of grouped(places, ({ studentId }) => studentId)) {
    const rooms = unique(own.map(({ roomId }) => roomId));
    const beds = unique(own.map(bedOf));
    if (rooms.length > 1)
      found("student-with-two-rooms", `student ${studentId} is in rooms ${listed(rooms)}`);
    else if (beds.length > 1) found("student-with-two-beds", `student ${studentId} has beds ${listed(beds)}`);
  }
}

/** All members of a team have the same room, or none has a room. A student is in one team. */
function checkTeams(batch: BatchFacts, found: Found): void {
  const roomOf = new Map(batch.choices.map(({ studentId, roomId }) => [studentId, `room ${roomId}`]));
  for (const { id, memberIds } of batch.teams) {
    const rooms = memberIds.map((studentId) => roomOf.get(studentId) ?? "no room");
    if (unique(rooms).length > 1) {
      const apart = memberIds.map((studentId, at) => `${studentId} has ${rooms[at]}`);
      found("team-torn-apart", `team ${id}: student ${listed(apart)}`);
    }
    for (const studentId of memberIds) {
      const other = batch.teamOf.get(studentId);
      if (other !== id)
        found(
          "wrong-team",
          `team ${id} lists student ${studentId}, whose own record says ${other ?? "no team"}`,
        );
    }
  }
  const members = new Set(
    batch.teams.flatMap(({ id, memberIds }) => memberIds.map((member) => `${id} ${member}`)),
  );
  for (const [studentId, teamId] of batch.teamOf)
    if (!members.has(`${teamId} ${studentId}`))
      found("wrong-team", `student ${studentId} is of team ${teamId}, which does not list the student`);
}

/** The record of the student and that of the bed say the same. */
function checkSides({ choices, taken }: BatchFacts, found: Found): void {
  const known = new Set(taken.map(keyOf));
  for (const choice of choices)
    if (!known.has(keyOf(choice)))
      found("one-sided", `student ${choice.studentId} has bed ${bedOf(choice)}, and the bed says otherwise`);
  const chosen = new Set(choices.map(keyOf));
  for (const place of taken)
    if (!chosen.has(keyOf(place)))
      found(
        "one-sided",
        `bed ${bedOf(place)} has student ${place.studentId}, and the student's record says otherwise`,
      );
}

/** The count of free beds is right. */
function checkCounts({ rooms, taken }: BatchFacts, found: Found): void {
  const inRoom = grouped(taken, ({ roomId }) => roomId);
  for (const { id, beds, free } of rooms) {
    const right = beds - (inRoom.get(id)?.length ?? 0);
    if (free !== right) found("wrong-count", `room ${id} counts ${free ?? "no"} free beds, and has ${right}`);
  }
}

/** Students and beds are of this batch. */
function checkBelonging(batch: BatchFacts, places: readonly Place[], found: Found): void {
  const rooms = new Map(batch.rooms.map(({ id, beds }) => [id, beds]));
  const students = new Set(batch.studentIds);
  for (const place of places) {
    const beds = rooms.get(place.roomId);
    if (beds === undefined)
      found("wrong-room", `student ${place.studentId} has room ${place.roomId}, which is not of the batch`);
    else if (!(place.bed >= 1 && place.bed <= beds))
      found(
        "wrong-room",
        `student ${place.studentId} has bed ${bedOf(place)}, and the room has ${beds} beds`,
      );
    if (!students.has(place.studentId))
      found("wrong-room", `bed ${bedOf(place)} has student ${place.studentId}, who is not of the batch`);
  }
}

export function bedOf({ roomId, bed }: Place): string {
  return `${roomId}:${bed}`;
}

function keyOf(place: Place): string {
  return `${bedOf(place)} ${place.studentId}`;
}

function union(one: readonly Place[], other: readonly Place[]): Place[] {
  return [...new Map([...one, ...other].map((place) => [keyOf(place), place])).values()];
}

function grouped<Item>(items: readonly Item[], nameOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(nameOf(item));
    if (group) group.push(item);
    else groups.set(nameOf(item), [item]);
  }
  return groups;
}

function unique(words: readonly string[]): string[] {
  return [...new Set(words)];
}

function listed(words: readonly string[]): string {
  return words.join(", ");
}
