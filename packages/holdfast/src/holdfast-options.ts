/** The options of a Holdfast, checked. */
import { checkOptions } from "./arguments.js";
import { checkProcess, type ProcessOptions, type ProcessSettings } from "./process-settings.js";
import type { RedisClientLike } from "./redis/clients/connect.js";
import type { Duration } from "./time/duration.js";

export interface HoldfastOptions extends ProcessOptions {
  /** Time-out of one call to Redis. The outcome of a call that runs into it is unknown, not failed. @default "1s" */
  readonly callTimeout?: Duration | undefined;
  /**
   * A client, or a URL, for a replica of the server. Signals are heard there as well, so that neither connection is missed.
   * Nothing is sent to it but subscriptions. @default none
   */
  readonly replica?: RedisClientLike | string | undefined;
}

const DEFAULT_CALL_TIMEOUT_MS = 1_000;

/** @throws {InvalidArgumentError} */
export function settingsOf(options: HoldfastOptions): ProcessSettings {
  checkOptions("options", options, [
    "prefix",
    "label",
    "callTimeout",
    "listenAfter",
    "replica",
    "clock",
    "random",
  ]);
  const { callTimeout = DEFAULT_CALL_TIMEOUT_MS } = options;
  return checkProcess(options, callTimeout);
}
