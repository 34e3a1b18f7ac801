/** Failures: who hears of a failed attempt of a consumer, and how its message goes back. */
import type { AsyncResource } from "node:async_hooks";
import { isHeard, publish } from "../telemetry/events.js";
import { warnOnce } from "../telemetry/warnings.js";
import { jittered, type Random } from "../time/random.js";
import { type ConsumerSettings, checkBackoff } from "./consume-options.js";
import type { HeldDelivery, Settling } from "./delivery.js";

const FIRST_BACKOFF_MS = 1_000;
const LONGEST_BACKOFF_MS = 60_000;
/** What is kept of the error of a handler. */
const LONGEST_REASON = 500;

/** The delivery, as the events of a consumer name it. */
export function about(
  queue: string,
  { lane, id, token, attempt }: HeldDelivery,
): { queue: string } & Pick<HeldDelivery, "lane" | "id" | "token" | "attempt"> {
  return { queue, lane, id, token, attempt };
}

export class Failures {
  readonly #queue: string;
  readonly #settings: ConsumerSettings;
  readonly #random: Random;
  readonly #context: AsyncResource;

  constructor(queue: string, settings: ConsumerSettings, random: Random, context: AsyncResource) {
    this.#queue = queue;
    this.#settings = settings;
    this.#random = random;
    this.#context = context;
  }

  /** Tells of the failure. Returns how the message goes back. */
  settling(delivery: HeldDelivery, error: unknown, tookMs: number): Settling {
    const { lastAttempt, onFailed } = this.#settings;
    const { attempt } = delivery;
    if (!onFailed && !isHeard("holdfast:queue:failed")) {
      const why = `a handler of ${this.#name} failed, and nothing in this process hears of it: ${quoted(error)}`;
      warnOnce(
        "HOLDFAST_UNHEARD",
        `${why}; pass onFailed to consume(), or subscribe to holdfast:queue:failed`,
      );
    }
    const isLast = lastAttempt === null ? null : attempt >= lastAttempt;
    const told = () => ({ ...about(this.#queue, delivery), error, isLast, tookMs: Math.round(tookMs) });
    publish("holdfast:queue:failed", told, this.#context);
    if (onFailed) void this.#context.runInAsyncScope(() => this.#call(() => onFailed(error, delivery)));
    return { kind: "return", delayMs: this.#backoffMs(attempt), isAttempt: true, reason: reasonOf(error) };
  }

  /** Tells that the result of a handler cannot be stored. */
  tellUnstored(delivery: HeldDelivery, error: unknown): void {
    const why = `a handler of ${this.#name} returned what cannot be stored, so its message is done without a result`;
    warnOnce("HOLDFAST_UNSTORED", `${why}: ${quoted(error)}`);
    publish("holdfast:queue:unstored", () => ({ ...about(this.#queue, delivery), error }), this.#context);
  }

  /** Tells that so many handlers still run after their time-out that the consumer takes nothing more. */
  tellStuck(handlers: number): void {
    const why = `a consumer of ${this.#name} takes nothing more: handlers that still run after their timeout: ${handlers}`;
    warnOnce("HOLDFAST_STUCK", `${why}; end a handler when the signal of its delivery aborts`);
    publish("holdfast:queue:stuck", () => ({ queue: this.#queue, handlers }), this.#context);
  }

  get #name(): string {
    return JSON.stringify(this.#queue);
  }

  async #call(onFailed: () => unknown): Promise<void> {
    try {
      await onFailed();
    } catch (error) {
      warnOnce("HOLDFAST_UNHEARD", `onFailed of ${this.#name} failed: ${quoted(error)}`);
    }
  }

  #backoffMs(attempt: number): number {
    const { backoff } = this.#settings;
    try {
      if (typeof backoff === "function") return checkBackoff(backoff(attempt));
      if (backoff !== undefined) return checkBackoff(backoff);
    } catch {
      // The default serves.
    }
    const doubledMs = FIRST_BACKOFF_MS * 2 ** Math.min(attempt - 1, 20);
    return Math.ceil(jittered(this.#random, Math.min(doubledMs, LONGEST_BACKOFF_MS)));
  }
}

function quoted(error: unknown): string {
  return JSON.stringify(reasonOf(error));
}

function reasonOf(error: unknown): string {
  return textOf(error).slice(0, LONGEST_REASON).toWellFormed();
}

/** Programs throw anything, also objects that cannot be made text. */
function textOf(error: unknown): string {
  try {
    const text = String(error instanceof Error ? error.message || error.name : error);
    if (text !== "") return text;
  } catch {
    // It has no text.
  }
  return "an error without a text";
}
