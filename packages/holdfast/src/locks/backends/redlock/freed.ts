/** Freed: what became of a lease that was given back at several nodes. */
import type { Freed } from "../../backend.js";
import { quorumOf } from "./votes.js";

/**
 * Settles as soon as the outcome is certain: released by a quorum; or absent, because a quorum is impossible.
 * @param answers one from each node that had a seat of the lease
 * @param nodes number of all nodes
 */
export function freedBy(answers: readonly Promise<Freed>[], nodes: number): Promise<Freed> {
  const needed = quorumOf(nodes);
  return new Promise((resolve, reject) => {
    let left = answers.length;
    let released = 0;
    let absent = nodes - left;
    let unknown: unknown = null;
    const settle = (): void => {
      if (released >= needed) resolve("released");
      else if (absent > nodes - needed) resolve("absent");
      else if (left === 0) reject(unknown);
    };
    const answered = (count: () => void): void => {
      count();
      left -= 1;
      settle();
    };
    for (const answer of answers) {
      answer.then(
        (freed) =>
          answered(() => {
            if (freed === "released") released += 1;
            else absent += 1;
          }),
        (error) =>
          answered(() => {
            unknown = error;
          }),
      );
    }
    settle();
  });
}
