/** Outcome: what a run leaves behind, as the JSON of its record. People read it there too. */
import { type Failure, OnceFailedError } from "../errors.js";
import { foreign } from "../redis/foreign.js";
import { encodeValue } from "../values.js";

/**
 * - `value`, `bytes`, `nothing`: the work returned JSON, bytes, or undefined
 * - `failed`: the work threw, and errors are stored
 * - `unstorable`: the work returned something that cannot be stored. It has run all the same, and must not run again
 */
export type Outcome =
  | { readonly outcome: "value"; readonly value: unknown }
  | { readonly outcome: "bytes"; readonly base64: string }
  | { readonly outcome: "nothing" }
  | { readonly outcome: "failed" | "unstorable"; readonly error: Failure };

const LONGEST_MESSAGE = 2_000;

/** The text of a record with what the work returned. @throws {InvalidArgumentError} it is neither JSON nor bytes, or too large */
export function textOfValue(value: unknown): string {
  if (value === undefined) return textOf({ outcome: "nothing" });
  if (!(value instanceof Uint8Array)) return textOfJson(value);
  encodeValue("result", value); // its size, before it is copied again
  const { buffer, byteOffset, byteLength } = value;
  const base64 = Buffer.from(buffer, byteOffset, byteLength).toString("base64");
  return textOf({ outcome: "bytes", base64 });
}

function textOfJson(value: unknown): string {
  try {
    return textOf({ outcome: "value", value });
  } catch (error) {
    encodeValue("result", value); // names the place as the caller knows it, without the object around it
    throw error;
  }
}

export function textOfError(outcome: "failed" | "unstorable", error: unknown): string {
  return textOf({ outcome, error: failureOf(error) });
}

function textOf(outcome: Outcome): string {
  return encodeValue("result", outcome);
}

/** What other callers may know of an error: no stack, and no fields of its own. */
function failureOf(error: unknown): Failure {
  try {
    return tellOf(error);
  } catch {
    return { name: "Error", message: "a value that has no text", code: null };
  }
}

function tellOf(error: unknown): Failure {
  const of = (error ?? {}) as {
    readonly name?: unknown;
    readonly message?: unknown;
    readonly code?: unknown;
  };
  const isError = error instanceof Error;
  return {
    name: isError ? clean(of.name) : "Error",
    message: isError ? clean(of.message) : clean(error),
    code: typeof of.code === "string" || typeof of.code === "number" ? clean(of.code) : null,
  };
}

function clean(text: unknown): string {
  return String(text).slice(0, LONGEST_MESSAGE).toWellFormed();
}

/**
 * What the record of a key says, for a caller that did not run.
 * @throws {OnceFailedError} the run failed
 * @throws {ServerError} somebody else wrote the record
 */
export function answerOf(key: string, recordKey: string, stored: unknown): unknown {
  const of = (typeof stored === "object" && stored !== null ? stored : {}) as Partial<Outcome>;
  switch (of.outcome) {
    case "value":
      if ("value" in of) return of.value;
      break;
    case "bytes":
      if ("base64" in of && typeof of.base64 === "string") {
        return new Uint8Array(Buffer.from(of.base64, "base64"));
      }
      break;
    case "nothing":
      return undefined;
    case "failed":
    case "unstorable":
      if ("error" in of && typeof of.error?.message === "string") {
        throw new OnceFailedError(key, of.error, of.outcome === "unstorable");
      }
  }
  throw foreign(recordKey);
}
