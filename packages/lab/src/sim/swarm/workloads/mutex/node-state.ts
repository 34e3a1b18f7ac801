/** What the node says of a lock: its keys, and who holds it. */
import { lockKeys, parseLock, parseProcess } from "holdfast/locks/redis";
import type { Node } from "../../../node.js";
import { prefix } from "../../scene.js";

/** The keys of a lock at the node. */
export interface LockKeys {
  readonly lock: string;
  readonly line: string;
  readonly waiters: string;
  readonly banned: string;
}

export function keysOf(name: string): LockKeys {
  const [lock = "", line = "", waiters = "", banned = ""] = lockKeys(prefix, name);
  return { lock, line, waiters, banned };
}

export interface Holder {
  readonly id: string;
  /** The label of its process; empty where another program wrote the record. */
  readonly process: string;
  /** The tokens that it was granted. */
  readonly tokens: readonly [first: bigint, last: bigint];
  readonly ttlMs: number;
  /** Not above 0: its lease is over, and nobody has taken it since. */
  readonly leftMs: number;
}

/** Whom the node names, whether or not the lease is over. */
export function namedAt(node: Node, lock: string): Holder | null {
  const key = keysOf(lock).lock;
  const [state, expiryMs] = node.peekAll(["GET", key], ["PTTL", key]);
  return toHolder(state, expiryMs);
}

/** What a key and its expiry say of who holds a lock. */
export function toHolder(state: unknown, expiryMs: unknown): Holder | null {
  const record = typeof state === "string" ? parseLock(state) : null;
  if (!record?.holder) return null;
  const { id, token, ttlMs, keepMs, owner } = record.holder;
  const process = parseProcess(owner)?.label ?? "";
  return { id, process, tokens: [token, record.top], ttlMs, leftMs: Number(expiryMs) - keepMs };
}

/** The process that holds a lock at the node, by its label. */
export function ownerAt(node: Node, lock: string): string | null {
  return holderAt(node, lock)?.process ?? null;
}

/** Who holds a lock at the node, and for how long from now on; null: nobody. */
export function holderAt(node: Node, lock: string): Holder | null {
  const named = namedAt(node, lock);
  return named && named.leftMs > 0 ? named : null;
}
