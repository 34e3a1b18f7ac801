/** Refusals as documents that programs can read (RFC 9457). */

export const PROBLEM_TYPE = "application/problem+json";

interface Problem {
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  /** Stable, as the codes of errors are; the last part of `type`. */
  readonly code: string;
  readonly [member: string]: string | number;
}

export function problemResponse(problem: Problem): Response {
  const type = `urn:holdfast:problem:${problem.code.toLowerCase().replaceAll("_", "-")}`;
  const headers = { "content-type": PROBLEM_TYPE, "cache-control": "no-store" };
  return new Response(JSON.stringify({ type, ...problem }), { status: problem.status, headers });
}
