/** OnceInspection: which keys have an outcome, and which are being worked on, whichever process asks. */
import type { LockHolder, LockInspection } from "../locks/inspection.js";
import type { InspectedRecord, RecordInspection } from "../records/inspection.js";
import type { Outcome } from "./outcome.js";
import { ONCE_STEM, onceName } from "./settings.js";

/** A key of `hf.once` at one moment. */
export interface InspectedOnce {
  readonly key: string;
  /** The process that carries out the work now; null: nobody does. */
  readonly runner: LockHolder | null;
  /** Number of processes that wait for it. */
  readonly waiting: number;
  /**
   * - `value`, `bytes`, `nothing`: the work returned JSON, bytes, or undefined
   * - `failed`: the work threw, and errors are stored
   * - `unstorable`: the work returned something that cannot be stored
   * - `unknown`: the value is too large for a list, or another program wrote it
   * - null: nothing is stored, so the next caller runs its own work
   */
  readonly outcome: Outcome["outcome"] | "unknown" | null;
  /** Time at which the outcome was stored, in ms since 1970 by the server's clock; null when there is none. */
  readonly storedMs: number | null;
  /** Milliseconds until the outcome is forgotten; null: never, or there is none. */
  readonly remainingMs: number | null;
}

const OUTCOMES: readonly unknown[] = ["value", "bytes", "nothing", "failed", "unstorable"];

export class OnceInspection {
  readonly #locks: LockInspection;
  readonly #records: RecordInspection;

  constructor(locks: LockInspection, records: RecordInspection) {
    this.#locks = locks;
    this.#records = records;
  }

  /** @throws {InvalidArgumentError} @throws {HoldfastError} */
  async look(key: string): Promise<InspectedOnce> {
    const name = onceName(key);
    return this.#look(key, await this.#records.look(name, undefined));
  }

  /** The keys that have an outcome or are being worked on, in no order. */
  async *list(pattern: string): AsyncGenerator<InspectedOnce, void, undefined> {
    const seen = new Set<string>();
    for await (const record of this.#records.list(ONCE_STEM + pattern, null, false)) {
      if (record.tag !== null) continue;
      const key = record.name.slice(ONCE_STEM.length);
      seen.add(key);
      yield await this.#look(key, record);
    }
    for await (const { name } of this.#locks.list(ONCE_STEM + pattern, false)) {
      const key = name.slice(ONCE_STEM.length);
      if (!seen.has(key)) yield await this.look(key);
    }
  }

  async #look(key: string, record: InspectedRecord): Promise<InspectedOnce> {
    const { holder, waiting } = await this.#locks.look(onceName(key));
    const stored = record.exists;
    return {
      key,
      runner: holder,
      waiting,
      outcome: stored ? outcomeOf(record.value) : null,
      storedMs: stored ? record.changedMs : null,
      remainingMs: stored ? record.remainingMs : null,
    };
  }
}

function outcomeOf(value: unknown): Outcome["outcome"] | "unknown" {
  const { outcome } = (value ?? {}) as Partial<Outcome>;
  return outcome !== undefined && OUTCOMES.includes(outcome) ? outcome : "unknown";
}
