/** What the keys of permits say, as types. This is the only parser of that text outside of the scripts; the layout is described in lua/_permits.lua. */
import type { Owner } from "../../../../errors.js";
import { parseProcess } from "../../../../process-record.js";
import type { PermitHolder } from "../../../permit-inspection.js";

/** The field of the hash that is no lease. */
export const HEAD = ".";

export interface PermitHead {
  /** The highest token that was handed out. */
  readonly top: bigint;
  readonly limit: number;
}

export interface PermitLease {
  readonly endMs: number;
  readonly weight: number;
  readonly token: bigint;
  readonly sinceUs: number;
  readonly ttlMs: number;
  /** JSON that names the process. */
  readonly owner: string;
}

const HEAD_TEXT = /^(\d{16}) [01] (\d+) [01] \d+ \d+ \d+ \S+$/;
const LEASE_TEXT = /^(\d+) (\d+) (\d{16}) (\d{16}) (\d+) (.*)$/s;

/** Null: holdfast did not write this. */
export function parseHead(value: string): PermitHead | null {
  const [, top, limit] = HEAD_TEXT.exec(value) ?? [];
  return top === undefined ? null : { top: BigInt(top), limit: Number(limit) };
}

/** Null: holdfast did not write this. */
function parseLease(value: string): PermitLease | null {
  const match = LEASE_TEXT.exec(value);
  if (!match) return null;
  const [, end, weight, token = "0", since, ttl, owner = ""] = match;
  return {
    endMs: Number(end),
    weight: Number(weight),
    token: BigInt(token),
    sinceUs: Number(since),
    ttlMs: Number(ttl),
    owner,
  };
}

/** Many answers name the same lease one after another. */
let lastOwner: { readonly value: string; readonly owner: Owner | null } = { value: "", owner: null };

/** The holder as an error names it; null where nobody is known. */
export function toOwner(value: string): Owner | null {
  if (lastOwner.value !== value) lastOwner = { value, owner: readOwner(value) };
  return lastOwner.owner;
}

function readOwner(value: string): Owner | null {
  const lease = parseLease(value);
  const process = lease && parseProcess(lease.owner);
  return process && { ...process, sinceMs: Math.floor(lease.sinceUs / 1_000), fence: lease.token };
}

/** Null: the lease is over, or another program wrote it. */
export function toHolder(id: string, value: string, nowUs: number): PermitHolder | null {
  const lease = parseLease(value);
  if (!lease) return null;
  const nowMs = Math.floor(nowUs / 1_000);
  const leftMs = Math.min(lease.endMs - nowMs, lease.ttlMs);
  if (leftMs <= 0) return null;
  return {
    id,
    process: parseProcess(lease.owner),
    permits: lease.weight,
    fence: lease.token,
    sinceMs: Math.floor(lease.sinceUs / 1_000),
    heldMs: Math.max(Math.floor((nowUs - lease.sinceUs) / 1_000), 0),
    ttlMs: lease.ttlMs,
    leftMs,
  };
}
