/** The clock of a simulated node: true time, seen through an offset that can be stepped and a rate that can be wrong. */
import type { ValkeyClock } from "./wasi.js";

const microsPerMs = 1000;

export class SimulatedClock implements ValkeyClock {
  readonly #trueUs: () => number;
  #rate = 1;
  /** Where both clocks stood when the rate last changed. */
  #sinceUs: number;
  #monoAtUs: number;
  #offsetUs = 0;
  /** How far the engine has come by itself, sleeping or in a long script: true time has to catch up. */
  #reachedUs = 0;

  /** @param trueUs true time, in microseconds since 1970; must not go back */
  constructor(trueUs: () => number) {
    this.#trueUs = trueUs;
    this.#sinceUs = trueUs();
    this.#monoAtUs = this.#sinceUs;
  }

  readonly monoUs = (): number => Math.max(this.#awakeUs(), this.#reachedUs);

  readonly realUs = (): number => this.monoUs() + this.#offsetUs;

  /** The engine is busy for this long from now on, by its own clock. */
  readonly sleepUs = (durationUs: number): void => {
    this.#reachedUs = this.monoUs() + durationUs;
  };

  #awakeUs(): number {
    return this.#monoAtUs + (this.#trueUs() - this.#sinceUs) * this.#rate;
  }

  /** For how much true time the engine is still busy, in ms. */
  get busyMs(): number {
    return Math.max(0, this.#reachedUs - this.#awakeUs()) / this.#rate / microsPerMs;
  }

  /** Seconds of this clock in a true second. */
  get rate(): number {
    return this.#rate;
  }

  set rate(rate: number) {
    this.#monoAtUs = this.#awakeUs();
    this.#sinceUs = this.#trueUs();
    this.#rate = rate;
  }

  /** How far the wall clock is ahead of true time, in ms. */
  get errorMs(): number {
    return (this.realUs() - this.#trueUs()) / microsPerMs;
  }

  /** Steps the wall clock, forwards or back. The monotonic clock does not notice. */
  step(deltaMs: number): void {
    this.#offsetUs += deltaMs * microsPerMs;
  }
}
