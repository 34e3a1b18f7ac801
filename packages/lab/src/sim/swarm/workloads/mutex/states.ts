/** States of the protocol of a lock, which a fault may meet. */
import type { Beliefs } from "./beliefs.js";
import { holderAt } from "./node-state.js";
import type { LockScene } from "./plan.js";

/**
 * - idle: nobody holds, nobody asks
 * - asked: nobody holds at the node, somebody asks
 * - granted: held at the node, and the holder does not know yet, or is dead
 * - held: held, and nobody else asks
 * - contended: held, and others wait
 * - lapsed: somebody believes that he holds, and the node does not know of it
 */
export const lockStates = ["idle", "asked", "granted", "held", "contended", "lapsed"] as const;
type LockState = (typeof lockStates)[number];

export function stateOf(lock: string, { node }: LockScene, beliefs: Beliefs): LockState {
  const isHeld = holderAt(node, lock) !== null;
  const isBelieved = beliefs.count(lock) > 0;
  const isAsked = beliefs.asking(lock) > 0;
  if (isBelieved && !isHeld) return "lapsed";
  if (isHeld && !isBelieved) return "granted";
  if (isHeld) return isAsked ? "contended" : "held";
  return isAsked ? "asked" : "idle";
}
