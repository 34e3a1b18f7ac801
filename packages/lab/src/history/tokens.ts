/** L1 and L2: fencing tokens of one key are unique, and rise with time. Terms of an election obey the same. */
import type { Operation } from "./operation.js";
import { checkTokenColumns, type TokenPair } from "./token-columns.js";
import { byKey, ms, type Violation } from "./violation.js";

export interface TokenOptions {
  /** The operations that are granted tokens. @default ["acquire"] */
  readonly f?: readonly string[];
  /** Violations to report for each key. @default 20 */
  readonly most?: number;
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
    else violations.push(...ofKey(key, grants, options.most));
  }
  return violations;
}

function isGrant({ type, token }: Operation): boolean {
  return type === "ok" || token !== undefined;
}

function isToken(token: bigint | undefined): token is bigint {
  return token !== undefined && token >= 0n && token <= LARGEST;
}

function ofKey(key: string, grants: readonly Operation[], most?: number): Violation[] {
  const invMs = new Float64Array(grants.length);
  const retMs = new Float64Array(grants.length);
  const token = new BigUint64Array(grants.length);
  for (const [row, grant] of grants.entries()) {
    invMs[row] = grant.invMs;
    retMs[row] = grant.type === "ok" ? (grant.retMs ?? Infinity) : Infinity;
    token[row] = grant.token!;
  }
  return checkTokenColumns({ invMs, retMs, token }, most).map((pair) => explain(key, grants, pair));
}

function explain(
  key: string,
  grants: readonly Operation[],
  { property, first, second }: TokenPair,
): Violation {
  const [a, b] = [grants[first]!, grants[second]!];
  const message =
    property === "L1"
      ? `${a.process} and ${b.process} were both granted "${key}" with token ${a.token}`
      : `${a.process} asked for "${key}" at ${ms(a.invMs)} and was granted token ${a.token}, although ${b.process} ` +
        `had been granted the larger token ${b.token} at ${ms(b.retMs)}`;
  const atMs = Math.max(a.retMs ?? a.invMs, b.retMs ?? b.invMs);
  return { property, verdict: "broken", key, operations: property === "L1" ? [a, b] : [b, a], message, atMs };
}

function withoutToken(key: string, grant: Operation): Violation {
  const said =
    grant.token === undefined ? "without a token" : `with the token ${grant.token}, which none can be`;
  const message = `${grant.process} was granted "${key}" ${said}`;
  const atMs = grant.retMs ?? grant.invMs;
  return { property: "L1", verdict: "broken", key, operations: [grant], message, atMs };
}
