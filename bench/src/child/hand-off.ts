/** A lock that goes from one process to another: each side says when, by the clock that all processes share. */
import type { Contestant } from "../contestants/contestant.js";
import type { AcquireReport, AcquireTask, ReleaseReport, ReleaseTask } from "./messages.js";

/** What is held on each lane; a lane is one name that goes back and forth. */
export class Lanes {
  readonly #contestant: Contestant;
  readonly #held = new Map<number, unknown>();

  constructor(contestant: Contestant) {
    this.#contestant = contestant;
  }

  async acquire({ name, lane }: AcquireTask): Promise<AcquireReport> {
    for (let gaveUp = 0; ; gaveUp += 1) {
      try {
        const held = await this.#contestant.acquire(name, lane, true);
        const acquiredAtNs = String(process.hrtime.bigint());
        this.#held.set(lane, held);
        return { acquiredAtNs, gaveUp };
      } catch {}
    }
  }

  async release({ lane }: ReleaseTask): Promise<ReleaseReport> {
    const held = this.#held.get(lane);
    this.#held.delete(lane);
    const releasedAtNs = String(process.hrtime.bigint());
    await this.#contestant.release(held);
    return { releasedAtNs };
  }
}
