/** What is to be seen of a lock, and how the server's words become that. */
import type { Reply } from "../redis/port.js";

/** A process that holds or waits, as it wrote itself down; null where another program wrote something else. */
export interface ProcessRecord {
  readonly host: string;
  readonly pid: number;
  /** What the process calls itself; empty when it did not say. */
  readonly label: string;
}

export interface LockHolder {
  readonly process: ProcessRecord | null;
  /** The first token of this grant; turns inside the process have the ones after it. */
  readonly fence: bigint;
  /** When the process got it, in ms since 1970 by the server's clock. */
  readonly sinceMs: number;
  readonly heldMs: number;
  /** What the lease is renewed to. */
  readonly ttlMs: number;
  /** Until the lease runs out unless it is renewed. */
  readonly leftMs: number;
}

/** A process in line. The callers inside it that want the lock count as one. */
export interface LockWaiter {
  readonly process: ProcessRecord | null;
  /** Since its last sign of life; it is passed over once that is `ttlMs`. */
  readonly silentMs: number;
  readonly ttlMs: number;
}

export interface LockState {
  readonly name: string;
  /** Null: the lock is free. */
  readonly holder: LockHolder | null;
  /** The first in line, in the order in which they will be served; those that are dead are left out. */
  readonly waiters: readonly LockWaiter[];
  /** How many wait in all, which may be more than are listed. */
  readonly waiting: number;
  /** The highest token handed out or reserved; 0n when none was in the last 24 hours. */
  readonly lastFence: bigint;
  /** Requests that gave up, and are refused for as long as a late copy of one could arrive. */
  readonly banned: number;
}

/** "<top><flag>" and, while it is held, "<id> <token> <since> <keep_ms> <ttl_ms> <owner>". */
const STATE = /^(\d{16})[ +](?:(\S+) (\d{16}) (\d{16}) (\d+) (\d+) (.*))?$/s;
/** "<id> <seen_ms> <ttl_ms> <beat> <turns> <floor> <inbox> <owner>" */
const WAITER = /^\S+ (\d+) (\d+) \d+ \d+ \d+ \S+ (.*)$/s;

/** Null: a key of this lock holds something else. */
export function stateOf(name: string, row: Reply | undefined, nowUs: number): LockState | null {
  if (!Array.isArray(row) || row.length < 4) return null;
  const [held, expiryMs, inLine, banned, ...entries] = row;
  const lastFence = lastFenceOf(String(held));
  if (lastFence === null) return null;
  const read = entries.map((entry) => waiterOf(String(entry), nowUs));
  const waiters = read.filter((waiter) => waiter !== null);
  return {
    name,
    holder: holderOf(String(held), Number(expiryMs), nowUs),
    waiters,
    waiting: Math.max(Number(inLine) - (read.length - waiters.length), waiters.length),
    lastFence,
    banned: Number(banned),
  };
}

/** Null: nobody holds. `expiryMs`: until the key expires, which is `keep_ms` after the lease. */
export function holderOf(held: string, expiryMs: number, nowUs: number): LockHolder | null {
  const [, , id, token = "0", since, keep, ttl, owner = ""] = STATE.exec(held) ?? [];
  if (id === undefined) return null;
  const ttlMs = Number(ttl);
  // A key without expiry, and one whose clock was set back, is cut back to its ttl by the next who asks.
  const leftMs = expiryMs < 0 ? ttlMs : Math.min(expiryMs - Number(keep), ttlMs);
  if (leftMs <= 0) return null;
  return {
    process: recordOf(owner),
    fence: BigInt(token),
    sinceMs: Math.floor(Number(since) / 1_000),
    heldMs: Math.max(Math.floor((nowUs - Number(since)) / 1_000), 0),
    ttlMs,
    leftMs,
  };
}

/** 0n: no such lock. Null: something else. */
export function lastFenceOf(held: string): bigint | null {
  if (held === "") return 0n;
  const top = STATE.exec(held)?.[1];
  return top === undefined ? null : BigInt(top);
}

/** Null: dead, or not written by holdfast. */
function waiterOf(entry: string, nowUs: number): LockWaiter | null {
  const [, seen, ttl, owner = ""] = WAITER.exec(entry) ?? [];
  if (seen === undefined) return null;
  const silentMs = Math.max(Math.floor(nowUs / 1_000) - Number(seen), 0);
  const ttlMs = Number(ttl);
  return silentMs < ttlMs ? { process: recordOf(owner), silentMs, ttlMs } : null;
}

function recordOf(json: string): ProcessRecord | null {
  try {
    const { host, pid, label } = JSON.parse(json) as ProcessRecord;
    return { host: String(host), pid: Number(pid), label: String(label) };
  } catch {
    return null;
  }
}
