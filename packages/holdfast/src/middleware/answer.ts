/** What a refused request is answered: a problem document (RFC 9457), or the busy page. */
import type { GuardVerdict } from "../limits/guard-verdict.js";
import type { LimitResult } from "../limits/result.js";
import { busyPage, PAGE_POLICY } from "./busy-page.js";
import { seconds } from "./fields.js";

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Why a request does not go on. */
export interface Refusal<Raw> {
  /**
   * - `limit`: it is beyond a limit
   * - `penalty`: its subject is punished
   * - `denied`: its subject is on the guard's list
   * - `outage`: Redis cannot be asked, and the limit or guard is closed then
   * - `no-address`: a rule goes by the client's address, which is not known any more: the client has hung up
   */
  readonly reason: "limit" | "penalty" | "denied" | "outage" | "no-address";
  readonly retryAfterMs: number | null;
  /** Of every limit, where they were asked. */
  readonly results: readonly LimitResult[];
  /** Of the guard, where it was asked. */
  readonly verdict: GuardVerdict | null;
  readonly request: Raw;
}

const IANA = "https://iana.org/assignments/http-problem-types";
/** Redis is seldom away for less. */
const OUTAGE_RETRY_S = 5;

interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
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

/** Refused because nobody could be asked: what it is a limit of was not violated. */
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
