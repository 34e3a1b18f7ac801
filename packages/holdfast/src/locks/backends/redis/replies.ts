/**
 * What the lock scripts return, as types; for what `take` takes, see take-reply.ts. Only these two know the
 * shape of their replies. A grant names its request, as there.
 */
import type { Owner } from "../../../errors.js";
import type { Reply } from "../../../redis/port.js";
import { replyRow } from "../../../redis/reply.js";
import type { Busy } from "../../backend.js";
import { parseLock, toOwner } from "./lock-state.js";

export type Verdict =
  | { readonly kind: "granted"; readonly token: bigint }
  | { readonly kind: "busy"; readonly leftMs: number; readonly owner: Owner | null }
  | {
      readonly kind: "in-line";
      readonly leftMs: number;
      readonly owner: Owner | null;
      readonly ahead: number;
      readonly ticket: string;
    }
  /** The request is not known: it gave up, or the server forgot it. */
  | { readonly kind: "unknown-id" };

/** @throws {IndeterminateError} an answer of another shape, or to another request than `id` */
export function verdict(reply: Reply | undefined, id: string): Verdict {
  const [status, ...rest] = replyRow(reply);
  switch (Number(status)) {
    case 1:
      if (rest[1] !== id) replyRow(undefined); // throws
      return { kind: "granted", token: BigInt(String(rest[0])) };
    case 0:
      return { kind: "busy", leftMs: Number(rest[0]), owner: ownerIn(rest[1]) };
    case 2:
      return {
        kind: "in-line",
        leftMs: Number(rest[0]),
        owner: ownerIn(rest[1]),
        ahead: Number(rest[2]),
        ticket: String(rest[3]),
      };
    default:
      return { kind: "unknown-id" };
  }
}

function ownerIn(state: Reply | undefined): Owner | null {
  const holder = parseLock(String(state))?.holder;
  return holder ? toOwner(holder) : null;
}

/**
 * What `take` saw of a lock that it did not take: the token of a request that it knew, because the client
 * sent it before; who holds the lock; or null where only `acquire` can tell.
 */
export function holderSeen(seen: Reply, id: string): bigint | Busy | null {
  if (!Array.isArray(seen)) return null;
  const holder = parseLock(String(seen[0]))?.holder;
  const leftMs = Number(seen[1]);
  // More than its ttl: the clock was set back, and `acquire` mends it.
  if (!holder || !(leftMs > 0 && leftMs <= holder.ttlMs)) return null;
  return holder.id === id ? holder.token : { owner: toOwner(holder), ahead: null };
}
