/**
 * Response fields that describe the limits to a client: the two structured fields (RFC 9651) of
 * draft-ietf-httpapi-ratelimit-headers-11, and the fields of earlier drafts.
 */
import { InvalidArgumentError } from "../errors.js";
import type { LimitResult } from "../limits/result.js";
import type { LimitPolicy } from "../limits/settings.js";
import { types } from "../limits/types.js";

/**
 * - `draft-11`: `RateLimit-Policy: "login";q=5;w=60` and `RateLimit: "login";r=4;t=12`, a member for each limit: within
 *   the next `t` seconds no more than `r` can be had
 * - `draft-7`: `RateLimit: limit=5, remaining=4, reset=12`, of the limit that is nearest to its end
 * - `draft-6`: `RateLimit-Limit`, `-Remaining` and `-Reset`, likewise
 * - `legacy`: `X-RateLimit-Limit`, `-Remaining` and `-Reset` (seconds since 1970), likewise
 *
 * The reset of the older fields is the end of the same time.
 */
export type FieldStyle = "draft-11" | "draft-7" | "draft-6" | "legacy";

export interface Field {
  readonly name: string;
  readonly value: string;
  /** Whether the field is a list, to which several middlewares may add. */
  readonly isList: boolean;
}

/** Times in results are rounded up to whole milliseconds. */
const ROUNDED_MS = 1;

const styles: readonly FieldStyle[] = ["draft-11", "draft-7", "draft-6", "legacy"];

/** @throws {InvalidArgumentError} */
export function checkStyles(headers: unknown = "draft-11"): readonly FieldStyle[] {
  if (headers === false) return [];
  const given = (Array.isArray(headers) ? headers : [headers]) as FieldStyle[];
  if (!given.every((style) => styles.includes(style)))
    throw new InvalidArgumentError("headers", `must be of ${styles.join(", ")}, or false`);
  if (given.filter((style) => style.startsWith("draft")).length > 1)
    throw new InvalidArgumentError("headers", "may have one draft: they give one name different meanings");
  return given;
}

export function fieldsOf(given: readonly FieldStyle[], all: readonly LimitResult[], wallMs: number): Field[] {
  // A limit that was charged for several targets has one member. A limit that Redis did not answer for has no remaining cost.
  const names = [...new Set(all.map(({ policy }) => policy.name))];
  const results = names.map(
    (name) => nearest(all.filter(({ policy }) => policy.name === name)) as LimitResult,
  );
  const known = results.filter(({ source }) => source !== "outage");
  return given.flatMap((style) => {
    const fields =
      style === "draft-11" ? structured(results, known) : older[style](nearest(known), results, wallMs);
    return fields.filter(({ value }) => value !== "");
  });
}

/** Writes fields in addition to those of the response: a list has one member for each limit. */
export function writeFields(
  fields: readonly Field[],
  get: (name: string) => string | null,
  set: (name: string, value: string) => void,
): void {
  for (const { name, value, isList } of fields) {
    const before = isList ? membersOf(get(name) ?? "") : [];
    const names = membersOf(value).map(nameOf);
    set(name, [...before.filter((member) => !names.includes(nameOf(member))), value].join(", "));
  }
}

function structured(results: readonly LimitResult[], known: readonly LimitResult[]): Field[] {
  const policies = results.map(({ policy }) => {
    const window = policy.perMs === null ? "" : `;w=${seconds(policy.perMs)}`;
    return `${text(policy.name)};q=${policy.max}${window}`;
  });
  const limits = known.map((result) => {
    const endMs = endOf(result);
    return `${text(result.policy.name)};r=${result.remaining}${endMs === null ? "" : `;t=${seconds(endMs)}`}`;
  });
  return [
    { name: "RateLimit-Policy", value: policies.join(", "), isList: true },
    { name: "RateLimit", value: limits.join(", "), isList: true },
  ];
}

const older = {
  "draft-7": (result: LimitResult | null, results: readonly LimitResult[]): Field[] => [
    { name: "RateLimit-Policy", value: olderPolicies(results), isList: false },
    {
      name: "RateLimit",
      value: result
        ? `limit=${result.policy.max}, remaining=${result.remaining}, reset=${seconds(endOf(result) ?? 0)}`
        : "",
      isList: false,
    },
  ],
  "draft-6": (result: LimitResult | null, results: readonly LimitResult[]): Field[] => [
    { name: "RateLimit-Policy", value: olderPolicies(results), isList: false },
    ...three("RateLimit", result, (endMs) => seconds(endMs)),
  ],
  legacy: (result: LimitResult | null, _: readonly LimitResult[], wallMs: number): Field[] =>
    three("X-RateLimit", result, (endMs) => seconds(wallMs + endMs)),
} as const;

function three(prefix: string, result: LimitResult | null, resetOf: (endMs: number) => number): Field[] {
  if (!result) return [];
  const values = {
    Limit: result.policy.max,
    Remaining: result.remaining,
    Reset: resetOf(endOf(result) ?? 0),
  };
  return Object.entries(values).map(([name, value]) => ({
    name: `${prefix}-${name}`,
    value: `${value}`,
    isList: false,
  }));
}

function olderPolicies(results: readonly LimitResult[]): string {
  return results
    .flatMap(({ policy: { max, perMs } }) => (perMs === null ? [] : [`${max};w=${seconds(perMs)}`]))
    .join(", ");
}

/** The limit for a field with room for one: the refusal that lasts longest, else the limit with the least remaining. */
function nearest(results: readonly LimitResult[]): LimitResult | null {
  const retryOf = ({ retryAfterMs }: LimitResult): number => retryAfterMs ?? Number.POSITIVE_INFINITY;
  const refused = results.filter(({ ok }) => !ok);
  if (refused.length > 0)
    return refused.reduce((last, each) => (retryOf(each) > retryOf(last) ? each : last));
  return results.reduce<LimitResult | null>(
    (least, each) => (least && least.remaining <= each.remaining ? least : each),
    null,
  );
}

/**
 * The time in which no more than `remaining` can be had, refused or not; null if it has no end, or the end is not known. A
 * client that keeps to it is not refused.
 */
function endOf({ ok, retryAfterMs, resetMs, policy }: LimitResult): number | null {
  if (resetMs === null || policy.max === 0) return null;
  const endMs = nextMs(policy, resetMs, ok ? null : retryAfterMs);
  // The refused cost is more than the remaining one. Both times are rounded, but Retry-After is never the earlier.
  return ok || retryAfterMs === null ? endMs : Math.min(endMs, retryAfterMs);
}

/** The time until more is free than now. */
function nextMs({ type, max, perMs }: LimitPolicy, resetMs: number, retryAfterMs: number | null): number {
  // Only a refusal has the time at which the oldest charge expires. The expiry of the newest is later, and so safe.
  const { frees } = types[type];
  if (frees === "singly") return retryAfterMs ?? resetMs;
  if (perMs === null || frees !== "evenly") return resetMs;
  const unitMs = perMs / max;
  const used = Math.ceil((resetMs - ROUNDED_MS) / unitMs);
  return resetMs - Math.max(0, used - 1) * unitMs;
}

/** Rounded up, because a second late is better than too early. */
export function seconds(ms: number): number {
  return Math.ceil(ms / 1_000);
}

/** A String of RFC 9651, which is printable ASCII. Other characters and % are written as in a URL: no two names look alike. */
function text(name: string): string {
  const ascii = name.replace(/[^\x20-\x7e]+|%/gu, encodeURIComponent);
  return `"${ascii.replace(/["\\]/g, "\\$&")}"`;
}

/** The members of a list as `structured` writes it. */
function membersOf(list: string): string[] {
  return [...list.matchAll(/(?:"(?:[^"\\]|\\.)*"|[^",])+/g)].map(([member]) => member.trim());
}

function nameOf(member: string): string {
  return /^"(?:[^"\\]|\\.)*"/.exec(member)?.[0] ?? member;
}
