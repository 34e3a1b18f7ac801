/** The answers that students were given, held against the data. The list of answers comes from the clients. */
import type { Place } from "../domain/room.js";
import type { Difference } from "./difference.js";
import type { BatchFacts } from "./facts.js";

/** A decision that a client was told of: it has given the team these beds, or none. */
export interface Answer {
  readonly studentId: string;
  readonly places: readonly Place[];
  /** Of the decision, by the clock of the Redis server. */
  readonly atMs: number;
}

/**
 * An answer counts as lost when no later answer replaces it and the data says otherwise. A team has one room, so what
 * one member was told holds for all. `unanswered` are students whose last request never had an answer: nobody knows
 * whether it was carried out, so their team is left out.
 */
export function lostAnswers(
  batch: BatchFacts,
  answers: readonly Answer[],
  unanswered: ReadonlySet<string> = new Set(),
): Difference[] {
  const lost: Difference[] = [];
  const byStudent = new Map<string, Answer[]>();
  for (const answer of answers)
    byStudent.set(answer.studentId, [...(byStudent.get(answer.studentId) ?? []), answer]);
  const choices = new Map(batch.choices.map((choice) => [choice.studentId, choice]));
  for (const { memberIds } of batch.teams) {
    if (memberIds.some((studentId) => unanswered.has(studentId))) continue;
    const told = memberIds.flatMap((studentId) => byStudent.get(studentId) ?? []);
    const newestMs = Math.max(...told.map(({ atMs }) => atMs));
    // Two decisions of one millisecond: either may have been the last.
    const newest = told.filter(({ atMs }) => atMs === newestMs);
    if (newest.length === 0) continue;
    const kept = memberIds.flatMap((studentId) => choices.get(studentId) ?? []);
    if (newest.some(({ places }) => wordsOf(places) === wordsOf(kept))) continue;
    const [answer] = newest;
    const text = `student ${answer?.studentId} was told ${wordsOf(answer?.places ?? [])}, and the data says ${wordsOf(kept)}`;
    lost.push({ kind: "answer-lost", batchId: batch.id, text, repaired: false });
  }
  return lost;
}

function wordsOf(places: readonly Place[]): string {
  const words = places.map(({ studentId, roomId, bed }) => `${studentId} in ${roomId}:${bed}`);
  return words.length === 0 ? "no room" : words.sort().join(", ");
}
