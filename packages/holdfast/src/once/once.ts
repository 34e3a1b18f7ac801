/**
 * Once: work that is carried out once for a key, by all processes together. Its result is stored, and answers everybody else.
 *
 * The work runs under the mutex `once:KEY`, and its result goes into the record `once:KEY` with the fence of that lease. A
 * process that dies in between leaves no result: the next one runs, with a larger fence, and the record refuses the late one.
 * Nothing can know whether a side effect happened before a death. So the side effect should carry the key or the fence.
 */
import { withoutSurplus } from "../arguments.js";
import { tellCaller } from "../errors.js";
import type { Lease } from "../lease/lease.js";
import { type OnceParts, type OnceResult, OnceRuns } from "./once-runs.js";
import { checkForget, checkOnce, checkWork, type OnceOptions } from "./settings.js";

export interface Once {
  /**
   * Runs `work`, unless it has run for this key: then its stored result is the answer. While another caller runs, this one waits
   * for its result. If that run fails or dies, the next caller in line runs its own `work`.
   *
   * `wait` bounds the time until an answer is there or the own work begins, not the work. The work gets the lease: its `signal`
   * says when to stop.
   * @throws {AcquireTimeoutError} `wait` passed while another caller ran
   * @throws {DeadlockError} the work that runs waits, and in the end for this call: at once where it is within that work
   * @throws {OnceFailedError} the work ran elsewhere, and failed, with `errors: "store"` there
   * @throws {ResultNotStoredError} the own work ran, but its result could not be stored; the error has it
   * @throws the error of the own `work`
   * @throws {ServerError} @throws {IndeterminateError} @throws {ClosedError} the work was not begun
   * @throws the signal's reason, when the signal aborted before the work began
   */
  <Value>(
    key: string,
    work: (lease: Lease) => Promise<Value> | Value,
    options: OnceOptions,
  ): Promise<OnceResult<Value>>;
  /**
   * Forgets the outcome of a key, so that the next call runs again. A run that is under way goes on, and stores its result.
   * @returns whether there was an outcome
   * @throws {ServerError} @throws {IndeterminateError} @throws {ClosedError}
   */
  forget(key: string): Promise<boolean>;
}

/** Makes `hf.once`. `close` ends the pauses between two tries. */
export function makeOnce(parts: OnceParts): { readonly once: Once; close(): void } {
  const runs = new OnceRuns(parts);
  const { prefix } = parts.records;
  const run = async <Value>(
    key: string,
    work: (lease: Lease) => Promise<Value> | Value,
    options: OnceOptions,
  ): Promise<OnceResult<Value>> => {
    checkWork(work);
    return runs.run(checkOnce(prefix, key, options), work);
  };
  const forget = async (key: string): Promise<boolean> => tellCaller(runs.forget(checkForget(prefix, key)));
  const once = Object.assign(withoutSurplus(run, "once", 3) as typeof run, {
    forget: withoutSurplus(forget, "forget", 1),
  });
  return { once, close: () => runs.close() };
}
