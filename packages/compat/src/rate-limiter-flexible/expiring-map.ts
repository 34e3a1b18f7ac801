/** ExpiringMap: values of this process with an end each. It needs no timer: the ended ones are dropped as the map grows. */
import type { Clock } from "holdfast";

interface Entry<Value> {
  value: Value;
  /** On the monotonic clock; Infinity: never. */
  readonly endsMs: number;
}

export interface Found<Value> {
  readonly value: Value;
  /** Infinity: without end. */
  readonly leftMs: number;
}

const SMALL = 1_000;

export class ExpiringMap<Value> {
  readonly #clock: Clock;
  readonly #entries = new Map<string, Entry<Value>>();
  #sweepAt = SMALL;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get(key: string): Found<Value> | null {
    const entry = this.#entries.get(key);
    if (!entry) return null;
    const leftMs = Math.ceil(entry.endsMs - this.#nowMs);
    if (leftMs > 0) return { value: entry.value, leftMs };
    this.#entries.delete(key);
    return null;
  }

  /** @param lifeMs Infinity has no end */
  set(key: string, value: Value, lifeMs: number): void {
    this.#entries.set(key, { value, endsMs: this.#nowMs + lifeMs });
    if (this.#entries.size > this.#sweepAt) this.#sweep();
  }

  /** Changes the value of an entry, which ends when it would have ended before. */
  change(key: string, value: Value): void {
    const entry = this.#entries.get(key);
    if (entry) entry.value = value;
  }

  /** Whether there was one that had not ended. */
  delete(key: string): boolean {
    const isThere = this.get(key) !== null;
    this.#entries.delete(key);
    return isThere;
  }

  clear(): void {
    this.#entries.clear();
  }

  keys(): string[] {
    this.#sweep();
    return [...this.#entries.keys()];
  }

  /** Each entry is looked at once for each time that the map doubles. */
  #sweep(): void {
    const nowMs = this.#nowMs;
    for (const [key, { endsMs }] of this.#entries) if (endsMs <= nowMs) this.#entries.delete(key);
    this.#sweepAt = Math.max(2 * this.#entries.size, SMALL);
  }

  get #nowMs(): number {
    return this.#clock.now().monoMs;
  }
}
