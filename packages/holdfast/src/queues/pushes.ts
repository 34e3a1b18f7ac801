/** QueuePushes: what a producer sends to a queue, and how it takes the answers. */

import type { PushBatch, Pushes, PushItem } from "../deliveries/producer.js";
import { type HoldfastError, IndeterminateError, QueueFullError } from "../errors.js";
import { publish } from "../telemetry/events.js";
import type { PushExtras } from "./settings.js";

/** A message of which the queue has a copy now. */
export interface Pushed {
  /** The id of the message: 16 digits, larger with each message of the queue. */
  readonly id: string;
  /** False: a message with the same id for dedupe was pushed before, and `id` is its id. Nothing was pushed. */
  readonly isNew: boolean;
}

export interface QueueItem extends PushItem {
  readonly extras: PushExtras | null;
}

export interface PushRequest {
  /** Rises. The same number again is the same request again. */
  readonly seq: number;
  readonly bodies: readonly string[];
  /** All or none; else as many as fit, in order. */
  readonly isWhole: boolean;
  /** For each body; null: no body has any. */
  readonly extras: readonly (PushExtras | null)[] | null;
}

export interface PushAnswer {
  /** At the places of the bodies; a place is empty where the queue was full. */
  readonly pushed: readonly Pushed[];
  /** The length of the queue afterwards. */
  readonly length: number;
  /** How many of the oldest messages were displaced. */
  readonly dropped: number;
}

/** The scripts of one queue, with the queue's options. */
export interface PushScripts {
  readonly name: string;
  readonly settings: { readonly maxLength: number };
  push(request: PushRequest, timeoutMs: number): Promise<PushAnswer>;
}

export class QueuePushes implements Pushes<QueueItem, Pushed> {
  readonly #scripts: PushScripts;

  constructor(scripts: PushScripts) {
    this.#scripts = scripts;
  }

  async send(
    { seq, items, isWhole }: PushBatch<QueueItem>,
    timeoutMs: number,
  ): Promise<readonly (Pushed | HoldfastError)[]> {
    const { name, settings } = this.#scripts;
    const request: PushRequest = {
      seq,
      bodies: items.map(({ body }) => body),
      isWhole,
      extras: items.some(({ extras }) => extras) ? items.map(({ extras }) => extras) : null,
    };
    const { pushed, length, dropped } = await this.#scripts.push(request, timeoutMs);
    if (dropped > 0) publish("holdfast:queue:dropped", () => ({ queue: name, count: dropped }));
    return items.map((_, place) => pushed[place] ?? new QueueFullError(name, length, settings.maxLength));
  }

  unanswered(item: QueueItem | undefined, cause: HoldfastError): IndeterminateError {
    const remedy = item?.extras?.dedupe
      ? "push again with the same dedupe id"
      : "a push with a dedupe id can be repeated";
    return new IndeterminateError(`a push to '${this.#scripts.name}' had no answer: ${remedy}`, { cause });
  }
}
