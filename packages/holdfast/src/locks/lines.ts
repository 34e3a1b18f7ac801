/** Lines: the lines of a process, one for each name with the same settings. */
import { BoundedMap } from "../bounded-map.js";
import { ClosedError } from "../errors.js";
import { type LineParts, type LineSettings, LocalLine } from "./local-line.js";

/** Maximum number of unused lines that are kept, because a kept line costs less than a new one. */
const MOST_IDLE = 1_000;

export class Lines {
  readonly #parts: LineParts;
  readonly #active = new Map<string, LocalLine>();
  readonly #idle = new BoundedMap<string, LocalLine>(MOST_IDLE);
  #closed = false;

  constructor(parts: LineParts) {
    this.#parts = parts;
  }

  /** How many lines are in use. */
  get size(): number {
    return this.#active.size;
  }

  /** @throws {ClosedError} after `close()` */
  assertOpen(what: string): void {
    if (this.#closed) throw new ClosedError(`${what} was called after close()`);
  }

  /** @param key names the line: equal for equal settings */
  find(key: string, settings: LineSettings): LocalLine {
    let line = this.#active.get(key);
    if (line) return line;
    line = this.#idle.get(key) ?? this.#create(key, settings);
    this.#idle.delete(key);
    this.#active.set(key, line);
    return line;
  }

  #create(key: string, settings: LineSettings): LocalLine {
    const line: LocalLine = new LocalLine(settings, this.#parts, () => {
      // A listener may have begun a new line under this key while the old one was ending.
      if (this.#active.get(key) !== line) return;
      this.#active.delete(key);
      this.#idle.set(key, line);
    });
    return line;
  }

  /** Ends all waits, and releases all leases. */
  async close(): Promise<void> {
    this.#closed = true;
    // A line that is idle may still have a lease that ended early, and was not released yet.
    const lines = [...this.#active.values(), ...this.#idle.drain()];
    await Promise.all(lines.map((line) => line.close()));
  }
}
