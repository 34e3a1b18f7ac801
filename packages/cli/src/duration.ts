/** Durations as they are typed, and as they are shown. */
import { InvalidArgumentError, Option } from "commander";

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

const ALLOWED = "a whole number and a unit (ms, s, m, h, d), such as 500ms or 10s";

/** "500ms", "10s", "5m", "1h", "7d", or 0. */
export function parseDuration(text: string): number {
  return typed(text, `Give ${ALLOWED}.`);
}

/** As above, or "forever". */
export function parseWait(text: string): number {
  if (text === "forever") return Number.POSITIVE_INFINITY;
  return typed(text, `Give 0 for one try, ${ALLOWED}, or forever.`);
}

/** As above, but not 0. */
export function parseKeep(text: string): number {
  if (text === "forever") return Number.POSITIVE_INFINITY;
  const allowed = `Give ${ALLOWED}, or forever.`;
  const keepMs = typed(text, allowed);
  if (keepMs === 0) throw new InvalidArgumentError(allowed);
  return keepMs;
}

/** An option that takes a duration. */
export function durationOption(
  flags: string,
  description: string,
  parse: (text: string) => number,
  byDefault: string,
): Option {
  return new Option(flags, description).argParser(parse).default(parse(byDefault), byDefault);
}

/** `--ttl` of a command that holds a lease while it runs another one. */
export const ttlOption = (): Option =>
  durationOption("--ttl <duration>", "time until the lease expires without a renewal", parseDuration, "30s");

/** `--grace` of a command that ends what it runs when it has lost `what`. */
export const graceOption = (what = "the lease"): Option =>
  durationOption("--grace <duration>", `from SIGTERM to SIGKILL when ${what} is lost`, parseDuration, "10s");

function typed(text: string, allowed: string): number {
  if (text === "0") return 0;
  const [, count, unit = ""] = /^(\d+)(ms|s|m|h|d)$/.exec(text) ?? [];
  if (count === undefined) throw new InvalidArgumentError(allowed);
  return Number(count) * (UNIT_MS[unit] as number);
}

const MINUTE_S = 60;
const HOUR_S = 3_600;
const DAY_S = 86_400;

/** Two units at most, as a person would say it: "0.4 s", "12 s", "3 m 20 s", "2 d 4 h". */
export function showDuration(ms: number): string {
  const seconds = Math.max(ms, 0) / 1_000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < MINUTE_S) return `${whole} s`;
  if (whole < HOUR_S) return `${Math.floor(whole / MINUTE_S)} m ${whole % MINUTE_S} s`;
  if (whole < DAY_S) return `${Math.floor(whole / HOUR_S)} h ${Math.floor((whole % HOUR_S) / MINUTE_S)} m`;
  return `${Math.floor(whole / DAY_S)} d ${Math.floor((whole % DAY_S) / HOUR_S)} h`;
}
