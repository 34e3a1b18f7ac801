/** RecordFences: fences in Redis or Valkey, for servers of several processes. One record for each resource, for good. */
import { InvalidArgumentError, StaleTokenError } from "../../errors.js";
import type { Fenced } from "../fenced.js";
import type { FenceStore } from "./http-fence.js";

/** What is needed of a `Holdfast`. */
export interface FencedRecords {
  fencedRecord(name: string): { enter(holder: Fenced): Promise<unknown> };
}

export class RecordFences implements FenceStore {
  readonly #records: FencedRecords;
  readonly #prefix: string;

  /**
   * @param records a Holdfast
   * @param prefix before the names of its records, which have no expiry: a fence that forgets protects nothing
   */
  constructor(records: FencedRecords, prefix = "http:") {
    if (typeof records?.fencedRecord !== "function")
      throw new InvalidArgumentError("records", "must be a Holdfast");
    this.#records = records;
    this.#prefix = prefix;
  }

  /**
   * @throws {ServerError} @throws {IndeterminateError} entering again is safe
   * @throws {InvalidArgumentError} the name is longer than that of a record may be
   */
  async enter(resource: string, holder: Fenced): Promise<bigint | null> {
    try {
      await this.#records.fencedRecord(`${this.#prefix}${resource}`).enter(holder);
      return null;
    } catch (error) {
      if (error instanceof StaleTokenError) return error.seen;
      throw error;
    }
  }
}
