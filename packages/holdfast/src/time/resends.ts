/** Resends: what is tried again, with pauses, until it has an answer, or nobody wants one any more. */
import { type HoldfastError, IndeterminateError, isPassing } from "../errors.js";
import { jittered, type Random } from "./random.js";
import type { Alarm, Schedule } from "./schedule.js";

/** Between a failure and the next copy. */
const PAUSE_MS = 200;

export interface Resending<Answer> {
  readonly send: () => Promise<Answer>;
  /** Asked after each failure, and after the pause: whether to send it again. */
  readonly isWorth: (error: unknown) => boolean;
  /** Called with each failure that is not the last. */
  readonly failed?: (error: HoldfastError) => void;
}

export class Resends {
  readonly #schedule: Schedule;
  readonly #random: Random;
  readonly #pauses = new Map<Alarm, () => void>();

  constructor(schedule: Schedule, random: Random) {
    this.#schedule = schedule;
    this.#random = random;
  }

  /** @throws {HoldfastError} the error of the last copy. IndeterminateError: one of them may have been carried out */
  async run<Answer>({ send, isWorth, failed }: Resending<Answer>): Promise<Answer> {
    let unknown: IndeterminateError | null = null;
    for (;;) {
      try {
        return await send();
      } catch (error) {
        if (error instanceof IndeterminateError) unknown = error;
        if (!isPassing(error)) throw unknown ?? error;
        if (!isWorth(error)) throw unknown ?? error;
        failed?.(error as HoldfastError);
        await this.#pause();
        if (!isWorth(error)) throw unknown ?? error;
      }
    }
  }

  /** Sends what pauses at once, because Redis can probably be reached. */
  hurry(): void {
    for (const [alarm, resume] of this.#pauses) {
      this.#schedule.cancel(alarm);
      resume();
    }
    this.#pauses.clear();
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const alarm = this.#schedule.after(jittered(this.#random, PAUSE_MS, 0.5), () => {
        this.#pauses.delete(alarm);
        resolve();
      });
      this.#pauses.set(alarm, resolve);
    });
  }
}
