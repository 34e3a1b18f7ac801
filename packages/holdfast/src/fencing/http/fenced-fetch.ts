/** The client's side: requests that name their holder, and refusals that are typed errors. */
import { StaleTokenError } from "../../errors.js";
import type { Fenced } from "../fenced.js";
import { fencingHeaders } from "./headers.js";
import { PROBLEM_TYPE } from "./problem.js";

export type FetchFunction = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/**
 * `fetch` on behalf of a holder: adds the headers, and rejects with a StaleTokenError where the server refuses the token.
 * The caller receives every other answer. It does not check the lease: call `lease.check()` before it, and pass
 * `{ signal: lease.signal }`.
 * @throws {InvalidArgumentError}
 */
export function fencedFetch(holder: Fenced, fetch: FetchFunction = globalThis.fetch): FetchFunction {
  const own = Object.entries(fencingHeaders(holder));
  return async (input, init) => {
    const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined));
    for (const [name, value] of own) headers.set(name, value);
    const response = await fetch(input, { ...init, headers });
    const refusal = await refusalIn(response);
    if (refusal === null) return response;
    // The connection is free again once the body is cancelled.
    await response.body?.cancel();
    throw new StaleTokenError(refusal.resource ?? response.url, holder.fence, refusal.seen);
  };
}

/** The members of a refusal; null where the 412 comes from another precondition. */
async function refusalIn(response: Response): Promise<{ seen: bigint; resource: string | null } | null> {
  const type = (response.headers.get("content-type") ?? "").toLowerCase();
  if (response.status !== 412 || !type.startsWith(PROBLEM_TYPE)) return null;
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => null);
  if (typeof body !== "object" || body === null) return null;
  const { code, seen, resource } = body as Record<string, unknown>;
  if (code !== "STALE_TOKEN" || typeof seen !== "string" || !/^\d{1,19}$/.test(seen)) return null;
  return { seen: BigInt(seen), resource: typeof resource === "string" ? resource : null };
}
