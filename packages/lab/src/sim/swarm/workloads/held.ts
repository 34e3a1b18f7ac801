/**
 * Held: the deliveries that programs have, and believe to have for themselves. One that came late as a message may be over before it
 * is there, and its program hears of that a second later: it is not judged.
 */
import { planned } from "../scene.js";
import type { Caller } from "../workload.js";

interface Believed {
  readonly token: bigint;
  readonly remainingMs: number;
}

interface Holding {
  readonly delivery: Believed;
  readonly caller: Caller;
}

/** Longer than a message takes in sound networks. */
const lateMs = 50;

export class Held {
  readonly #holdings = new Map<string, Set<Holding>>();

  /**
   * Returns who else believes to have one of the same key: of the same message, or of the same lane.
   * @param nowMs the clock by which the server gave the delivery its token
   */
  add(key: string, delivery: Believed, caller: Caller, nowMs: number): readonly string[] {
    if (Math.abs(nowMs - Number(delivery.token) / 1_000) > lateMs) return [];
    const holdings = this.#holdings.get(key) ?? new Set();
    this.#holdings.set(key, holdings);
    const others: string[] = [];
    for (const holding of holdings) {
      // One that stands still does nothing, and looks at its clocks when it goes on.
      const { process } = holding.caller;
      if (process.state === "dead" || (process.isAwake && holding.delivery.remainingMs <= lateMs))
        holdings.delete(holding);
      else if (process.isAwake && !mayOverlap(holding.caller)) others.push(process.name);
    }
    holdings.add({ delivery, caller });
    return mayOverlap(caller) || delivery.remainingMs === 0 ? [] : others;
  }
}

function mayOverlap({ scene, process }: Caller): boolean {
  return scene.mayOverlap(planned(process.name));
}
