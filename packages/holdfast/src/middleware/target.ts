/** Targets: the text under which a limit counts a request, or a guard its subject. */
import { createHash } from "node:crypto";
import { InvalidArgumentError } from "../errors.js";

/** An attacker may have typed the key. A longer one is replaced by its digest. */
const LONGEST_KEY = 200;

/**
 * The target, or subject, under which a key is counted. It is the key itself, or `sha256:` and its digest where the key is
 * longer than 200 characters or could not be part of a key of Redis.
 * @throws {InvalidArgumentError} the key is not text
 */
export function targetOf(key: string): string {
  if (typeof key !== "string") throw new InvalidArgumentError("key", `must be text, not ${typeof key}`);
  const isPlain = key !== "" && key.length <= LONGEST_KEY && !key.startsWith("}") && key.isWellFormed();
  return isPlain ? key : `sha256:${createHash("sha256").update(key, "utf16le").digest("base64url")}`;
}

/**
 * The text that one of the caller's functions returned; null for nobody. Numbers are taken as text, because ids often are
 * numbers. All objects would share one text, and so one count.
 * @throws {InvalidArgumentError}
 */
export function checkKey(argument: string, key: unknown): string | null {
  if (key === null || key === undefined) return null;
  if (typeof key === "string") return key;
  if (typeof key === "bigint" || Number.isFinite(key)) return `${key}`;
  throw new InvalidArgumentError(argument, `must return text, null or undefined, not ${describe(key)}`);
}

/** A value in few words, for the text of an error. */
export function describe(value: unknown): string {
  if (typeof value === "number" || value === null) return `${value}`;
  return value instanceof Promise ? "a promise" : typeof value;
}
