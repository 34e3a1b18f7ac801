/** The answer to a refused request: a problem document (RFC 9457), or the busy page. */
import { InvalidArgumentError } from "../errors.js";
import type { GuardVerdict } from "../guards/guard-settings.js";
import type { LimitResult } from "../limits/result.js";
import { busyPage, PAGE_POLICY } from "./busy-page.js";
import { seconds } from "./fields.js";

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A refused request, and the reason. */
export interface Refusal<Raw> {
  /**
   * - `limit`: the request is beyond a limit
   * - `penalty`: a penalty of the guard is in force
   * - `denied`: the guard's list denies the subject
   * - `outage`: Redis is unreachable, and the limit or guard is `"closed"` then
   * - `no-address`: the client has hung up, so its address is lost, and a rule needs it
   */
  readonly reason: "limit" | "penalty" | "denied" | "outage" | "no-address";
  readonly retryAfterMs: number | null;
  /** The results of all limits; empty where the guard refused first. */
  readonly results: readonly LimitResult[];
  /** The verdict of the guard; null without a guard. */
  readonly verdict: GuardVerdict | null;
  readonly request: Raw;
}

const IANA = "https://iana.org/assignments/http-problem-types";
/** Outages of Redis seldom last for less. */
const OUTAGE_RETRY_S = 5;

interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
}

/** A token of RFC 9110, and the octets that Node writes. */
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Headers that earlier middlewares may have set, and that are true of their body only. */
export const OF_ANOTHER_BODY = [
  "content-length",
  "content-encoding",
  "transfer-encoding",
  "trailer",
  "etag",
  "last-modified",
] as const;
/** How the body is sent is for the server to say. */
const SERVERS_OWN = ["transfer-encoding", "trailer", "upgrade"];
/** Responses of these statuses have no body. */
const NO_BODY = [204, 205, 304];

/**
 * What the option `answer` returned, or the usual answer where it returned nothing. Checked before anything is written, so
 * that an answer which cannot be sent is an error in every framework alike, and never lets the refused request on.
 * @throws {InvalidArgumentError}
 */
export function checkAnswer(given: unknown, usual: Answer): Answer {
  const answer = given === undefined ? usual : given;
  if (typeof answer !== "object" || answer === null)
    throw new InvalidArgumentError("answer", "must return { status, headers, body }, or nothing");
  const { status, headers, body } = answer as Record<keyof Answer, unknown>;
  if (!Number.isInteger(status) || (status as number) < 200 || (status as number) > 599)
    throw new InvalidArgumentError("answer", `must return a status from 200 to 599, not ${String(status)}`);
  if (typeof body !== "string")
    throw new InvalidArgumentError("answer", `must return the body as text, not ${typeof body}`);
  return { status: status as number, headers: checkHeaders(headers, body), body };
}

/** The headers, each name once: of two that differ in case only, the later one counts, as it does in Node. */
function checkHeaders(headers: unknown, body: string): Answer["headers"] {
  // The members of a Headers, a Map or a list are no properties, so they would be lost without a word.
  if (typeof headers !== "object" || headers === null || Symbol.iterator in headers)
    throw new InvalidArgumentError("answer", "must return headers as an object with a member for each");
  const byName = new Map<string, readonly [name: string, value: string]>();
  for (const [name, value] of Object.entries(headers)) {
    if (!HEADER_NAME.test(name))
      throw new InvalidArgumentError(
        "answer",
        `must not return a header with the name ${JSON.stringify(name)}`,
      );
    if (typeof value !== "string" || !HEADER_VALUE.test(value))
      throw new InvalidArgumentError(
        "answer",
        `must return text without control characters as the header ${name}, in Latin-1`,
      );
    checkFraming(name.toLowerCase(), value, body);
    byName.set(name.toLowerCase(), [name, value]);
  }
  return Object.fromEntries(byName.values());
}

/** A client waits for ever, or takes a part of the body for the next response, where a header belies the body. */
function checkFraming(name: string, value: string, body: string): void {
  const length = (): number => new TextEncoder().encode(body).length;
  const isWrong = name === "content-length" ? value !== `${length()}` : SERVERS_OWN.includes(name);
  if (isWrong)
    throw new InvalidArgumentError("answer", `must leave the header ${name} to the server: the body is text`);
}

/** An answer as a Response. */
export function toResponse({ status, headers, body }: Answer): Response {
  return new Response(NO_BODY.includes(status) ? null : body, { status, headers });
}

/** @param accept the value of the request's `Accept` */
export function answerOf(refusal: Refusal<unknown>, method: string, accept: string | null): Answer {
  const { reason, retryAfterMs, results, verdict } = refusal;
  const after = reason === "outage" ? OUTAGE_RETRY_S : retryAfterMs === null ? null : seconds(retryAfterMs);
  const common = {
    "cache-control": "no-store",
    ...(after === null ? {} : { "retry-after": `${Math.max(1, after)}` }),
  };
  if (reason === "penalty" && verdict?.penalty?.kind === "busy") {
    const headers = { ...common, vary: "Accept" };
    return (accept ?? "").includes("text/html")
      ? page(headers, retryAfterMs, method)
      : document(headers, problemOf(refusal, after), []);
  }
  const violated = results.filter((each) => !each.ok && !isClosed(each)).map(({ policy }) => policy.name);
  return document(common, problemOf(refusal, after), violated);
}

/** Whether Redis was unreachable and the policy is `"closed"`: then no limit was violated. */
export function isClosed({
  ok,
  source,
  retryAfterMs,
}: Pick<LimitResult, "ok" | "retryAfterMs"> & { source: string }): boolean {
  return !ok && source === "outage" && retryAfterMs === null;
}

function page(headers: Record<string, string>, retryAfterMs: number | null, method: string): Answer {
  return {
    status: 429,
    headers: {
      ...headers,
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": PAGE_POLICY,
    },
    body: busyPage(retryAfterMs, method === "GET" || method === "HEAD"),
  };
}

function document(headers: Record<string, string>, problem: Problem, violated: readonly string[]): Answer {
  const named = violated.length === 0 ? {} : { "violated-policies": violated };
  return {
    status: problem.status,
    headers: { ...headers, "content-type": "application/problem+json" },
    body: JSON.stringify({ ...problem, ...named }),
  };
}

function problemOf({ reason }: Refusal<unknown>, after: number | null): Problem {
  const later = after === null ? "It will not be allowed later." : `Try again in ${after} s.`;
  switch (reason) {
    case "limit":
      return {
        type: `${IANA}#quota-exceeded`,
        title: "Too many requests",
        status: 429,
        detail: `This request is beyond a limit. ${later}`,
      };
    case "penalty":
      return {
        type: `${IANA}#abnormal-usage-detected`,
        title: "Too many requests",
        status: 429,
        detail: `So many requests were sent that further ones are refused for a while. ${later}`,
      };
    case "denied":
      return {
        type: "urn:holdfast:problem:denied",
        title: "Not allowed",
        status: 403,
        detail: "Requests from here are not served.",
      };
    case "outage":
      return {
        type: `${IANA}#temporary-reduced-capacity`,
        title: "Temporarily unavailable",
        status: 503,
        detail: "Limits cannot be looked up at the moment. Try again later.",
      };
    case "no-address":
      return {
        type: "urn:holdfast:problem:no-address",
        title: "Address unknown",
        status: 400,
        detail: "The connection has no address any more, by which this request would have to be counted.",
      };
  }
}
