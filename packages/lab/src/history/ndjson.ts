/**
 * Operations as lines of JSON, which outlive the process that wrote them. A bigint is `{"$bigint":"41"}`.
 *
 * Each operation is up to two lines: when it begins, of unknown outcome, and when it ends. A process that was killed
 * leaves the first, and maybe half a line.
 */
import { openSync, writeSync } from "node:fs";
import type { Operation } from "./operation.js";

interface WrittenBigint {
  readonly $bigint: string;
}

export function toLine(operation: Operation): string {
  return `${JSON.stringify(operation, (_, value) => (typeof value === "bigint" ? { $bigint: `${value}` } : value))}\n`;
}

/**
 * In the order written; an operation that ended is there twice.
 * @throws {Error} a line before the last is no operation.
 */
export function* fromLines(text: string): Generator<Operation> {
  const lines = text.split("\n");
  for (const [at, line] of lines.entries()) {
    // Only a line with its end was written whole: "…12" may be half of "…123".
    if (line === "" || at === lines.length - 1) continue;
    yield fromLine(line, at + 1);
  }
}

/** A sink for a Recorder: each line is with the system before the call returns, and stays when the process is killed. */
export function appendTo(path: string): (operation: Operation) => void {
  const file = openSync(path, "a");
  return (operation) => {
    const line = Buffer.from(toLine(operation));
    const written = writeSync(file, line);
    if (written < line.length) throw new Error(`${path}: ${written} of ${line.length} bytes written`);
  };
}

function fromLine(line: string, number: number): Operation {
  let read: unknown;
  try {
    read = JSON.parse(line, (_, value) => (isWrittenBigint(value) ? BigInt(value.$bigint) : value));
  } catch (cause) {
    throw new Error(`line ${number} is damaged`, { cause });
  }
  if (!isOperation(read)) throw new Error(`line ${number} is not an operation`);
  return read;
}

function isWrittenBigint(value: unknown): value is WrittenBigint {
  return (
    typeof value === "object" && value !== null && "$bigint" in value && typeof value.$bigint === "string"
  );
}

function isOperation(value: unknown): value is Operation {
  if (typeof value !== "object" || value === null) return false;
  const { process, seq, f, key, invMs, retMs, type } = value as Partial<Operation>;
  const isNamed = [process, f, key].every((name) => typeof name === "string");
  const isTimed =
    Number.isInteger(seq) && Number.isFinite(invMs) && (retMs === null || Number.isFinite(retMs));
  return isNamed && isTimed && (type === "ok" || type === "fail" || type === "info");
}
