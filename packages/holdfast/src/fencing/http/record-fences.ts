/** RecordFences: fences in Redis or Valkey, for servers of several processes. One record for each resource, for good. */
import { InvalidArgumentError, StaleTokenError } from "../../errors.js";
import type { Fenced } from "../fenced.js";
import type { FenceStore } from "./http-fence.js";
import { digestOf } from "./resource-digest.js";

/** Records have names of at most 512 characters. */
const LONGEST_NAME = 512;
const LONGEST_PREFIX = 400;

/** A `Holdfast`, as far as it is needed. */
export interface FencedRecords {
  record(name: string): { get(options: { readonly fence: Fenced }): Promise<unknown> };
}

export class RecordFences implements FenceStore {
  readonly #records: FencedRecords;
  readonly #prefix: string;

  /**
   * @param records a Holdfast
   * @param prefix before the names of its records. Records have no expiry, because a fence that forgets protects nothing. A resource
   * whose name would be longer than 512 characters is remembered under `sha256:` and its digest
   */
  constructor(records: FencedRecords, prefix = "http:") {
    if (typeof records?.record !== "function")
      throw new InvalidArgumentError("records", "must be a Holdfast");
    if (typeof prefix !== "string" || prefix.length > LONGEST_PREFIX || prefix.includes("}"))
      throw new InvalidArgumentError(
        "prefix",
        `must be text of at most ${LONGEST_PREFIX} characters, without }`,
      );
    this.#records = records;
    this.#prefix = prefix;
  }

  /** @throws {ServerError} @throws {IndeterminateError} entering again is safe */
  async enter(resource: string, holder: Fenced): Promise<bigint | null> {
    try {
      await this.#records.record(this.#nameOf(resource)).get({ fence: holder });
      return null;
    } catch (error) {
      if (error instanceof StaleTokenError) return error.seen;
      throw error;
    }
  }

  /** A client may choose the path. Where it cannot be the name of a record, its digest is. */
  #nameOf(resource: string): string {
    const name = `${this.#prefix}${resource}`;
    const isName =
      name.length <= LONGEST_NAME &&
      !name.startsWith("}") &&
      !name.includes("}:record:") &&
      name.isWellFormed();
    return isName ? name : `${this.#prefix}${digestOf(resource)}`;
  }
}
