/** The options of queues, checked once. */
import { checkOptions, checkWait, checkWord, type WaitOptions } from "../arguments.js";
import { InvalidArgumentError, type QueueOrder } from "../errors.js";
import { type Duration, durationMs } from "../time/duration.js";
import type { WaitSettings } from "../time/pending.js";
import { encodeValue } from "../values.js";

/** The options that queues and lanes have in common. They must be the same in all processes. */
export interface DeliveryOptions {
  /** Most messages that wait, are delayed or in flight together; in lanes, of each lane. @default Infinity */
  readonly maxLength?: number | undefined;
  /** Most bytes of a body as it is stored: JSON, or base64 of bytes; at most 1 MiB. @default 262_144 */
  readonly maxBytes?: number | undefined;
  /**
   * How long a delivery is kept for its process after the process was last heard of; 1 s to 1 d. The process extends the deliveries of
   * `consume()` by itself. @default "30s"
   */
  readonly deadline?: Duration | undefined;
  /** Attempts at a message before it becomes a dead letter; Infinity: never. The end of a process is counted apart. @default 5 */
  readonly maxAttempts?: number | undefined;
  /** Number of dead letters that are kept, the newest. @default 10_000 */
  readonly keepDead?: number | undefined;
  /** How long results and the outcomes of dead letters are kept; at least 1 s. @default "1h" */
  readonly keepResults?: Duration | undefined;
}

export interface QueueOptions extends DeliveryOptions {
  /**
   * "fifo": the oldest message first. "lifo": the newest first. The first process that names an order gives it to the queue; another
   * is refused from then on.
   * @default the order of the queue, which is "fifo" until somebody names one
   */
  readonly order?: QueueOrder | undefined;
  /**
   * What happens to a push when `maxLength` is reached. "refuse": it rejects with QueueFullError. "drop-oldest": the oldest waiting
   * messages are deleted. @default "refuse"
   */
  readonly whenFull?: "refuse" | "drop-oldest" | undefined;
}

export interface DeliverySettings {
  /** Infinity: no bound. */
  readonly maxLength: number;
  readonly maxBytes: number;
  readonly deadlineMs: number;
  /** Infinity: no bound. */
  readonly maxAttempts: number;
  readonly keepDead: number;
  readonly keepResultsMs: number;
}

export interface QueueSettings extends DeliverySettings {
  /** Null: whatever the queue has. */
  readonly order: QueueOrder | null;
  readonly dropsOldest: boolean;
}

const DEFAULT_MAX_BYTES = 262_144;
export const LARGEST_MAX_BYTES = 1_048_576;
const DEFAULT_DEADLINE_MS = 30_000;
const SHORTEST_DEADLINE_MS = 1_000;
const LONGEST_DEADLINE_MS = 86_400_000;
const DEFAULT_MAX_ATTEMPTS = 5;
const DEFAULT_KEEP_DEAD = 10_000;
const MOST_DEAD = 1_000_000;
const DEFAULT_KEEP_MS = 3_600_000;
const LONGEST_KEEP_MS = 100 * 365 * 86_400_000;
const LARGEST_COUNT = Number.MAX_SAFE_INTEGER;
export const DELIVERY_OPTIONS = [
  "maxLength",
  "maxBytes",
  "deadline",
  "maxAttempts",
  "keepDead",
  "keepResults",
] as const;

/** @throws {InvalidArgumentError} */
export function checkQueue(options: QueueOptions = {}): QueueSettings {
  checkOptions("options", options, ["order", "whenFull", ...DELIVERY_OPTIONS]);
  const { order = null, whenFull = "refuse" } = options;
  if (order !== null && order !== "fifo" && order !== "lifo")
    throw new InvalidArgumentError("order", 'must be "fifo" or "lifo"');
  if (whenFull !== "refuse" && whenFull !== "drop-oldest")
    throw new InvalidArgumentError("whenFull", 'must be "refuse" or "drop-oldest"');
  return { ...checkDeliveries(options), order, dropsOldest: whenFull === "drop-oldest" };
}

/** Checks what queues and lanes have in common. The names of the options are checked by the caller. @throws {InvalidArgumentError} */
export function checkDeliveries(options: DeliveryOptions): DeliverySettings {
  const { maxLength = Infinity, maxBytes = DEFAULT_MAX_BYTES, deadline, maxAttempts, keepDead } = options;
  return {
    maxLength: checkCount("maxLength", maxLength, { most: LARGEST_COUNT, orInfinity: true }),
    maxBytes: checkCount("maxBytes", maxBytes, { most: LARGEST_MAX_BYTES }),
    deadlineMs: checkDeadline(deadline ?? DEFAULT_DEADLINE_MS),
    maxAttempts: checkCount("maxAttempts", maxAttempts ?? DEFAULT_MAX_ATTEMPTS, {
      most: LARGEST_COUNT,
      orInfinity: true,
    }),
    keepDead: checkCount("keepDead", keepDead ?? DEFAULT_KEEP_DEAD, { least: 0, most: MOST_DEAD }),
    keepResultsMs: durationMs("keepResults", options.keepResults ?? DEFAULT_KEEP_MS, {
      minMs: 1_000,
      maxMs: LONGEST_KEEP_MS,
    }),
  };
}

/** @throws {InvalidArgumentError} */
function checkDeadline(deadline: Duration): number {
  return durationMs("deadline", deadline, { minMs: SHORTEST_DEADLINE_MS, maxMs: LONGEST_DEADLINE_MS });
}

/** Checks the options of a `receive()`. @throws {InvalidArgumentError} */
export function checkReceive(options: ReceiveOptions): ReceiveSettings {
  checkOptions("options", options, ["wait", "signal", "deadline"]);
  const { deadline } = options;
  return { ...checkWait(options), deadlineMs: deadline === undefined ? undefined : checkDeadline(deadline) };
}

export interface ReceiveOptions extends WaitOptions {
  /** How long the delivery is kept for this process, unless `extend()` moves it. @default the queue's `deadline` */
  readonly deadline?: Duration | undefined;
}

interface ReceiveSettings extends WaitSettings {
  /** Undefined: that of the queue, or of the lanes. */
  readonly deadlineMs: number | undefined;
}

interface CountBounds {
  readonly least?: number;
  readonly most: number;
  readonly orInfinity?: boolean;
}

/** @throws {InvalidArgumentError} */
export function checkCount(
  argument: string,
  count: unknown,
  { least = 1, most, orInfinity = false }: CountBounds,
): number {
  if (orInfinity && count === Number.POSITIVE_INFINITY) return count;
  if (typeof count === "number" && Number.isInteger(count) && count >= least && count <= most) return count;
  const upTo = most === LARGEST_COUNT ? `from ${least}` : `from ${least} to ${most}`;
  throw new InvalidArgumentError(
    argument,
    `must be a whole number ${upTo}${orInfinity ? ", or Infinity" : ""}`,
  );
}

/** The text of a body as Redis keeps it. @throws {InvalidArgumentError} it is neither JSON nor bytes, or larger than `maxBytes` */
export function encodeBody(argument: string, body: unknown, maxBytes: number): string {
  const text = encodeValue(argument, body);
  // A character has at most three bytes, or two of them have four.
  if (text.length * 3 <= maxBytes) return text;
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxBytes) return text;
  throw tooLarge(argument, bytes, maxBytes);
}

export function tooLarge(argument: string, bytes: number, maxBytes: number): InvalidArgumentError {
  return new InvalidArgumentError(
    argument,
    `must have at most ${maxBytes} bytes as it is stored, not ${bytes}: keep it elsewhere and push its key, or raise maxBytes`,
  );
}

export interface PushOptions {
  /** Delivers the message no earlier than after this time; up to 10 years. @default 0 */
  readonly delay?: Duration | undefined;
  /**
   * Pushes nothing when a push with this id came within the last `for`. The id is then free again, also where the message still waits.
   * `for` is at most 1 year. @default none; `for`: "1h"
   */
  readonly dedupe?: { readonly id: string; readonly for?: Duration | undefined } | undefined;
}

export interface PushManyOptions {
  /** Delivers the messages no earlier than after this time; up to 10 years. @default 0 */
  readonly delay?: Duration | undefined;
  /**
   * Pushes only the messages whose id, in the order of the bodies, was not pushed within `for`: 1 ms to 365 days. @default none; for: "1h"
   */
  readonly dedupe?: { readonly ids: readonly string[]; readonly for?: Duration | undefined } | undefined;
}

export interface PushExtras {
  readonly delayMs: number;
  readonly dedupe: { readonly id: string; readonly forMs: number } | null;
}

const LONGEST_DELAY_MS = 10 * 365 * 86_400_000;
const LONGEST_DEDUPE_MS = 365 * 86_400_000;
const DEFAULT_DEDUPE_MS = 3_600_000;

/** Null: no options. @throws {InvalidArgumentError} */
export function checkPush(options: PushOptions): PushExtras | null {
  checkOptions("options", options, ["delay", "dedupe"]);
  const { delay, dedupe } = options;
  if (delay === undefined && dedupe === undefined) return null;
  return { delayMs: checkDelay(delay), dedupe: dedupe === undefined ? null : checkDedupe(dedupe) };
}

/** Null: no options. @param count of the bodies @throws {InvalidArgumentError} */
export function checkPushMany(options: PushManyOptions, count: number): readonly PushExtras[] | null {
  checkOptions("options", options, ["delay", "dedupe"]);
  const delayMs = checkDelay(options.delay);
  const { dedupe } = options;
  if (dedupe === undefined)
    return delayMs === 0 ? null : Array.from({ length: count }, () => ({ delayMs, dedupe: null }));
  checkOptions("dedupe", dedupe, ["ids", "for"]);
  if (!Array.isArray(dedupe.ids) || dedupe.ids.length !== count)
    throw new InvalidArgumentError("dedupe.ids", `must be a list of ${count} ids, one for each body`);
  const forMs = checkDedupeFor(dedupe.for);
  return Array.from(dedupe.ids as readonly string[], (id, place) => {
    return { delayMs, dedupe: { id: checkWord(`dedupe.ids[${place}]`, id), forMs } };
  });
}

/** @throws {InvalidArgumentError} */
function checkDelay(delay: Duration | undefined): number {
  return delay === undefined ? 0 : durationMs("delay", delay, { minMs: 0, maxMs: LONGEST_DELAY_MS });
}

function checkDedupe(dedupe: NonNullable<PushOptions["dedupe"]>): NonNullable<PushExtras["dedupe"]> {
  checkOptions("dedupe", dedupe, ["id", "for"]);
  const id = checkWord("dedupe.id", dedupe.id);
  return { id, forMs: checkDedupeFor(dedupe.for) };
}

function checkDedupeFor(time: Duration | undefined): number {
  const bounds = { minMs: 1, maxMs: LONGEST_DEDUPE_MS };
  return durationMs("dedupe.for", time ?? DEFAULT_DEDUPE_MS, bounds);
}

/** Ids are the decimal text of a number. @throws {InvalidArgumentError} */
export function checkId(argument: string, id: unknown): string {
  if (typeof id === "string" && /^\d{16}$/.test(id)) return id;
  throw new InvalidArgumentError(argument, "must be the id of a message, which is 16 digits");
}
