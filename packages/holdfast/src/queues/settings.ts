/** The options of queues, checked once. */
import { checkOptions, checkWord } from "../arguments.js";
import {
  checkDeliveries,
  DELIVERY_OPTIONS,
  type DeliveryOptions,
  type DeliverySettings,
} from "../deliveries/settings.js";
import { InvalidArgumentError, type QueueOrder } from "../errors.js";
import { type Duration, durationMs } from "../time/duration.js";

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

export interface QueueSettings extends DeliverySettings {
  /** Null: whatever the queue has. */
  readonly order: QueueOrder | null;
  readonly dropsOldest: boolean;
}

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
