/**
 * Values: what records, signals and the other nouns carry. A value is anything that JSON can carry unchanged, or bytes. It travels
 * as text, because some clients decode every reply as UTF-8: "j" and JSON, or "b" and base64.
 */
import { IndeterminateError, InvalidArgumentError } from "./errors.js";

const LARGEST_BYTES = 1_048_576;
/** Deeper values would overflow the stack of whoever walks through them, here or in a reader. */
const DEEPEST = 1_000;

/** @throws {InvalidArgumentError} JSON would lose a part of the value, or it is larger than 1 MiB */
export function encodeValue(argument: string, value: unknown): string {
  const text = value instanceof Uint8Array ? `b${toBase64(value)}` : `j${toJson(argument, value)}`;
  // A character has at most three bytes, or two of them have four.
  const bytes = text.length * 3 > LARGEST_BYTES ? Buffer.byteLength(text) : 0;
  if (bytes > LARGEST_BYTES) {
    throw new InvalidArgumentError(
      argument,
      `must have at most 1 MiB (${LARGEST_BYTES} bytes) as it is stored, not ${bytes}`,
    );
  }
  return text;
}

/** @throws {IndeterminateError} the text is not what `encodeValue` made */
export function decodeValue(text: string): unknown {
  const body = text.slice(1);
  if (text.startsWith("b")) return new Uint8Array(Buffer.from(body, "base64"));
  try {
    const value: unknown = text.startsWith("j") ? JSON.parse(body) : undefined;
    if (value !== undefined && (body.length <= 2 * DEEPEST || !isTooDeep(body))) return value;
  } catch {
    // Reported below.
  }
  throw new IndeterminateError("Redis holds a value that holdfast did not write");
}

/** JSON.parse() takes any depth, but those who write the value or show it would overflow their stack. */
function isTooDeep(json: string): boolean {
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    const sign = json[at];
    if (sign === '"') at = endOfString(json, at);
    else if (sign === "[" || sign === "{") depth += 1;
    else if (sign === "]" || sign === "}") depth -= 1;
    if (depth > DEEPEST) return true;
  }
  return false;
}

/** The place of the quote that ends the string which begins at `start`. */
function endOfString(json: string, start: number): number {
  let at = start + 1;
  while (json[at] !== '"') at += json[at] === "\\" ? 2 : 1;
  return at;
}

function toBase64({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("base64");
}

function toJson(argument: string, value: unknown): string {
  const seen = new Set<object>();
  const check = (one: unknown, path: string): void => {
    const problem = problemOf(one);
    if (problem) throw new InvalidArgumentError(argument, `must be JSON or bytes: ${path} is ${problem}`);
    if (typeof one !== "object" || one === null) return;
    if (seen.has(one))
      throw new InvalidArgumentError(argument, `must be JSON or bytes: ${path} contains itself`);
    if (seen.size === DEEPEST)
      throw new InvalidArgumentError(argument, `must have at most ${DEEPEST} levels`);
    seen.add(one);
    if (Array.isArray(one)) for (let at = 0; at < one.length; at += 1) check(one[at], `${path}[${at}]`);
    else for (const [key, part] of Object.entries(one)) check(part, `${path}.${key}`);
    seen.delete(one);
  };
  check(value, argument);
  return JSON.stringify(value);
}

/** What JSON would lose or change, in words; null: it carries this unchanged. */
function problemOf(value: unknown): string | null {
  switch (typeof value) {
    case "boolean":
      return null;
    case "number":
      return Number.isFinite(value) ? null : `${value}`;
    case "string":
      return value.isWellFormed() ? null : "text that is not well-formed Unicode";
    case "object":
      return value === null || isPlain(value) ? null : `an object of class ${nameOfClass(value)}`;
    default:
      return value === undefined ? "undefined" : `a ${typeof value}`;
  }
}

/** Any other object comes back as something else: a Date as text, a Map as {}. */
function isPlain(value: object): boolean {
  if ("toJSON" in value && typeof value.toJSON === "function") return false;
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  // The second: an object of another realm, such as a vm context.
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
}

function nameOfClass(value: object): string {
  return value.constructor?.name || "without a name";
}
