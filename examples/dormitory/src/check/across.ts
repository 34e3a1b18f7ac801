/** The rules that no batch can be judged by alone: who is in which batch, and which rooms PostgreSQL records. */
import type { Difference, DifferenceKind } from "../domain/upkeep.js";
import type { BatchFacts } from "./facts.js";

/** Student number -> batch, as the directory says it. */
export type Directory = ReadonlyMap<string, string | null>;

export interface RoomRow {
  readonly id: string;
  readonly beds: number;
}

/** A student is in one batch and has a room in one, and the directory names that batch. */
export function differencesAcross(batches: readonly BatchFacts[], directory: Directory): Difference[] {
  const listedIn = new Map<string, string[]>();
  const choosesIn = new Map<string, string[]>();
  for (const { id, studentIds, choices } of batches) {
    for (const studentId of studentIds) add(listedIn, studentId, id);
    for (const { studentId } of choices) add(choosesIn, studentId, id);
  }
  const differences: Difference[] = [];
  for (const [studentId, ids] of listedIn) {
    const [first = "", second] = ids;
    if (second !== undefined)
      differences.push(
        difference("student-in-two-batches", first, `student ${studentId} is in ${ids.join(", ")}`),
      );
    else if (directory.get(studentId) !== first)
      differences.push(
        difference(
          "wrong-directory",
          first,
          `student ${studentId} is in ${first}, and the directory says ${directory.get(studentId) ?? "no batch"}`,
        ),
      );
  }
  for (const [studentId, ids] of choosesIn) {
    const [first = "", second] = ids;
    if (second !== undefined)
      differences.push(
        difference("student-with-two-rooms", first, `student ${studentId} has rooms in ${ids.join(", ")}`),
      );
  }
  for (const [studentId, id] of directory)
    if (id !== null && !listedIn.has(studentId))
      differences.push(
        difference(
          "wrong-directory",
          id,
          `student ${studentId} is in no batch, and the directory says ${id}`,
        ),
      );
  return differences;
}

/** Redis and PostgreSQL have the same rooms, with the same beds. */
export function differencesOfRooms({ id, rooms }: BatchFacts, rows: readonly RoomRow[]): Difference[] {
  const here = new Map(rooms.map((room) => [room.id, room.beds]));
  const there = new Map(rows.map((row) => [row.id, row.beds]));
  return [...new Set([...here.keys(), ...there.keys()])]
    .filter((room) => here.get(room) !== there.get(room))
    .map((room) =>
      difference(
        "rooms-differ",
        id,
        `room ${room} has ${bedsOf(here.get(room))} in Redis, and ${bedsOf(there.get(room))} in PostgreSQL`,
      ),
    );
}

function bedsOf(beds: number | undefined): string {
  return beds === undefined ? "no record" : `${beds} beds`;
}

function add(lists: Map<string, string[]>, name: string, item: string): void {
  const list = lists.get(name);
  if (list) list.push(item);
  else lists.set(name, [item]);
}

function difference(kind: DifferenceKind, batchId: string, text: string): Difference {
  return { kind, batchId, text, repaired: false };
}
