/** All students of the load together. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Http } from "./http.js";
import { type Account, type Habits, type Heard, LoadStudent } from "./student.js";

/** They sign in beforehand, so many at a time. */
const AT_A_TIME = 32;
/** They click within this time after the start. */
const CLICK_MS = 1_000;

export interface CrowdOptions {
  readonly http: Http;
  readonly accounts: readonly Account[];
  readonly signal: AbortSignal;
  readonly onSignedIn: (students: number) => void;
  /** Called with the number of students who have a result. */
  readonly onDecided: (students: number, sinceStartMs: number) => void;
}

export class Crowd {
  readonly #students: readonly LoadStudent[];
  readonly #options: CrowdOptions;

  constructor(options: CrowdOptions) {
    this.#options = options;
    this.#students = options.accounts.map((account, index) => new LoadStudent(account, index, options.http));
  }

  async signIn(): Promise<void> {
    const waiting = this.#students.values();
    let done = 0;
    const clerk = async (): Promise<void> => {
      for (const student of waiting) {
        await student.signIn();
        done += 1;
        this.#options.onSignedIn(done);
      }
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, clerk));
  }

  /** @param startMs on the clock of `performance.now()` */
  async choose(startMs: number): Promise<Heard[]> {
    let done = 0;
    return Promise.all(
      this.#students.map(async (student, index) => {
        const clickMs = startMs + Math.random() * CLICK_MS - performance.now();
        await sleep(Math.max(0, clickMs), undefined, { signal: this.#options.signal });
        const heard = await student.choose(startMs, habitsOf(index));
        done += 1;
        this.#options.onDecided(done, performance.now() - startMs);
        return heard;
      }),
    );
  }
}

/** One student in twenty clicks twice, one in fifty regrets and chooses again. */
function habitsOf(index: number): Habits {
  return { clicksTwice: index % 20 === 7, regrets: index % 50 === 11 };
}
