/** How the wait for several locks ends: in time, by a signal, or because one of those that it has was lost. */
import { type HoldfastError, IndeterminateError } from "../errors.js";
import type { Lease } from "../lease/lease.js";
import { whenAborted } from "../time/abort.js";
import type { WaitSettings } from "../time/pending.js";
import type { Schedule } from "../time/schedule.js";

interface Terms extends WaitSettings {
  readonly schedule: Schedule;
  readonly names: readonly string[];
  /** The error of an attempt of which nothing was sent; null: something was. */
  readonly unsent: () => HoldfastError | null;
}

/** Releases all in one turn of the event loop, so that their releases travel together. */
export async function releaseAll(leases: readonly Lease[]): Promise<void> {
  await Promise.all(leases.map((lease) => lease.release()));
}

/**
 * The outcome of an attempt, unless the time is up or the signal aborts before. Leases that come after that are released.
 * @throws {IndeterminateError} @throws {UnavailableError} the time is up @throws the signal's reason
 */
export function endsWith<Attempted extends { readonly leases: readonly Lease[] | null } | null>(
  attempt: Promise<Attempted>,
  { schedule, waitMs, signal, names, unsent }: Terms,
): Promise<Attempted> {
  return new Promise((resolve, reject) => {
    let stopListening = (): void => {};
    const end = (): void => {
      schedule.cancel(alarm);
      stopListening();
    };
    const giveUp = (reason: unknown): void => {
      end();
      reject(reason);
      attempt.then((attempted) => releaseAll(attempted?.leases ?? [])).catch(() => {});
    };
    const alarm = schedule.after(waitMs, () => {
      const locks = names.map((name) => `'${name}'`).join(", ");
      giveUp(unsent() ?? new IndeterminateError(`${locks}: no answer from the store within ${waitMs} ms`));
    });
    if (signal) stopListening = whenAborted(signal, () => giveUp(signal.reason));
    attempt.finally(end).then(resolve, reject);
  });
}

/** Ends the wait for a lock: the signal of the caller, or the loss of a lock that it has already. */
export class WaitSignal {
  readonly #controller = new AbortController();
  readonly #endings: (() => void)[] = [];

  constructor(signal: AbortSignal | undefined) {
    if (signal) this.#listen(signal);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  endWith({ signal }: Lease): void {
    this.#listen(signal);
  }

  close(): void {
    for (const stop of this.#endings) stop();
  }

  #listen(signal: AbortSignal): void {
    this.#endings.push(whenAborted(signal, () => this.#controller.abort(signal.reason)));
  }
}
