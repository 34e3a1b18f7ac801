/** Values of records and signals, as a user sees them. */
import { jsonOf } from "./output.js";
import { printable } from "./text.js";

/** For `--json`: bytes are base64. */
export interface ShownValue {
  readonly value: unknown;
  readonly encoding: "json" | "base64";
}

export function shownValue(value: unknown): ShownValue {
  if (value instanceof Uint8Array)
    return { value: Buffer.from(value).toString("base64"), encoding: "base64" };
  return { value, encoding: "json" };
}

/** On one line: JSON, or base64 for bytes. */
export function valueText(value: unknown): string {
  const shown = shownValue(value);
  return shown.encoding === "json" ? jsonOf(shown.value) : String(shown.value);
}

/** Text without quotes and bytes as they are. On a terminal nothing of them may be a command to it. */
export function rawValue(value: unknown, isTerminal: boolean): string | Uint8Array {
  if (value instanceof Uint8Array) return isTerminal ? valueText(value) : value;
  if (typeof value !== "string") return valueText(value);
  return isTerminal ? value.split("\n").map(printable).join("\n") : value;
}
