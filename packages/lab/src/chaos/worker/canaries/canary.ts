/**
 * Canary: a lock as people write it, or take it, without looking further. It runs under the faults that holdfast runs
 * under, on keys of its own, and the checkers must catch it: a run in which it comes through has shown nothing.
 */
export interface CanaryHold {
  /** Where the recipe has one. */
  readonly token?: bigint;
  /** Until when its holder believes that it holds, on CLOCK_MONOTONIC, as things stand now; Infinity: until it releases. */
  believedUntilMs(): number;
  release(): Promise<void>;
}

export interface Canary {
  /** Null: busy, after whatever wait the recipe has. */
  acquire(key: string, ttlMs: number): Promise<CanaryHold | null>;
}
