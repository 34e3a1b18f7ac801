/** Values: the subjects of limits. A key contains a hash of the value's text. */
import { createHash } from "node:crypto";
import { InvalidArgumentError } from "holdfast";

/** A value with a text of its own, as `to_rate_limit_value` returns it in the gem. */
export interface RateLimited {
  toRateLimitValue(): string | number | bigint;
}

/** Values of the same text are the same: 7 and "7". null and undefined are the empty text. */
export type RateLimitValue = string | number | bigint | boolean | null | undefined | RateLimited | object;

/** The length of a SHA-256 in base64url. */
const LONGEST_HASH = 43;

/** @throws {InvalidArgumentError} an object that has no text of its own would be the same as all others */
export function textOf(value: RateLimitValue): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "object" && "toRateLimitValue" in value) return String(value.toRateLimitValue());
  if (typeof value === "function" || typeof value === "symbol" || String(value) === "[object Object]")
    throw new InvalidArgumentError("value", "has no text of its own: give it a method toRateLimitValue()");
  return String(value);
}

/** @throws {InvalidArgumentError} */
export function hashOf(text: string, length: number): string {
  if (!Number.isInteger(length) || length < 1 || length > LONGEST_HASH)
    throw new InvalidArgumentError("hashLength", `must be a whole number from 1 to ${LONGEST_HASH}`);
  return createHash("sha256").update(text).digest("base64url").slice(0, length);
}
