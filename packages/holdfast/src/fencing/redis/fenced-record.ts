/**
 * FencedRecord: a value in Redis that refuses holders who were overtaken.
 *
 * A lease can end while its holder is paused or its write is under way. The record remembers the
 * newest token that it has served, and refuses older ones, whatever the late holder believes.
 *
 * Enter before the first read: a fence raised only by the write lets an older holder write between a
 * newer one's read and write, and that update is lost.
 */
import { Part } from "../../part.js";
import { fencedKey } from "../../redis/keys.js";
import type { RedisPort } from "../../redis/port.js";
import type { Fenced } from "../fenced.js";
import type { RecordPlace, RecordState } from "./record-calls.js";

export const recordCalls = new Part(() => import("./record-calls.js"));

export class FencedRecord {
  readonly name: string;
  /**
   * The Redis key: a hash of token, holder and value, without an expiry, because a fence that forgets
   * protects nothing. Delete it only when no holder of an older lease can still write.
   */
  readonly key: string;
  readonly #place: RecordPlace;

  /** Made by `hf.fencedRecord(name)`. */
  constructor(port: RedisPort, prefix: string, name: string, callTimeoutMs: number) {
    this.name = name;
    this.key = fencedKey(prefix, name);
    this.#place = { port, prefix, name, callTimeoutMs };
  }

  /**
   * Raises the fence to this holder's token and returns the value, null when there is none.
   * @throws {StaleTokenError} a newer holder was here; names both tokens
   * @throws {ServerError} @throws {IndeterminateError} entering again is safe
   */
  async enter(holder: Fenced): Promise<string | null> {
    return (await recordCalls.load()).enter(this.#place, holder);
  }

  /** Replaces the value. Errors as for `enter`; after an IndeterminateError the same write may be repeated. */
  async write(holder: Fenced, value: string): Promise<void> {
    await (await recordCalls.load()).write(this.#place, holder, value);
  }

  /** The value and the newest token, without any guard: for onlookers, not for holders. */
  async read(): Promise<RecordState> {
    return (await recordCalls.load()).read(this.#place);
  }
}
