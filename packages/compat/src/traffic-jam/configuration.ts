/** The gem's settings: the client, the keys, and the limits that are registered. Periods are in seconds, as there. */
import { InvalidArgumentError, type RedisClientLike } from "holdfast";
import { checkOptions } from "../options.js";
import { LimitNotFoundError } from "./errors.js";

/** The limit that is registered for an action. */
export interface Registered {
  readonly max: number;
  /** Seconds. */
  readonly period: number;
}

export const DEFAULT_KEY_PREFIX = "traffic_jam";
export const DEFAULT_HASH_LENGTH = 22;

export interface ConfigurationOptions {
  /** The client. Required, before the first limit is used. */
  readonly redis?: RedisClientLike | null | undefined;
  /** Before every key: the prefix of the Holdfast underneath. @default "traffic_jam" */
  readonly keyPrefix?: string | undefined;
  /** Number of characters of a value's hash in its key, 1 to 43. @default 22 */
  readonly hashLength?: number | undefined;
}

export class Configuration {
  redis: RedisClientLike | null;
  keyPrefix: string;
  hashLength: number;
  readonly #registered = new Map<string, Registered>();

  /** @throws {InvalidArgumentError} */
  constructor(options: ConfigurationOptions = {}) {
    checkOptions("options", options, ["redis", "keyPrefix", "hashLength"]);
    this.redis = options.redis ?? null;
    this.keyPrefix = options.keyPrefix ?? DEFAULT_KEY_PREFIX;
    this.hashLength = options.hashLength ?? DEFAULT_HASH_LENGTH;
  }

  /** Registers the limit that `limit(action, value)` makes. The last call for an action counts. */
  register(action: string, max: number, period: number): void {
    if (typeof action !== "string" || action === "")
      throw new InvalidArgumentError("action", "must be text, and not empty");
    if (typeof max !== "number") throw new InvalidArgumentError("max", "must be a number");
    if (typeof period !== "number") throw new InvalidArgumentError("period", "must be a number of seconds");
    this.#registered.set(action, { max, period });
  }

  /** @throws {LimitNotFoundError} */
  max(action: string): number {
    return this.limits(action).max;
  }

  /** In seconds. @throws {LimitNotFoundError} */
  period(action: string): number {
    return this.limits(action).period;
  }

  /** @throws {LimitNotFoundError} */
  limits(action: string): Registered {
    const registered = this.#registered.get(action);
    if (!registered) throw new LimitNotFoundError(action);
    return registered;
  }
}

/** The configuration of every limit that is given no other. */
export const configOfAll = new Configuration();
