/** HoldfastCaller: takes a lock, works under it and gives it back, over and over, with terms that a seed draws. */
import { AcquireTimeoutError, type Holdfast, type Lease, ServerError } from "holdfast";
import type { Dice } from "../../chance/dice.js";
import type { Pending, Recorder } from "../../history/recorder.js";
import { afterMs, monoMs, pauseMs, spinMs } from "../time.js";
import type { Written } from "../written.js";
import { Holder } from "./holder.js";
import { enter, type Told, write } from "./section.js";
import type { WorkerTask } from "./task.js";

/** The holders of this process, for the news of renewals, and how leases were come by. */
export interface Shared {
  readonly holders: Set<Holder>;
  /** Whether the lease was passed on inside this process, by "<name> <fence>". */
  readonly local: Map<string, boolean>;
}

export interface CallerParts {
  readonly task: WorkerTask;
  readonly holdfast: Holdfast;
  readonly vault: Holdfast;
  readonly shared: Shared;
  readonly recorder: Recorder;
  readonly dice: Dice;
}

/** Of the sections: longer than the rest by far, up to one and a half times the longest ttl. */
const LONG_SHARE = 0.025;
const SHORT_MS = 15;
/** Of the mutexes: linger, where they have local turns. */
const LINGER_SHARE = 0.3;
/** Of the sections: block the event loop. */
const STALL_SHARE = 0.005;

export class HoldfastCaller {
  readonly #parts: CallerParts;
  /** The largest token that a resource refused one with, by name. */
  readonly #floors = new Map<string, bigint>();
  #writes = 0;

  constructor(parts: CallerParts) {
    this.#parts = parts;
  }

  async run(isOver: () => boolean): Promise<void> {
    const { dice } = this.#parts;
    while (!isOver()) {
      const key = dice.pick(this.#parts.task.keys);
      const lease = await this.#acquire(key);
      if (lease) await this.#hold(key, lease);
      await pauseMs(dice.between(0, lease ? 10 : 60));
    }
  }

  async #acquire(key: string): Promise<Lease | null> {
    const { dice, holdfast, recorder, shared, task } = this.#parts;
    const ttlMs = dice.pick(task.ttlsMs);
    const localTurns = dice.pick([1, 4, 16]);
    const lingerMs = dice.chance(LINGER_SHARE) ? Math.min(dice.pick([2, 20, 200]), Math.floor(ttlMs / 3)) : 0;
    const mutex = holdfast.mutex(key, {
      ttl: ttlMs,
      localTurns,
      linger: localTurns > 1 ? lingerMs : 0,
      lockDelay: dice.chance(0.1) ? Math.round(ttlMs / 4) : 0,
      ...(dice.chance(0.05) ? { maxHold: ttlMs } : {}),
    });
    const waitMs = dice.chance(0.15) ? 0 : Math.round(dice.between(20, 3_000));
    const floor = this.#floors.get(key);
    const controller = new AbortController();
    const cancel = dice.chance(0.05)
      ? afterMs(dice.between(0, 500), () => controller.abort(new Error("given up")))
      : () => {};
    const entry = recorder.begin("acquire", key, { value: { waitMs, ttlMs } });
    try {
      const lease = await mutex.acquire({
        wait: waitMs,
        signal: controller.signal,
        ...(floor ? { floor } : {}),
      });
      const validUntilMs = monoMs() + lease.remainingMs;
      const place = `${key} ${lease.fence}`;
      const local = shared.local.get(place) ?? false;
      shared.local.delete(place);
      const value = { waitMs, ttlMs, local };
      entry.ok({ token: lease.fence, nonce: lease.id, validUntilMs, value });
      return lease;
    } catch (error) {
      refused(entry, error, controller.signal.aborted);
      return null;
    } finally {
      cancel();
    }
  }

  async #hold(key: string, lease: Lease): Promise<void> {
    const { dice, recorder, shared, task } = this.#parts;
    const holder = new Holder(recorder, lease, monoMs() + lease.remainingMs);
    shared.holders.add(holder);
    const longest = Math.max(...task.ttlsMs);
    const workMs = dice.between(0, dice.chance(LONG_SHARE) ? longest * 1.5 : SHORT_MS);
    if (dice.chance(STALL_SHARE)) spinMs(dice.between(0, longest * 1.2));
    if (dice.chance(0.6)) await this.#work(key, lease, workMs);
    else await pauseMs(workMs);
    holder.end();
    shared.holders.delete(holder);
    const release = recorder.begin("release", key, { token: lease.fence, nonce: lease.id });
    const result = await lease.release();
    if (result === "unknown") release.info(result);
    else release.ok({ value: result });
  }

  async #work(key: string, lease: Lease, workMs: number): Promise<void> {
    const { dice, recorder, vault } = this.#parts;
    const record = vault.record<Written>(key);
    const entered = await enter(recorder, record, lease);
    if (!this.#isIn(key, entered)) return;
    await pauseMs(workMs);
    // A careful holder looks before it writes; the others show that the fence alone is enough.
    if (dice.chance(0.5) && !lease.valid) return;
    const id = `${recorder.process}/${++this.#writes}`;
    this.#isIn(key, await write(recorder, record, lease, { id, after: entered.read }));
  }

  #isIn(key: string, told: Told): told is { readonly read: string | null } {
    if (told && "seen" in told) this.#floors.set(key, told.seen);
    return told !== null && "read" in told;
  }
}

/** A refusal for certain, or nobody knows. */
function refused(entry: Pending, error: unknown, isAborted: boolean): void {
  const isCertain = isAborted || error instanceof AcquireTimeoutError || error instanceof ServerError;
  if (isCertain) entry.fail(String(error));
  else entry.info(String(error));
}
