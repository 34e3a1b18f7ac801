/** The options of `consume()`, checked once. */
import { checkOptions, checkSignal } from "../arguments.js";
import { InvalidArgumentError } from "../errors.js";
import { type Duration, durationMs } from "../time/duration.js";
import type { Delivery, HeldDelivery } from "./delivery.js";

export interface ConsumeOptions<Handled = Delivery> {
  /** Most handlers at a time. @default 1 */
  readonly concurrency?: number | undefined;
  /** How long a message waits after a failed attempt. @default 1 s, doubled with each attempt, at most 1 min */
  readonly backoff?: Duration | ((attempt: number) => Duration) | undefined;
  /**
   * Longest run of a handler. Then its signal aborts, its attempt has failed, and its place is free. Infinity: without end. @default "30m"
   */
  readonly timeout?: Duration | undefined;
  /** Called for each attempt that failed: its handler threw, or took longer than `timeout`. @default the process is warned of the first */
  readonly onFailed?: ((error: unknown, delivery: Handled) => unknown) | undefined;
  /** Stops the consumer when it aborts. @default none */
  readonly signal?: AbortSignal | undefined;
}

/** What the options of a queue, or of lanes, say of its consumers. */
export interface ConsumerTerms {
  /** The attempt after which a failed message becomes a dead letter. Null: the options of other processes say it. */
  readonly lastAttempt: number | null;
}

export interface ConsumerSettings extends ConsumerTerms {
  readonly concurrency: number;
  readonly backoff: Duration | ((attempt: number) => Duration) | undefined;
  /** Infinity: none. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  readonly onFailed: ((error: unknown, delivery: HeldDelivery) => unknown) | undefined;
}

const DEFAULT_TIMEOUT = "30m";
const MOST_CONCURRENT = 10_000;
const LONGEST_MS = 10 * 365 * 86_400_000;

/** @throws {InvalidArgumentError} */
export function checkConsume<Handled>(
  options: ConsumeOptions<Handled>,
  { lastAttempt }: ConsumerTerms,
): ConsumerSettings {
  checkOptions("options", options, ["concurrency", "backoff", "timeout", "signal", "onFailed"]);
  const { concurrency = 1, backoff, timeout = DEFAULT_TIMEOUT } = options;
  const onFailed = options.onFailed as ConsumerSettings["onFailed"];
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > MOST_CONCURRENT)
    throw new InvalidArgumentError("concurrency", `must be a whole number, 1 to ${MOST_CONCURRENT}`);
  if (backoff !== undefined && typeof backoff !== "function") checkBackoff(backoff);
  const timeoutMs = durationMs("timeout", timeout, { minMs: 1, maxMs: Number.POSITIVE_INFINITY });
  const signal = checkSignal(options.signal);
  if (onFailed !== undefined && typeof onFailed !== "function")
    throw new InvalidArgumentError("onFailed", "must be a function");
  return { concurrency, onFailed, backoff, timeoutMs, signal, lastAttempt };
}

export function checkBackoff(backoff: Duration): number {
  return durationMs("backoff", backoff, { minMs: 0, maxMs: LONGEST_MS });
}
