/**
 * Deadlocks: finds waits that can never end, because holder and waiter wait for each other in a circle, across processes.
 *
 * A wait of code that holds something writes down, beside each lease of that code, what it waits for. It then walks from record to record,
 * and judges what it read. One wait of a circle gets a DeadlockError.
 *
 * Proof      Processes read the records at different times, so that a circle in one look may never have been. A wait rejects only if two
 *            looks find the same waits, leases and tokens, and every other wait of the circle has told, in between, that it had read a
 *            beat which this wait wrote after its first look. A wait has an id of its own: so each was under way, and each lease live,
 *            at the end of the first look. Neither a record that its process could not delete, nor a process that died, can pass for that.
 * Cost       none for the code that holds nothing. Nothing is sent in the first 250 ms of a wait.
 * Tests      packages/conformance/src/deadlocks/
 */
import { DeadlockError } from "../../errors/deadlock-error.js";
import type { Lease } from "../../lease/lease.js";
import type { ProcessRecord } from "../../process-record.js";
import { type LockNoun, publish } from "../../telemetry/events.js";
import { whenAborted } from "../../time/abort.js";
import { elapsedMs } from "../../time/clock.js";
import type { WaitSettings } from "../../time/pending.js";
import { jittered, type Random } from "../../time/random.js";
import type { Schedule } from "../../time/schedule.js";
import type { HeldByOwner, LockOwner, Wait, Wanted, Watch } from "../ownership.js";
import type { WaitStore } from "../wait-store.js";
import { type Circle, circleOf, nameKey, type Step } from "./graph.js";
import { readGraph, type View } from "./reading.js";
import { formatWaits, type WaitRecord } from "./wait-record.js";
import { WatchedWait } from "./watched-wait.js";

/** Most waits are shorter, and cost nothing. */
const FIRST_LOOK_MS = 250;
const LOOK_MS = 500;
/** While a circle waits for its proof, each look is that of half this time up to all of it. */
const NEXT_LOOK_MS = 200;
/** Looks in quick succession at one circle. Where others in it do not answer, because they died, it goes on slowly. */
const MOST_QUICK_LOOKS = 10;
const KEEP_MS = 3 * LOOK_MS;
/** Dates go back as far as this. */
const LONGEST_AGO_MS = 8.64e15;

export interface DeadlockParts {
  readonly schedule: Schedule;
  readonly random: Random;
  readonly self: ProcessRecord;
  /** Null: the store has no place for records, and only code that waits for itself is found. */
  readonly store: WaitStore | null;
}

interface BlockedLease {
  readonly lease: Lease;
  /** The waits of the code that holds it. */
  readonly waits: Set<WatchedWait>;
  /** Whether there may be a record beside it. */
  isWritten: boolean;
}

export class Deadlocks {
  readonly #parts: DeadlockParts;
  /** By the id of the lease. */
  readonly #blocked = new Map<string, BlockedLease>();
  /** When the code that holds the lease came, on the wall clock. */
  readonly #cameMs = new WeakMap<Lease, number>();
  /** What is under way at the store. */
  readonly #calls = new Set<Promise<unknown>>();

  constructor(parts: DeadlockParts) {
    this.#parts = parts;
  }

  /** Attends a wait of code that holds something. It rejects with DeadlockError when it can never end. */
  readonly watch: Watch = (owner, wanted, waiting, wait) => {
    const own = owner.held.find((held) => isCertain(held, wanted));
    if (own) return Promise.reject(this.#refused(wanted, own));
    const { store } = this.#parts;
    return store ? this.#attend(store, owner, wanted, waiting, wait) : wait(waiting.signal);
  };

  /** Resolves when nothing is under way. The waits must have ended. */
  async close(): Promise<void> {
    while (this.#calls.size > 0) await Promise.all(this.#calls);
  }

  async #attend(
    store: WaitStore,
    owner: LockOwner,
    wanted: Wanted,
    { signal }: WaitSettings,
    wait: Wait,
  ): Promise<Lease> {
    signal?.throwIfAborted();
    const { schedule, self } = this.#parts;
    const cameMs = this.#came(owner);
    const watched = new WatchedWait(this.#newId(cameMs), wanted, self, schedule.clock.now());
    const ender = new AbortController();
    const stopListening = signal && whenAborted(signal, () => ender.abort(signal.reason));
    this.#register(watched, owner.held);
    const look = async (): Promise<void> => {
      const error = await this.#look(store, owner, watched).catch(() => null);
      if (watched.isOver) return;
      if (error) ender.abort(error);
      else watched.alarm = schedule.after(this.#pauseMs(watched), ring);
    };
    const ring = (): void => this.#call(look());
    watched.alarm = schedule.after(FIRST_LOOK_MS, ring);
    try {
      const lease = await wait(ender.signal);
      this.#cameMs.set(lease, cameMs);
      return lease;
    } catch (error) {
      if (error instanceof DeadlockError && error === ender.signal.reason)
        this.#tell(watched.noun, error, elapsedMs(schedule.clock, watched.since));
      throw error;
    } finally {
      stopListening?.();
      watched.isOver = true;
      schedule.cancel(watched.alarm);
      for (const id of [...watched.leases]) this.#unregister(store, watched, id);
    }
  }

  /**
   * When the code first asked for a lock while it held another one. Each lease that it has then, or gets by such a wait, keeps this time: so
   * does the code, until it holds nothing.
   */
  #came({ held }: LockOwner): number {
    const { wallMs } = this.#parts.schedule.clock.now();
    const cameMs = Math.min(wallMs, ...held.map(({ lease }) => this.#cameMs.get(lease) ?? wallMs));
    for (const { lease } of held) if (!this.#cameMs.has(lease)) this.#cameMs.set(lease, cameMs);
    return cameMs;
  }

  /**
   * The largest id in a circle gets the error, and ids are in the order in which code came. So code that came before all others is spared
   * until it has every lock that it wants, however often the others begin again. Clocks that differ make another order, and no less of one.
   */
  #newId(cameMs: number): string {
    return `${Math.trunc(cameMs + LONGEST_AGO_MS)
      .toString(36)
      .padStart(11, "0")}${this.#parts.random.id()}`;
  }

  #pauseMs({ suspicion }: WatchedWait): number {
    const { random } = this.#parts;
    return suspicion && suspicion.looks < MOST_QUICK_LOOKS
      ? jittered(random, NEXT_LOOK_MS, 0.5)
      : jittered(random, LOOK_MS);
  }

  #call(work: Promise<unknown>): void {
    const call = work.catch(() => {}).finally(() => this.#calls.delete(call));
    this.#calls.add(call);
  }

  #register(watched: WatchedWait, held: readonly HeldByOwner[]): void {
    for (const { lease } of held) {
      watched.leases.add(lease.id);
      const known = this.#blocked.get(lease.id);
      const isKnown = known?.lease.fence === lease.fence;
      // The turn may be another caller's by now.
      const entry = isKnown
        ? known
        : { lease, waits: new Set<WatchedWait>(), isWritten: known?.isWritten ?? false };
      entry.waits.add(watched);
      this.#blocked.set(lease.id, entry);
    }
  }

  #unregister(store: WaitStore, watched: WatchedWait, id: string): void {
    watched.leases.delete(id);
    const entry = this.#blocked.get(id);
    if (!entry?.waits.delete(watched) || entry.waits.size > 0) return;
    this.#blocked.delete(id);
    if (entry.isWritten) this.#call(store.remove(id));
  }

  /** Returns the error with which the wait must end; null: it goes on. */
  async #look(store: WaitStore, owner: LockOwner, watched: WatchedWait): Promise<DeadlockError | null> {
    const { held } = owner;
    for (const id of [...watched.leases])
      if (!held.some(({ lease }) => lease.id === id)) this.#unregister(store, watched, id);
    this.#register(watched, held);
    if (held.length === 0) {
      watched.suspicion = null;
      return null;
    }
    await this.#write(store, watched);
    const view = await readGraph(store, watched, (id) => this.#recordOf(id));
    if (watched.isOver) return null;
    const circle = view && circleOf(view, watched.id);
    const isNew = watched.suspect(circle && signatureOf(view, circle), view, circle);
    if (!circle || !view) return null;
    if (isNew) {
      // The others need not wait for the next look to read what proves theirs.
      await this.#write(store, watched);
      return null;
    }
    const isVictim = [...circle.waits].every((id) => id <= watched.id);
    const isProven = [...circle.waits].every((id) => watched.isProven(view, id));
    const isHeld = owner.held.some(({ lease }) => lease.id === circle.steps.at(-1)?.holder.id);
    return isVictim && isProven && isHeld && !watched.isOver
      ? new DeadlockError(circle.steps.map(toStep))
      : null;
  }

  async #write(store: WaitStore, watched: WatchedWait): Promise<void> {
    watched.beat += 1;
    const writes = [...watched.leases].flatMap((id) => {
      const entry = this.#blocked.get(id);
      const record = this.#recordOf(id);
      if (!entry || !record) return [];
      entry.isWritten = true;
      return [store.write(id, formatWaits(this.#parts.self, record), KEEP_MS)];
    });
    await Promise.all(writes);
  }

  /** What this process says of one of its leases; null: nothing. */
  #recordOf(id: string): WaitRecord | null {
    const entry = this.#blocked.get(id);
    if (!entry?.lease.valid) return null;
    return { fence: entry.lease.fence, waits: [...entry.waits] };
  }

  /** The code waits for itself. */
  #refused({ noun, name }: Wanted, { lease }: HeldByOwner): DeadlockError {
    const { self, schedule } = this.#parts;
    const { fence } = lease;
    const owner = { ...self, sinceMs: schedule.clock.now().wallMs, fence };
    const error = new DeadlockError([{ noun, name, owner, fence }]);
    this.#tell(noun, error, 0);
    return error;
  }

  #tell(noun: LockNoun, { lock, circle }: DeadlockError, waitedMs: number): void {
    publish("holdfast:lock:deadlock", () => ({ lock, noun, circle, waitedMs: Math.round(waitedMs) }));
  }
}

function toStep({ wait: { noun, name }, holder: { process, sinceMs }, fence }: Step) {
  return { noun, name, owner: process && { ...process, sinceMs, fence }, fence };
}

/** Whether it is certain without a look that the owner waits for itself. Permits of a semaphore, and a writer's, may have become fewer. */
function isCertain({ noun, lease }: HeldByOwner, wanted: Wanted): boolean {
  return noun === "mutex" && wanted.noun === "mutex" && lease.name === wanted.name;
}

/** Equal for two looks that found the same circle: the same waits, held up by the same turns of the same leases. */
function signatureOf(view: View | null, { waits }: Circle): string {
  const parts = [...waits].sort().map((id) => {
    const wait = view?.waits.get(id);
    const state = wait && view?.names.get(nameKey(wait));
    const holders = (state?.holders ?? []).flatMap((holder) => {
      const blocked = view?.blocked.get(holder.id);
      if (!blocked?.waits.every((one) => waits.has(one))) return [];
      return [`${holder.id} ${blocked.fence} ${holder.permits} ${blocked.waits.join(" ")}`];
    });
    return [id, state?.permits, ...holders.sort()].join("\n");
  });
  return parts.join("\n\n");
}
