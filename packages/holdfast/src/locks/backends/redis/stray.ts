/** Strays: a place in line that outlived its claim, and was granted the name. The grant goes back at once. */

import type { ClaimScripts } from "./claim-scripts.js";
import type { Cleanup } from "./cleanup.js";
import type { LiveClaims } from "./live-claims.js";

interface StrayParts {
  readonly cleanup: Cleanup;
  readonly live: LiveClaims;
  readonly scripts: ClaimScripts;
}

export interface Stray {
  /** Null: the key is none of this kind of lock. */
  readonly name: string | null;
  readonly id: string;
  readonly ttlMs: number;
}

export function giveBackStray({ cleanup, live, scripts }: StrayParts, { name, id, ttlMs }: Stray): void {
  if (cleanup.hurry(id) || live.find(id)?.isHeld) return;
  if (!name || !(ttlMs > 0)) return; // not written by our scripts
  const claim = {
    name,
    id,
    mode: "exclusive",
    weight: 1,
    ttlMs,
    storeTtlMs: ttlMs,
    turns: 1,
    minFence: 0n,
  } as const;
  const sent = scripts.account(claim);
  // A copy of a claim that nobody remembers may be on its way.
  sent.unanswered = 1;
  sent.writes = -1;
  cleanup.add(sent);
}
