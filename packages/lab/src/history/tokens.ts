/** L1 and L2: fencing tokens of one key are unique, and rise with time. Terms of an election obey the same. */
import type { Operation } from "./operation.js";
import { byKey, ms, type Violation } from "./violation.js";

export interface TokenOptions {
  /** The operations that are granted tokens. @default ["acquire"] */
  readonly f?: readonly string[];
  /** Violations to report for each key. @default 20 */
  readonly most?: number;
  /**
   * Whether a grant is of the whole. A part rises above an earlier whole, and not above a part: parts are held beside each other, and
   * one that was granted before may be passed on. @default every grant is
   */
  readonly isWhole?: (grant: Operation) => boolean;
}

const LARGEST = 2n ** 64n - 1n;

/**
 * Reads what was granted: "ok", and "info" whose token is known from elsewhere (a server's log). The latter may have
 * been granted at any time after it began, so nothing began after it. "info" without a token says nothing.
 *
 * A grant without a token breaks L1: a checker that passed over it would praise a run in which no token was issued.
 */
export function checkTokens(operations: Iterable<Operation>, options: TokenOptions = {}): Violation[] {
  const f = options.f ?? ["acquire"];
  const violations: Violation[] = [];
  for (const [key, all] of byKey(operations)) {
    const grants = all.filter((one) => f.includes(one.f) && one.type !== "fail" && isGrant(one));
    const bare = grants.find(({ token }) => !isToken(token));
    if (bare) violations.push(withoutToken(key, bare));
    else violations.push(...ofKey(key, grants, options));
  }
  return violations;
}

function isGrant({ type, token }: Operation): boolean {
  return type === "ok" || token !== undefined;
}

function isToken(token: bigint | undefined): token is bigint {
  return token !== undefined && token >= 0n && token <= LARGEST;
}

/**
 * One pass in the order of the tokens. A grant with a smaller token must have begun before this one returned, so the
 * latest beginning among the smaller tokens decides L2.
 */
function ofKey(
  key: string,
  grants: readonly Operation[],
  { most = 20, isWhole = () => true }: TokenOptions,
): Violation[] {
  const sorted = grants.toSorted((a, b) => (a.token! < b.token! ? -1 : Number(a.token! > b.token!)));
  const violations: Violation[] = [];
  let latest: Operation | undefined;
  let latestWhole: Operation | undefined;
  /** Grants before this place have smaller tokens than the one that is looked at. */
  let smaller = 0;
  for (let at = 0; at < sorted.length && violations.length < most; at++) {
    const grant = sorted[at]!;
    const before = sorted[at - 1];
    if (before?.token === grant.token) violations.push(twice(key, before!, grant));
    else
      for (; smaller < at; smaller++) {
        const one = sorted[smaller]!;
        if (!latest || one.invMs > latest.invMs) latest = one;
        if (isWhole(one) && (!latestWhole || one.invMs > latestWhole.invMs)) latestWhole = one;
      }
    const above = isWhole(grant) ? latest : latestWhole;
    if (above && above.invMs > returnedMs(grant)) violations.push(fallen(key, grant, above));
  }
  return violations;
}

function returnedMs({ type, retMs }: Operation): number {
  return type === "ok" ? (retMs ?? Infinity) : Infinity;
}

function twice(key: string, a: Operation, b: Operation): Violation {
  const message = `${a.process} and ${b.process} were both granted "${key}" with token ${a.token}`;
  return { property: "L1", key, operations: [a, b], message, atMs: seenMs(a, b) };
}

function fallen(key: string, earlier: Operation, later: Operation): Violation {
  const message =
    `${later.process} asked for "${key}" at ${ms(later.invMs)} and was granted token ${later.token}, although ` +
    `${earlier.process} had been granted the larger token ${earlier.token} at ${ms(earlier.retMs)}`;
  return { property: "L2", key, operations: [earlier, later], message, atMs: seenMs(earlier, later) };
}

function seenMs(a: Operation, b: Operation): number {
  return Math.max(a.retMs ?? a.invMs, b.retMs ?? b.invMs);
}

function withoutToken(key: string, grant: Operation): Violation {
  const said =
    grant.token === undefined ? "without a token" : `with the token ${grant.token}, which none can be`;
  const message = `${grant.process} was granted "${key}" ${said}`;
  const atMs = grant.retMs ?? grant.invMs;
  return { property: "L1", key, operations: [grant], message, atMs };
}
