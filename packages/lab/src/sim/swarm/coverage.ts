/** Coverage: which fault met which state of the protocol, and how often. What was never met was never tested. */
import type { Beliefs } from "./beliefs.js";
import { faultKinds } from "./faults/kinds.js";
import type { Fault } from "./plan.js";
import { holderAt, type Scene } from "./scene.js";

/**
 * - idle: nobody holds, nobody asks
 * - asked: nobody holds at the node, somebody asks
 * - granted: held at the node, and the holder does not know yet, or is dead
 * - held: held, and nobody else asks
 * - contended: held, and others wait
 * - lapsed: somebody believes that he holds, and the node does not know of it
 */
export const protocolStates = ["idle", "asked", "granted", "held", "contended", "lapsed"] as const;
export type ProtocolState = (typeof protocolStates)[number];

export interface Cell {
  readonly fault: string;
  readonly state: ProtocolState;
  readonly times: number;
}

/** All cells, those that were never met as well. */
export function cellsOf(counts: ReadonlyMap<string, number>): Cell[] {
  return faultKinds.flatMap(({ kind: fault }) =>
    protocolStates.map((state) => ({ fault, state, times: counts.get(`${fault} in ${state}`) ?? 0 })),
  );
}

export class Coverage {
  readonly #scene: Scene;
  readonly #beliefs: Beliefs;
  readonly #counts = new Map<string, number>();

  constructor(scene: Scene, beliefs: Beliefs) {
    this.#scene = scene;
    this.#beliefs = beliefs;
  }

  /** By "fault in state". */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  note({ kind }: Fault): void {
    for (const lock of this.#scene.plan.locks) {
      const cell = `${kind} in ${this.#stateOf(lock)}`;
      this.#counts.set(cell, (this.#counts.get(cell) ?? 0) + 1);
    }
  }

  #stateOf(lock: string): ProtocolState {
    const isHeld = holderAt(this.#scene.node, lock) !== null;
    const isBelieved = this.#beliefs.count(lock) > 0;
    const isAsked = this.#beliefs.asking(lock) > 0;
    if (isBelieved && !isHeld) return "lapsed";
    if (isHeld && !isBelieved) return "granted";
    if (isHeld) return isAsked ? "contended" : "held";
    return isAsked ? "asked" : "idle";
  }
}
