/**
 * OnceRuns: the calls of `hf.once` in one process.
 *
 * A call reads the record. Without an outcome it takes the lock, and reads again with its fence, so that no older run can
 * store from then on. While another caller has the lock, it waits in line and watches the record. So one message answers all
 * who wait, and they leave the line.
 */
import {
  AcquireTimeoutError,
  fromCaller,
  ResultNotStoredError,
  ServerError,
  StaleTokenError,
  tellCaller,
} from "../errors.js";
import type { Lease } from "../lease/lease.js";
import type { Locks } from "../locks/locks.js";
import type { Mutex } from "../locks/mutex.js";
import type { Ownership } from "../locks/ownership.js";
import type { RecordStore } from "../records/record-store.js";
import type { RecordTarget } from "../records/settings.js";
import { toState } from "../records/state.js";
import { publish } from "../telemetry/events.js";
import { whenAborted } from "../time/abort.js";
import { elapsedMs, type Instant } from "../time/clock.js";
import type { Random } from "../time/random.js";
import { Resends } from "../time/resends.js";
import type { Schedule } from "../time/schedule.js";
import { decodeValue } from "../values.js";
import { answerOf, textOfError, textOfValue } from "./outcome.js";
import { ResultStore } from "./result-store.js";
import type { OnceTerms } from "./settings.js";

export interface OnceParts {
  readonly schedule: Schedule;
  readonly random: Random;
  readonly locks: Locks;
  readonly records: RecordStore;
  readonly ownership: Ownership;
}

export interface OnceResult<Value> {
  /** Whether this call ran its work. False: the value is the stored result of an earlier run. */
  readonly ran: boolean;
  readonly value: Value;
}

/** An outcome as its record has it. */
interface Stored {
  readonly value: unknown;
}

/** The fence of a run that stores nothing is kept for as long as its outcome would be, and at most for this. */
const ENTERED_KEEP_MS = 7 * 86_400_000;

type Work = (lease: Lease) => unknown;
type Told = (stored: Stored) => void;
type Found = { readonly stored: Stored } | { readonly lease: Lease };

export class OnceRuns {
  readonly #parts: OnceParts;
  readonly #results: ResultStore;
  readonly #resends: Resends;
  /** Those who wait here, by the key of the record: a run of this process tells them before it gives the lock back. */
  readonly #waiting = new Map<string, Set<Told>>();

  constructor(parts: OnceParts) {
    this.#parts = parts;
    this.#results = new ResultStore(parts.records, parts.schedule);
    this.#resends = new Resends(parts.schedule, parts.random);
  }

  async run<Value>(
    terms: OnceTerms,
    work: (lease: Lease) => Promise<Value> | Value,
  ): Promise<OnceResult<Value>> {
    terms.signal?.throwIfAborted();
    const since = this.#parts.schedule.clock.now();
    let found = await tellCaller(this.#wait(terms, since));
    let began = this.#parts.schedule.clock.now();
    // The process may have stood still since it looked. Nothing but the work comes after this look.
    while ("lease" in found && !found.lease.valid) {
      await found.lease.release(); // never rejects
      found = await tellCaller(this.#wait(terms, since));
      began = this.#parts.schedule.clock.now();
    }
    if ("stored" in found) {
      const { key, target } = terms;
      publish("holdfast:once:skipped", () => ({ key, waitedMs: this.#elapsedMs(since) }));
      return { ran: false, value: answerOf(key, target.key, found.stored.value) as Value };
    }
    try {
      terms.signal?.throwIfAborted();
      return { ran: true, value: (await this.#carryOut(terms, found.lease, began, work)) as Value };
    } finally {
      await found.lease.release(); // never rejects
    }
  }

  async forget(target: RecordTarget): Promise<boolean> {
    const { records } = this.#parts;
    const [outcome] = await records.write([
      { target, text: null, expected: "", fence: null, keepMs: target.keepMs },
    ]);
    return outcome?.kind === "written" && outcome.version !== null;
  }

  close(): void {
    this.#results.close();
    this.#resends.hurry();
  }

  /** Waits for the first of the two, also while the server refuses for a while. */
  async #wait(terms: OnceTerms, since: Instant): Promise<Found> {
    const { signal } = terms;
    try {
      return await this.#resends.run({
        send: () => this.#outcomeOrTurn(terms, since),
        // A server that cannot be asked ends the wait: nobody knows for how long.
        isWorth: (error) =>
          error instanceof ServerError && !signal?.aborted && this.#leftMs(terms, since) > 0,
      });
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    }
  }

  async #outcomeOrTurn(terms: OnceTerms, since: Instant): Promise<Found> {
    const { records, locks } = this.#parts;
    const { name, target, ttlMs } = terms;
    const there = toState(target.key, await records.read(target));
    if (there) return { stored: there };
    const mutex = locks.mutex(name, { ttl: ttlMs });
    for (let floor: bigint | undefined; ; ) {
      const won = await this.#turn(mutex, terms, since, floor);
      if ("stored" in won) return won;
      const { lease } = won;
      try {
        const guardMs = Math.min(target.keepMs, ENTERED_KEEP_MS);
        const stored = toState(target.key, await records.enter({ ...target, keepMs: guardMs }, lease));
        if (!stored && lease.valid) return { lease };
        await lease.release();
        if (stored) return { stored };
        // The process stood still for so long that somebody else may have run since.
        if (this.#leftMs(terms, since) === 0) throw timedOut(terms, null);
      } catch (error) {
        await lease.release();
        // The server lost the lock, and kept the record.
        if (!(error instanceof StaleTokenError)) throw error;
        floor = error.seen;
      }
    }
  }

  /** The lock; or the outcome, when another caller stores one first. */
  async #turn(mutex: Mutex, terms: OnceTerms, since: Instant, floor: bigint | undefined): Promise<Found> {
    const free = await mutex.tryAcquire({ floor });
    if (free) return { lease: free };
    terms.signal?.throwIfAborted();
    const leftMs = this.#leftMs(terms, since);
    const left = new AbortController();
    const stopListening = terms.signal && whenAborted(terms.signal, () => left.abort(terms.signal?.reason));
    let stored: Stored | null = null;
    const leave = this.#watch(terms.target, leftMs, (told) => {
      stored ??= told;
      left.abort();
    });
    try {
      const lease = await mutex.acquire({ wait: leftMs, signal: left.signal, floor });
      if (!stored) return { lease };
      await lease.release();
      return { stored };
    } catch (error) {
      if (stored) return { stored };
      // The mutex knows neither the key nor the wait that was asked for, only what was left of it.
      throw error instanceof AcquireTimeoutError ? timedOut(terms, error) : error;
    } finally {
      stopListening?.();
      leave();
    }
  }

  /** Tells of the outcome as soon as it is stored, here or elsewhere. */
  #watch(target: RecordTarget, waitMs: number, told: Told): () => void {
    if (waitMs === 0) return () => {};
    const here = this.#waiting.get(target.key) ?? new Set();
    this.#waiting.set(target.key, here.add(told));
    const end = new AbortController();
    void this.#follow(target, end.signal, told);
    return () => {
      end.abort();
      here.delete(told);
      if (here.size === 0 && this.#waiting.get(target.key) === here) this.#waiting.delete(target.key);
    };
  }

  async #follow(target: RecordTarget, signal: AbortSignal, told: Told): Promise<void> {
    try {
      for await (const change of this.#parts.records.watch(target, signal)) {
        if (change) told(change);
      }
    } catch {
      // The place in line leads to the outcome as well, and says what is wrong.
    }
  }

  async #carryOut(terms: OnceTerms, lease: Lease, since: Instant, work: Work): Promise<unknown> {
    const { key, target } = terms;
    const { ownership } = this.#parts;
    let value: unknown;
    try {
      // So that a wait of the work for its own key, or for whoever waits for that, is a circle.
      value = await ownership.within(undefined, [{ noun: "mutex", lease }], () => work(lease));
    } catch (error) {
      const stored = await this.#failed(terms, lease, error);
      publish("holdfast:once:failed", () => ({ key, fence: lease.fence, error, stored }));
      throw error;
    }
    const tookMs = this.#elapsedMs(since);
    try {
      await this.#store(terms, lease, value);
    } catch (error) {
      publish("holdfast:once:failed", () => ({ key, fence: lease.fence, error, stored: false }));
      throw fromCaller(error, this.run);
    }
    publish("holdfast:once:ran", () => ({ key, fence: lease.fence, tookMs, keepMs: target.keepMs }));
    return value;
  }

  async #store(terms: OnceTerms, lease: Lease, value: unknown): Promise<void> {
    const { key } = terms;
    let text: string;
    try {
      text = textOfValue(value);
    } catch (cause) {
      // It has run. Without an outcome, every caller would run it again.
      await this.#put(terms, lease, textOfError("unstorable", cause), value);
      throw new ResultNotStoredError({ key, fence: lease.fence, value, reason: "unstorable" }, { cause });
    }
    await this.#put(terms, lease, text, value);
  }

  /** Whether the error was stored. An error of work that was told to stop says nothing of the work. */
  async #failed(terms: OnceTerms, lease: Lease, error: unknown): Promise<boolean> {
    if (!terms.storesErrors || !lease.valid || terms.signal?.aborted) return false;
    try {
      await this.#put(terms, lease, textOfError("failed", error), undefined);
      return true;
    } catch {
      return false; // The caller gets the error of the work.
    }
  }

  async #put(terms: OnceTerms, lease: Lease, text: string, value: unknown): Promise<void> {
    await this.#results.put(terms, lease, text, value);
    for (const told of this.#waiting.get(terms.target.key) ?? []) told({ value: decodeValue(text) });
  }

  #leftMs({ waitMs }: OnceTerms, since: Instant): number {
    return Math.max(0, Math.ceil(waitMs - elapsedMs(this.#parts.schedule.clock, since)));
  }

  #elapsedMs(since: Instant): number {
    return Math.round(elapsedMs(this.#parts.schedule.clock, since));
  }
}

function timedOut({ key, name, waitMs }: OnceTerms, seen: AcquireTimeoutError | null): AcquireTimeoutError {
  return new AcquireTimeoutError(name, waitMs, seen?.owner ?? null, { key, isOwn: seen?.isOwn ?? false });
}
