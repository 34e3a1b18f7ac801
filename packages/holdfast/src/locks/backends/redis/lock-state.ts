/**
 * What the keys of a lock say, as types. This is the only parser of that text outside of the scripts; the layout is
 * described in lua/_state.lua and lua/_line.lua.
 */
import type { Owner } from "../../../errors.js";
import { parseProcess } from "../../../process-record.js";
import type { LockHolder, LockWaiter } from "../../inspection.js";

/** Who holds a lock. */
export interface HolderRecord {
  /** The id of the claim that got the lock. */
  readonly id: string;
  /** The first of the tokens that were reserved. */
  readonly token: bigint;
  readonly sinceUs: number;
  /** For how long the key outlives the lease. */
  readonly keepMs: number;
  readonly ttlMs: number;
  /** JSON that names the process. */
  readonly owner: string;
}

/** The value of the key `lock`. */
export interface LockRecord {
  /** The highest token that was handed out or reserved. */
  readonly top: bigint;
  /** Whether somebody may wait for the lock or be banned from it. */
  readonly crowded: boolean;
  /** Null: nobody holds it. A holder's lease may have lapsed; see `leaseLeftMs`. */
  readonly holder: HolderRecord | null;
}

/** A value of the hash `waiters`. */
export interface WaiterRecord {
  /** Time of the waiter's last request, by the server's clock. */
  readonly seenMs: number;
  readonly ttlMs: number;
  readonly turns: number;
  readonly minFence: bigint;
  readonly inbox: string;
  readonly owner: string;
}

const LOCK = /^(\d{16})([ +])(?:(\S+) (\d{16}) (\d{16}) (\d+) (\d+) (.*))?$/s;
const WAITER = /^(\d+) (\d+) \d+ (\d+)(?:\/\d+)? (\d+) (\S+) (.*)$/s;

/** Null: the key holds something else. */
export function parseLock(value: string): LockRecord | null {
  const match = LOCK.exec(value);
  if (!match) return null;
  const [, top = "0", flag, id, token = "0", since, keep, ttl, owner = ""] = match;
  const holder = id === undefined ? null : holderRecord(id, token, [since, keep, ttl], owner);
  return { top: BigInt(top), crowded: flag === "+", holder };
}

function holderRecord(
  id: string,
  token: string,
  numbers: readonly (string | undefined)[],
  owner: string,
): HolderRecord {
  const [sinceUs = 0, keepMs = 0, ttlMs = 0] = numbers.map(Number);
  return { id, token: BigInt(token), sinceUs, keepMs, ttlMs, owner };
}

/** The value that `parseLock` reads. */
export function formatLock({ top, crowded, holder }: LockRecord): string {
  const free = digits(top) + (crowded ? "+" : " ");
  if (!holder) return free;
  const { id, token, sinceUs, keepMs, ttlMs, owner } = holder;
  return `${free}${id} ${digits(token)} ${digits(sinceUs)} ${keepMs} ${ttlMs} ${owner}`;
}

function digits(number: bigint | number): string {
  return String(number).padStart(16, "0");
}

/** @param expiryMs until the key expires, negative for a key without expiry. Returns 0 or less for a lease that is over. */
export function leaseLeftMs({ keepMs, ttlMs }: HolderRecord, expiryMs: number): number {
  // The scripts cut back to its ttl a key that lost its expiry, and one whose clock was set back.
  return expiryMs < 0 ? ttlMs : Math.min(expiryMs - keepMs, ttlMs);
}

/** Null: holdfast did not write this. */
export function parseWaiter(entry: string): WaiterRecord | null {
  const match = WAITER.exec(entry);
  if (!match) return null;
  const [, seen, ttl, turns, minFence = "0", inbox = "", owner = ""] = match;
  return {
    seenMs: Number(seen),
    ttlMs: Number(ttl),
    turns: Number(turns),
    minFence: BigInt(minFence),
    inbox,
    owner,
  };
}

/** The holder as an error names it; null where another program wrote the record. */
export function toOwner({ owner, sinceUs, token }: HolderRecord): Owner | null {
  const process = parseProcess(owner);
  return process && { ...process, sinceMs: Math.floor(sinceUs / 1_000), fence: token };
}

/** Null: nobody holds the lock, or the lease is over. */
export function toHolder(record: LockRecord | null, expiryMs: number, nowUs: number): LockHolder | null {
  const holder = record?.holder;
  if (!holder) return null;
  const leftMs = leaseLeftMs(holder, expiryMs);
  if (leftMs <= 0) return null;
  return {
    id: holder.id,
    process: parseProcess(holder.owner),
    fence: holder.token,
    sinceMs: Math.floor(holder.sinceUs / 1_000),
    heldMs: Math.max(Math.floor((nowUs - holder.sinceUs) / 1_000), 0),
    ttlMs: holder.ttlMs,
    leftMs,
  };
}

/** Null: the waiter is dead, or holdfast did not write its value. */
export function toWaiter(id: string, value: string, nowUs: number): LockWaiter | null {
  const waiter = parseWaiter(value);
  if (!waiter) return null;
  const { ttlMs, owner } = waiter;
  const silentMs = Math.max(Math.floor(nowUs / 1_000) - waiter.seenMs, 0);
  return silentMs < ttlMs ? { id, process: parseProcess(owner), silentMs, ttlMs } : null;
}
