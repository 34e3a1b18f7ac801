/** RecordStore: the records of one process in Redis. It numbers the writes, so that the server knows a copy that a client resends. */
import { ClosedError, StaleTokenError } from "../errors.js";
import type { Fenced } from "../fencing/fenced.js";
import type { RedisContext } from "../redis/context.js";
import { notAnAnswer, replyRow } from "../redis/reply.js";
import { toldByVersion, WatchedStates } from "../redis/watched-state.js";
import type { Stream } from "../stream.js";
import { script as enterScript } from "./lua/enter.lua.js";
import { script as writeScript } from "./lua/write.lua.js";
import type { RecordTarget, WriteConditions } from "./settings.js";
import {
  decodeStored,
  type PutOutcome,
  parseFields,
  parseOutcome,
  RECORD_FIELDS,
  type RecordReading,
  type StoredRecord,
  versionOf,
  type WriteOutcome,
} from "./state.js";

export type RecordContext = Pick<
  RedisContext,
  "port" | "prefix" | "callTimeoutMs" | "random" | "schedule" | "watcher" | "place" | "self"
>;

/** One write of a record, ready to be sent. */
export interface RecordWrite {
  readonly target: RecordTarget;
  /** The value as text; null deletes. */
  readonly text: string | null;
  /** 16 digits; "0": no version ever; "none": no value; "": any. */
  readonly expected: string;
  readonly fence: Fenced | null;
  readonly keepMs: number;
}

/** How an update asks for its turn: see write.lua. */
export interface UpdateClaim {
  /** The server's clock when the update first failed; "0" before that. */
  readonly since: string;
  readonly holdMs: number;
}

type PutRefusal = Exclude<PutOutcome, { readonly kind: "written" }>;

interface WriteCall {
  readonly number?: number;
  readonly claim?: UpdateClaim | null;
  readonly together?: boolean;
}

interface WatchedRecord extends StoredRecord {
  /** Until the record ends; null: never, or unknown. */
  readonly endsInMs: number | null;
}

/** `<version> <keep ms, 0: for ever> <value, "-": none, "": not in the message>` */
const MESSAGE = /^(\d{16}) (\d+) (.*)$/s;

export class RecordStore {
  readonly #context: RecordContext;
  readonly #watched: WatchedStates<WatchedRecord>;
  readonly #writer: string;
  #number = 0;
  #closed = false;

  constructor(context: RecordContext) {
    this.#context = context;
    this.#watched = new WatchedStates(context);
    this.#writer = context.random.id();
  }

  get prefix(): string {
    return this.#context.prefix;
  }

  /** The writes of one slot can be sent in one call. */
  slotOf({ key }: RecordTarget): number {
    return this.#context.port.slotOf(key);
  }

  /** A number for a write. It must be the same when the same write is sent again. */
  nextNumber(): number {
    return ++this.#number;
  }

  /** One command, and one more for a value that ends before its fence or its version. */
  async read({ key }: RecordTarget): Promise<RecordReading> {
    this.#assertOpen();
    const { port, callTimeoutMs } = this.#context;
    const read = parseFields(key, await port.command(["HMGET", key, ...RECORD_FIELDS], callTimeoutMs));
    if (read.endsMs === null) return read;
    const [seconds, us] = replyRow(await port.command(["TIME"], callTimeoutMs), 2);
    const endsInMs = read.endsMs - (Number(seconds) * 1_000 + Number(us) / 1_000);
    return endsInMs > 0 ? { ...read, endsInMs } : { ...read, text: null };
  }

  /** Raises the fence, and reads. @throws {StaleTokenError} */
  async enter(target: RecordTarget, holder: Fenced): Promise<RecordReading> {
    this.#assertOpen();
    const { port, callTimeoutMs } = this.#context;
    const args = [String(holder.fence), holder.id, keepText(target.keepMs)];
    const reply = replyRow(await port.script(enterScript, [target.key], args, callTimeoutMs), 1);
    const [entered, first = null, value = null] = reply;
    if (String(entered) === "0" && /^\d+$/.test(String(first)))
      throw new StaleTokenError(target.name, holder.fence, BigInt(String(first)));
    if (String(entered) !== "1" || reply.length > 3) throw notAnAnswer(reply);
    return parseFields(target.key, [first, value, String(holder.fence), null]);
  }

  /**
   * Writes in one call.
   * @param call `number`: of an earlier call, when this is a copy of it. `together`: all or none, which is the default
   */
  async write(
    writes: readonly RecordWrite[],
    { number = this.nextNumber(), claim = null, together = true }: WriteCall = {},
  ): Promise<WriteOutcome[]> {
    this.#assertOpen();
    const { port, callTimeoutMs, place } = this.#context;
    const keys = writes.map(({ target }) => target.key);
    const holdUs = Math.ceil((claim?.holdMs ?? 0) * 1_000);
    const args = [this.#writer, String(number), claim?.since ?? "", String(holdUs), together ? "1" : "0"];
    args.push(place.word);
    for (const { target, text, expected, fence, keepMs } of writes) {
      const token = fence ? String(fence.fence) : "";
      args.push(
        text ?? "",
        expected,
        token,
        fence?.id ?? "",
        keepText(keepMs),
        keepText(target.keepMs),
        target.key,
      );
    }
    const rows = replyRow(await port.script(writeScript, keys, args, callTimeoutMs), keys.length);
    return keys.map((key, place) => parseOutcome(key, rows[place]));
  }

  /** One put, in a call of its own. */
  async put(write: RecordWrite, call: WriteCall = {}): Promise<PutOutcome> {
    const [outcome] = await this.write([write], call);
    if (!outcome || outcome.kind === "other") throw notAnAnswer(null);
    if (outcome.kind !== "written") return outcome;
    if (outcome.version === null) throw notAnAnswer(null);
    return { kind: "written", version: outcome.version };
  }

  /** Whether there was a value. */
  async delete(
    write: RecordWrite,
  ): Promise<{ readonly kind: "written"; readonly existed: boolean } | PutRefusal> {
    const [outcome] = await this.write([write]);
    if (!outcome || outcome.kind === "other") throw notAnAnswer(null);
    return outcome.kind === "written" ? { kind: "written", existed: outcome.version !== null } : outcome;
  }

  /** The present state of a record, and then each newer one. */
  watch(target: RecordTarget, signal: AbortSignal | undefined): Stream<RecordChange<unknown> | null> {
    const { key } = target;
    const source = {
      channel: key,
      read: () => this.#readWatched(target),
      told: toldByVersion(parseMessage),
      changesInMs: ({ endsInMs }: WatchedRecord) => endsInMs,
    };
    return this.#watched.stream(
      source,
      ({ text, version }) =>
        text === null ? null : { value: decodeStored(key, text), version: BigInt(version) },
      (a, b) => versionOf(a) === versionOf(b),
      signal,
    );
  }

  close(): void {
    this.#closed = true;
    this.#watched.close();
  }

  /** Two commands of one batch. The end is only a time to look again, so it may belong to a later write. */
  async #readWatched(target: RecordTarget): Promise<WatchedRecord> {
    const { port, callTimeoutMs } = this.#context;
    const [stored, left] = await Promise.all([
      this.read(target),
      port.command(["PTTL", target.key], callTimeoutMs),
    ]);
    if (stored.text !== null) decodeStored(target.key, stored.text); // a value of somebody else ends the watch
    const keyEndsInMs = Number(left) >= 0 ? Number(left) + 1 : null;
    return { text: stored.text, version: stored.version, endsInMs: stored.endsInMs ?? keyEndsInMs };
  }

  #assertOpen(): void {
    if (this.#closed) throw new ClosedError("a call to a record came after hf.close()");
  }
}

/** The value and version that a watch yields. */
export interface RecordChange<Value> {
  readonly value: Value;
  readonly version: bigint;
}

function parseMessage(text: string): WatchedRecord | null {
  const [, version, keep, value] = MESSAGE.exec(text) ?? [];
  if (version === undefined || value === undefined || value === "") return null;
  if (value === "-") return { text: null, version, endsInMs: null };
  return { text: value, version, endsInMs: keep === "0" ? null : Number(keep) + 1 };
}

function keepText(keepMs: number): string {
  return Number.isFinite(keepMs) ? String(keepMs) : "";
}

/** The text by which a script knows the version that a caller expects. */
export function expectedText(version: WriteConditions["version"]): string {
  if (version === null) return "";
  if (version === 0n) return "none";
  return String(version).padStart(16, "0");
}
