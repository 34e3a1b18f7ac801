/** Limiter: the shape that the gem's limits and groups share. */
import type { RateLimitValue } from "./value.js";

export interface IncrementOptions {
  /** The time of the increment, a Date or ms since 1970 (not seconds), by the server's clock. Only a `Limit` uses it. @default now */
  readonly time?: Date | number | undefined;
}

export interface Limiter {
  /**
   * Counts `amount`, or nothing where that would be more than `max`; of a group, for every limit or for none.
   * @throws {InvalidArgumentError} @throws {InvalidKeyError}
   * @throws {IndeterminateError} no answer: it may have been counted @throws {ServerError}
   */
  increment(amount?: number, options?: IncrementOptions): Promise<boolean>;
  /** Errors as for `increment`. @throws {LimitExceededError} names the limit that refused, of a group the first */
  incrementOrThrow(amount?: number, options?: IncrementOptions): Promise<void>;
  /** Reduces the used amount, at most to 0. Errors as for `increment`. @throws {DecrementNotSupportedError} */
  decrement(amount?: number, options?: IncrementOptions): Promise<boolean>;
  /** Whether `amount` would be too much now. Counts nothing. */
  exceeded(amount?: number): Promise<boolean>;
  /** The limit, of a group the first, for which `amount` would be too much now. */
  limitExceeded(amount?: number): Promise<SingleLimit | null>;
  /** The remaining amount; in a group that of the limit with the least, and null in an empty one. */
  remaining(): Promise<number | null>;
  /** Sets the used amount to 0. */
  reset(): Promise<void>;
  /** The limits of all groups within, in their order. */
  flatten(): SingleLimit[];
}

export interface SingleLimit extends Limiter {
  readonly action: string;
  readonly value: RateLimitValue;
  readonly max: number;
  /** In seconds; -1 has no end. */
  readonly period: number;
  used(): Promise<number>;
  remaining(): Promise<number>;
}
