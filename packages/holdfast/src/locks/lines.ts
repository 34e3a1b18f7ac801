/** Lines: the lines of a process, one for each name and the settings under which it is asked for. */
import { ClosedError } from "../errors.js";
import { LinkedList } from "../linked-list.js";
import { type LineParts, type LineSettings, LocalLine } from "./local-line.js";

/** Lines that nobody uses cost less to use again than to make anew. */
const MOST_IDLE = 1_000;

export class Lines {
  readonly #parts: LineParts;
  readonly #byKey = new Map<string, LocalLine>();
  /** Those that nobody uses, in the order in which they were left. */
  readonly #idle = new LinkedList<LocalLine>();
  #closed = false;
  readonly #onIdle = (line: LocalLine): void => {
    // A listener may have used the line, and left it, while its last turn was ending.
    if (this.#idle.has(line) || this.#byKey.get(line.key) !== line) return;
    this.#idle.add(line);
    const { first, size } = this.#idle;
    if (!first || size <= MOST_IDLE) return;
    this.#idle.delete(first);
    this.#byKey.delete(first.key);
  };

  constructor(parts: LineParts) {
    this.#parts = parts;
  }

  /** How many lines are in use. */
  get size(): number {
    return this.#byKey.size - this.#idle.size;
  }

  /** @throws {ClosedError} after `close()` */
  assertOpen(what: string): void {
    if (this.#closed) throw new ClosedError(`${what} was called after close()`);
  }

  /** @param key names the line: equal for equal settings */
  find(key: string, settings: LineSettings): LocalLine {
    const known = this.#byKey.get(key);
    if (known) {
      this.#idle.delete(known);
      return known;
    }
    const line = new LocalLine(key, settings, this.#parts, this.#onIdle);
    this.#byKey.set(key, line);
    return line;
  }

  /** Ends what waits, and gives back what is held. */
  async close(): Promise<void> {
    this.#closed = true;
    // A line that is idle may still have a lease that ended early, and was not released yet.
    const lines = [...this.#byKey.values()];
    await Promise.all(lines.map((line) => line.close()));
  }
}
