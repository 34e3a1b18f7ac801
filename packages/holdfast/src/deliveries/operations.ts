/** Operations: what an operator sees of a queue or of lanes, and does with them, where both do it alike. */
import type { Reply } from "../redis/port.js";
import { replyRow } from "../redis/reply.js";
import type { DeliveryCalls, SharedKey } from "./delivery-calls.js";
import {
  heldOf,
  laterOf,
  lettersOf,
  type StoredDelayed,
  type StoredInFlight,
  type StoredLetter,
} from "./delivery-replies.js";
import { script as deadScript } from "./lua/dead.lua.js";
import { script as timedScript } from "./lua/timed.lua.js";

/** Messages that one script moves, so that the server serves others in between. */
const STEP = 100;

/** The script of the noun that puts dead letters back. @param args the step, when the first step was, and the ids */
export type RedriveStep = (args: readonly string[]) => Promise<Reply>;

export class Operations {
  readonly #calls: DeliveryCalls;
  readonly #redriveStep: RedriveStep;

  constructor(calls: DeliveryCalls, redriveStep: RedriveStep) {
    this.#calls = calls;
    this.#redriveStep = redriveStep;
  }

  /** The deliveries that processes have, the nearest deadline first. */
  async inFlight(count: number): Promise<readonly StoredInFlight[]> {
    return heldOf(await this.#list("away", count));
  }

  /** The messages that wait for their time, the nearest first. */
  async delayed(count: number): Promise<readonly StoredDelayed[]> {
    return laterOf(await this.#list("later", count));
  }

  /** The newest dead letters. In lanes their ids are tickets. */
  async dead(count: number): Promise<readonly StoredLetter[]> {
    const keys = this.#calls.keys(["about", "dead", "letters"]);
    return lettersOf(replyRow(await this.#calls.run(deadScript, keys, [String(count)]), 0));
  }

  /**
   * Puts dead letters back. Returns the number.
   * @param ids null: all that are dead now. Those that die meanwhile are left
   */
  async redrive(ids: readonly string[] | null): Promise<number> {
    let sum = 0;
    let untilMs = "";
    for (let place = 0; ids === null || place < ids.length; ) {
      const some = ids === null ? [] : ids.slice(place, place + STEP);
      const reply = replyRow(await this.#redriveStep([String(STEP), untilMs, ...some]), 3);
      const [redriven, seen, nowMs] = reply.map(Number);
      sum += redriven ?? 0;
      place += seen ?? 0;
      if (untilMs === "") untilMs = String(nowMs);
      if (ids === null && seen === 0) break;
    }
    return sum;
  }

  async #list(key: SharedKey, count: number): Promise<readonly Reply[]> {
    const keys = this.#calls.keys(["about", "off", key]);
    return replyRow(await this.#calls.run(timedScript, keys, [String(count)]), 0);
  }
}

/** Deletes in steps until nothing is left. Returns the number. @param step what it deleted, and whether there is more */
export async function drainAll(
  step: () => Promise<{ readonly count: number; readonly isLeft: boolean }>,
): Promise<number> {
  for (let sum = 0; ; ) {
    const { count, isLeft } = await step();
    sum += count;
    if (!isLeft) return sum;
  }
}
