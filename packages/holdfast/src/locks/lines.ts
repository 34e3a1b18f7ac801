/** Lines: the callers of a process, in a line for each name, its settings and the share of it that they want. */
import { ClosedError } from "../errors.js";
import { LinkedList } from "../linked-list.js";
import type { LockNoun } from "../telemetry/events.js";
import type { LockBackend } from "./backend.js";
import { Callers } from "./callers.js";
import type { LineParts, LineTerms, Share } from "./line-settings.js";
import type { LockKind, Ownership } from "./ownership.js";

/** To use an idle line again costs less than to make a new one. */
const MOST_IDLE = 1_000;

export class Lines implements LockKind {
  readonly noun: LockNoun;
  readonly ownership: Ownership;
  readonly #parts: LineParts;
  readonly #byKey = new Map<string, Callers>();
  /** Those that nobody uses, in the order in which they were left. */
  readonly #idle = new LinkedList<Callers>();
  #closed = false;
  readonly #onIdle = (line: Callers): void => {
    // A listener may have used the line, and left it, while its last turn was ending.
    if (this.#idle.has(line) || this.#byKey.get(line.key) !== line) return;
    this.#idle.add(line);
    // Two for each that comes, so that lines that had to be kept are forgotten in the end.
    for (let tries = 2; tries > 0; tries -= 1) this.#forgetOne();
  };

  constructor(parts: LineParts, ownership: Ownership, noun: LockNoun = "mutex") {
    this.noun = noun;
    this.ownership = ownership;
    this.#parts = parts;
    parts.backend.onAway?.((error) => {
      for (const line of [...this.#byKey.values()]) line.refuse(error());
    });
  }

  /** The store's longest ttl with `lockDelay`, if it has such a limit. */
  get longestTtl(): LockBackend["longestTtl"] {
    return this.#parts.backend.longestTtl;
  }

  /** How many lines are in use. */
  get size(): number {
    return this.#byKey.size - this.#idle.size;
  }

  /** @throws {ClosedError} after `close()` */
  assertOpen(what: string): void {
    if (this.#closed) throw new ClosedError(`${what} was called after close()`);
  }

  /** @param key names the line: equal for equal terms and shares */
  find(key: string, terms: LineTerms, share: Share): Callers {
    const known = this.#byKey.get(key);
    if (known) {
      this.#idle.delete(known);
      return known;
    }
    const line = this.#lineOf(key, terms, share);
    this.#byKey.set(key, line);
    return line;
  }

  /** The same, for a look: a line that is idle stays so, and one that is unknown stays unknown. */
  look(key: string, terms: LineTerms, share: Share): Pick<Callers, "busyError"> {
    return this.#byKey.get(key) ?? this.#lineOf(key, terms, share);
  }

  /** From now on every release of a lease on the name goes to the store. */
  stopPassingOn(name: string): void {
    for (const line of this.#byKey.values()) if (line.settings.name === name) line.stopPassingOn();
  }

  #lineOf(key: string, terms: LineTerms, share: Share): Callers {
    const { name, ttlMs, maxHoldMs, localTurns, lockDelayMs = 0, lingerMs = 0 } = terms;
    const settings = { name, ttlMs, maxHoldMs, localTurns, lockDelayMs, lingerMs, share };
    return new Callers(key, settings, this.#parts, this.#onIdle);
  }

  /** A line with a lease that ended early is kept: `close()` gives that back. */
  #forgetOne(): void {
    const { first, size } = this.#idle;
    if (!first || size <= MOST_IDLE) return;
    this.#idle.delete(first);
    if (first.isOwed) this.#idle.add(first);
    else this.#byKey.delete(first.key);
  }

  /** Ends what waits, and gives back what is held. */
  async close(): Promise<void> {
    this.#closed = true;
    // A line that is idle may still have a lease that ended early, and was not released yet.
    const lines = [...this.#byKey.values()];
    await Promise.all(lines.map((line) => line.close()));
  }
}
