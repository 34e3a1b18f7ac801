/** The answers that students were given, held against the data. The list of answers comes from the clients. */
import type { Place } from "../domain/room.js";
import type { Difference } from "../domain/upkeep.js";
import type { BatchFacts } from "./facts.js";

/** A decision that a client was told of: it has given the team these beds, or none. */
export interface Answer {
  readonly studentId: string;
  readonly places: readonly Place[];
  /** Of the decision, by the clock of the Redis server. */
  readonly atMs: number;
}

/**
 * An answer counts as lost when no later answer replaces it and the data says otherwise. A team has one room, so what one member was told
 * holds for all, and a later answer to any of them replaces it. A team that gave its room up may change its members, so answers are compared
 * by the students whom they are about. `unanswered` are students whose last request never had an answer: nobody knows whether it was carried
 * out, so what is about them or their team is left out.
 */
export function lostAnswers(
  batch: BatchFacts,
  answers: readonly Answer[],
  unanswered: ReadonlySet<string> = new Set(),
): Difference[] {
  const choices = new Map(batch.choices.map((choice) => [choice.studentId, choice]));
  const unknown = new Set(
    batch.teams.flatMap(({ memberIds }) => (memberIds.some((id) => unanswered.has(id)) ? memberIds : [])),
  );
  const members = new Set(batch.teams.flatMap(({ memberIds }) => memberIds));
  const ofBatch = answers.filter(({ studentId }) => members.has(studentId));
  const byStudent = new Map<string, Answer[]>();
  for (const answer of ofBatch)
    for (const id of studentsOf(answer)) byStudent.set(id, [...(byStudent.get(id) ?? []), answer]);
  const lost = new Set<string>();
  for (const answer of ofBatch) {
    const students = studentsOf(answer);
    if (students.some((id) => unanswered.has(id) || unknown.has(id))) continue;
    const about = students.flatMap((id) => byStudent.get(id) ?? []);
    if (about.some(({ atMs }) => atMs > answer.atMs)) continue;
    // Two decisions of one millisecond: either may have been the last.
    const newest = about.filter(({ atMs }) => atMs === answer.atMs);
    const isKept = (one: Answer) => wordsOf(one.places) === wordsOf(keptOf(one));
    const keptOf = (one: Answer) => studentsOf(one).flatMap((id) => choices.get(id) ?? []);
    if (newest.some(isKept)) continue;
    const [first = answer] = newest;
    lost.add(
      `student ${first.studentId} was told ${wordsOf(first.places)}, and the data says ${wordsOf(keptOf(first))}`,
    );
  }
  return [...lost].map((text) => ({ kind: "answer-lost", batchId: batch.id, text, repaired: false }));
}

/** Whom it is about: the one who was told, and those who have the beds. */
function studentsOf({ studentId, places }: Answer): string[] {
  return [...new Set([studentId, ...places.map((place) => place.studentId)])];
}

function wordsOf(places: readonly Place[]): string {
  const words = places.map(({ studentId, roomId, bed }) => `${studentId} in ${roomId}:${bed}`);
  return words.length === 0 ? "no room" : words.sort().join(", ");
}
