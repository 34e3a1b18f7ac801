/** ProcessSettings: the options that every composition root takes, checked. */
import { InvalidArgumentError } from "./errors.js";
import { type Clock, systemClock } from "./time/clock.js";
import { type Duration, durationMs } from "./time/duration.js";
import { type Random, systemRandom } from "./time/random.js";

export interface ProcessOptions {
  /** Prefix of every key and channel. It must be the same in all processes that share locks. @default "holdfast" */
  readonly prefix?: string | undefined;
  /** Name of this process wherever people see who holds a lock. @default "" */
  readonly label?: string | undefined;
  /**
   * How long this process holds a lock before it opens its connection for messages, over which it hears at once that the lock was
   * taken away by hand. Without it, it learns so with its next renewal. "0ms": from the first lock on. @default "1s"
   */
  readonly listenAfter?: Duration | undefined;
  /** Time, for simulations and tests. @default the system's clocks and timers */
  readonly clock?: Clock | undefined;
  /** Randomness, for simulations and tests. @default the system's */
  readonly random?: Random | undefined;
}

export interface ProcessSettings {
  readonly prefix: string;
  readonly label: string;
  readonly callTimeoutMs: number;
  readonly listenAfterMs: number;
  readonly clock: Clock;
  readonly random: Random;
}

const DEFAULT_PREFIX = "holdfast";
const LONGEST_LABEL = 200;
const CALL_TIMEOUTS = { minMs: 10, maxMs: 600_000 };
const DEFAULT_LISTEN_AFTER_MS = 1_000;
const LISTEN_AFTERS = { minMs: 0, maxMs: 600_000 };

/** @throws {InvalidArgumentError} */
export function checkProcess(options: ProcessOptions, callTimeout: Duration): ProcessSettings {
  const { prefix = DEFAULT_PREFIX, label = "", clock = systemClock, random = systemRandom } = options;
  if (typeof prefix !== "string" || !/^[^\s{}]{1,200}$/.test(prefix)) {
    throw new InvalidArgumentError("prefix", "must be 1 to 200 characters without spaces and braces");
  }
  if (typeof label !== "string" || label.length > LONGEST_LABEL) {
    throw new InvalidArgumentError("label", `must be text of at most ${LONGEST_LABEL} characters`);
  }
  if (typeof clock?.now !== "function" || typeof clock.setTimer !== "function") {
    throw new InvalidArgumentError("clock", "must have now() and setTimer()");
  }
  if (typeof random?.fraction !== "function" || typeof random.id !== "function") {
    throw new InvalidArgumentError("random", "must have fraction() and id()");
  }
  return {
    prefix,
    label,
    callTimeoutMs: durationMs("callTimeout", callTimeout, CALL_TIMEOUTS),
    listenAfterMs: durationMs("listenAfter", options.listenAfter ?? DEFAULT_LISTEN_AFTER_MS, LISTEN_AFTERS),
    clock,
    random,
  };
}
