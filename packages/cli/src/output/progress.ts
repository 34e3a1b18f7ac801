/** Progress: one line of a terminal that each step overwrites, and that is gone at the end. */
import { monotonicMs } from "../time.js";

const REST_OF_LINE = "\u001b[K";
const LEAST_MS = 100;

export class Progress {
  readonly #stream: NodeJS.WriteStream;
  readonly #shows: boolean;
  readonly #leastMs: number;
  #shownMs = Number.NEGATIVE_INFINITY;
  #isShown = false;

  /**
   * Shows nothing where the stream is no terminal, or one that cannot draw in place.
   * @param leastMs between two texts: others in between are left out
   */
  constructor(stream: NodeJS.WriteStream, isWanted: boolean, leastMs = LEAST_MS) {
    this.#stream = stream;
    this.#leastMs = leastMs;
    this.#shows = isWanted && stream.isTTY === true && process.env["TERM"] !== "dumb";
  }

  get shows(): boolean {
    return this.#shows;
  }

  /** @param text fit for a terminal, and shorter than its width */
  show(text: string): void {
    if (!this.#shows || monotonicMs() - this.#shownMs < this.#leastMs) return;
    this.#shownMs = monotonicMs();
    this.#isShown = true;
    this.#stream.write(`\r${text}${REST_OF_LINE}`);
  }

  end(): void {
    if (this.#isShown) this.#stream.write(`\r${REST_OF_LINE}`);
    this.#isShown = false;
  }
}
