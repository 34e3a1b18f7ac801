/** Durations as callers give them: a number of milliseconds, or text such as "10s" where people type. */
import { InvalidArgumentError } from "../errors.js";

/**
 * Milliseconds, or a whole number and a unit without a space: "500ms", "10s", "5m", "1h", "7d". The compiler refuses
 * "10 s" and "1.5s", and text made of a `number` as well: give milliseconds there, `seconds * 1_000`.
 */
export type Duration = number | `${bigint}${"ms" | "s" | "m" | "h" | "d"}`;

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

export interface DurationBounds {
  readonly minMs: number;
  readonly maxMs: number;
}

export const ANY_DURATION: DurationBounds = { minMs: 0, maxMs: Number.POSITIVE_INFINITY };

/** @throws {InvalidArgumentError} names the argument, what it was and what it may be. */
export function durationMs(argument: string, value: unknown, bounds: DurationBounds): number {
  const ms = typeof value === "string" ? parse(argument, value) : value;
  if (typeof ms !== "number" || Number.isNaN(ms)) {
    throw new InvalidArgumentError(
      argument,
      `must be milliseconds, or text such as "10s", not ${show(value)}`,
    );
  }
  if (!(ms >= bounds.minMs && ms <= bounds.maxMs)) {
    throw new InvalidArgumentError(
      argument,
      `must be ${bounds.minMs} to ${bounds.maxMs} ms, not ${show(value)}`,
    );
  }
  if (Number.isFinite(ms) && !Number.isInteger(ms)) {
    throw new InvalidArgumentError(argument, `must be whole milliseconds, not ${show(value)}`);
  }
  return ms;
}

/** What texts mean that were parsed before: a program has few. */
const known = new Map<string, number>();
const MOST_KNOWN = 64;

function parse(argument: string, text: string): number {
  const before = known.get(text);
  if (before !== undefined) return before;
  const match = /^(\d+)(ms|s|m|h|d)$/.exec(text);
  if (!match) {
    throw new InvalidArgumentError(
      argument,
      `must be a whole number and a unit (ms, s, m, h, d), such as "10s", not ${show(text)}`,
    );
  }
  const ms = Number(match[1]) * (UNIT_MS[match[2] as string] as number);
  if (known.size < MOST_KNOWN) known.set(text, ms);
  return ms;
}

/** Formats a given value for an error message. */
export function show(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "object" && value !== null) return "an object";
  return typeof value === "bigint" ? `${value}n` : String(value);
}
