/** Freed: what became of a lease that was given back at several nodes. */
import type { Freed } from "../../backend.js";
import { quorumOf } from "./votes.js";

/**
 * Tells as soon as the outcome is certain: released by a quorum; or absent, because a quorum is impossible.
 * @param asked number of nodes that had a seat of the lease, each of which answers once
 * @param nodes number of all nodes
 * @returns takes the answer of one node
 */
export function freedBy(asked: number, nodes: number, told: (freed: Freed) => void): (answer: Freed) => void {
  const needed = quorumOf(nodes);
  const counts: Record<Freed, number> = { released: 0, absent: nodes - asked, unknown: 0 };
  let isTold = false;
  const settle = (): void => {
    const isLast = counts.released + counts.absent + counts.unknown === nodes;
    const isAbsent = counts.absent > nodes - needed;
    if (isTold || !(counts.released >= needed || isAbsent || isLast)) return;
    isTold = true;
    told(counts.released >= needed ? "released" : isAbsent ? "absent" : "unknown");
  };
  process.nextTick(settle);
  return (answer) => {
    counts[answer] += 1;
    settle();
  };
}
