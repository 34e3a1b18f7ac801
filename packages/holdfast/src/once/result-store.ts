/** ResultStore: puts an outcome into its record, under the fence of the run. It tries again for a while, because the work has run. */
import {
  IndeterminateError,
  isPassing,
  type NotStoredReason,
  ResultNotStoredError,
  StaleTokenError,
} from "../errors.js";
import type { Lease } from "../lease/lease.js";
import type { RecordStore, RecordWrite } from "../records/record-store.js";
import { Pending } from "../time/pending.js";
import type { Schedule } from "../time/schedule.js";
import type { OnceTerms } from "./settings.js";

/** The longest time to try again; less when the ttl is less, because others wait for this run. */
const LONGEST_RETRY_MS = 30_000;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

export class ResultStore {
  readonly #records: RecordStore;
  readonly #schedule: Schedule;
  readonly #pauses = new Set<Pending<void>>();

  constructor(records: RecordStore, schedule: Schedule) {
    this.#records = records;
    this.#schedule = schedule;
  }

  /** @param value what the work returned, for the error. @throws {ResultNotStoredError} */
  async put({ key, target, ttlMs }: OnceTerms, lease: Lease, text: string, value: unknown): Promise<void> {
    const write: RecordWrite = { target, text, expected: "", fence: lease, keepMs: target.keepMs };
    // Copies of one write: the server knows the first by its number.
    const number = this.#records.nextNumber();
    const untilMs = this.#schedule.clock.now().monoMs + Math.min(ttlMs, LONGEST_RETRY_MS);
    const failed = (reason: NotStoredReason, cause: unknown): ResultNotStoredError =>
      new ResultNotStoredError({ key, fence: lease.fence, value, reason }, { cause });
    let isUnknown = false;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      try {
        const [outcome] = await this.#records.write([write], { number });
        if (outcome?.kind === "written") return;
        if (outcome?.kind === "stale") {
          throw failed("overtaken", new StaleTokenError(target.name, lease.fence, outcome.seen));
        }
        throw failed("unknown", undefined);
      } catch (error) {
        if (error instanceof ResultNotStoredError) throw error;
        isUnknown ||= error instanceof IndeterminateError;
        const leftMs = untilMs - this.#schedule.clock.now().monoMs;
        if (!isPassing(error) || leftMs <= 0) {
          throw failed(isUnknown ? "unknown" : "refused", error);
        }
        await this.#pause(Math.min(pauseMs, leftMs));
      }
    }
  }

  /** Ends the pauses, so that no timer is left. */
  close(): void {
    for (const pause of [...this.#pauses]) pause.resolve();
  }

  #pause(waitMs: number): Promise<void> {
    const pause: Pending<void> = new Pending<void>(this.#schedule, {
      waitMs,
      onTimeout: () => pause.resolve(),
      onEnd: () => void this.#pauses.delete(pause),
    });
    this.#pauses.add(pause);
    return pause.promise;
  }
}
