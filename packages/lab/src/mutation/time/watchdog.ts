/** Calls back when it was not fed for so long: in real time, because what it watches may stand still. */
export class Watchdog {
  readonly #limitMs: number;
  readonly #onHunger: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(limitMs: number, onHunger: () => void) {
    this.#limitMs = limitMs;
    this.#onHunger = onHunger;
    this.feed();
  }

  feed(): void {
    this.stop();
    this.#timer = setTimeout(this.#onHunger, this.#limitMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
