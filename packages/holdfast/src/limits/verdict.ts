/** Verdict: what the script answers to one charge, and the result that a caller receives for it. */
import type { Reply } from "../redis/port.js";
import type { GroupResult, LimitResult, LimitSource } from "./result.js";
import type { LimitSettings } from "./settings.js";

export interface Verdict {
  readonly ok: boolean;
  /** The cost that was taken ahead. */
  readonly extra: number;
  readonly remaining: number;
  /** Time in µs until the same cost would be admitted; -1: never. */
  readonly retryUs: number;
  /** Time in µs until nothing is used; -1: never. */
  readonly resetUs: number;
  /** When the script decided, in µs since 1970 by the server's clock. */
  readonly nowUs: number;
}

export const inVerdict = 4;

/** The value of `taken` for a group that met an error, whose text follows. */
const FAILED = -1;

/** The error of the group whose first verdict is at `place`. Null: it met none. */
export function problemIn(reply: readonly Reply[], place: number): string | null {
  const at = 1 + place * inVerdict;
  // A client may have been told to return numbers as text, so an error is known by its number and not by its type.
  return Number(reply[at]) === FAILED ? String(reply[at + 1]) : null;
}

export function readVerdict(reply: readonly Reply[], place: number): Verdict {
  const at = 1 + place * inVerdict;
  const taken = Number(reply[at]);
  return {
    ok: taken > 0,
    extra: Math.max(0, taken - 1),
    remaining: Number(reply[at + 1]),
    retryUs: Number(reply[at + 2]),
    resetUs: Number(reply[at + 3]),
    nowUs: Number(reply[0]),
  };
}

export function toResult(
  { policy }: LimitSettings,
  { ok, remaining, retryUs, resetUs }: Verdict,
): LimitResult {
  return {
    ok,
    remaining,
    retryAfterMs: toMs(retryUs),
    resetMs: toMs(resetUs),
    policy,
    source: "redis",
  };
}

/** Rounded up: a retry must not come too early. */
function toMs(us: number): number | null {
  return us < 0 ? null : Math.ceil(us / 1_000);
}

/** The result of a limit that admits nothing, for which Redis is not asked. */
export function nothing({ policy }: LimitSettings, cost: number): LimitResult {
  const ok = cost <= 0;
  return { ok, remaining: 0, retryAfterMs: ok ? 0 : null, resetMs: 0, policy, source: "cache" };
}

export function toGroupResult(
  results: readonly LimitResult[],
  source: LimitSource,
  atMs: number | null,
): GroupResult {
  return {
    ok: results.every(({ ok }) => ok),
    remaining: Math.min(...results.map(({ remaining }) => remaining)),
    retryAfterMs: longest(results.map(({ retryAfterMs }) => retryAfterMs)),
    resetMs: longest(results.map(({ resetMs }) => resetMs)),
    violated: results.filter(({ ok }) => !ok).map(({ policy }) => policy),
    results,
    source,
    atMs,
  };
}

function longest(times: readonly (number | null)[]): number | null {
  let most = 0;
  for (const time of times) {
    if (time === null) return null;
    most = Math.max(most, time);
  }
  return most;
}

/** The result of a charge that is made although it may not fit. The part that does not fit is never charged. */
export function toOverrun(result: LimitResult, isAll: boolean): LimitResult {
  return { ...result, ok: isAll, retryAfterMs: isAll ? 0 : null };
}

/** Who decided: an outage if there was one, else Redis if it was asked. */
export function combineSources(results: readonly LimitResult[]): LimitSource {
  const sources = results.map(({ source }) => source);
  return (
    sources.find((source) => source === "outage") ?? sources.find((source) => source === "redis") ?? "cache"
  );
}
