/** The options that queues and lanes have in common, checked once. */
import { checkOptions, checkWait, type WaitOptions } from "../arguments.js";
import { InvalidArgumentError } from "../errors.js";
import { type Duration, durationMs } from "../time/duration.js";
import type { WaitSettings } from "../time/pending.js";
import { encodeValue } from "../values.js";

/** They must be the same in all processes. */
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
export function checkReceive(options?: ReceiveOptions): ReceiveSettings {
  if (options === undefined) return DEFAULT_RECEIVE;
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

const DEFAULT_RECEIVE: ReceiveSettings = { ...checkWait({}), deadlineMs: undefined };

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
