/** What the lock scripts return, as types. The only place that knows the shape of their replies. */
import type { Owner } from "../../../errors.js";
import type { Reply } from "../../../redis/port.js";
import { replyRow } from "../../../redis/reply.js";
import type { Busy } from "../../backend.js";

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

export function verdict(reply: Reply | undefined): Verdict {
  const [status, ...rest] = replyRow(reply);
  switch (Number(status)) {
    case 1:
      return { kind: "granted", token: BigInt(String(rest[0])) };
    case 0:
      return { kind: "busy", leftMs: Number(rest[0]), owner: held(String(rest[1]))?.owner ?? null };
    case 2:
      return {
        kind: "in-line",
        leftMs: Number(rest[0]),
        owner: held(String(rest[1]))?.owner ?? null,
        ahead: Number(rest[2]),
        ticket: String(rest[3]),
      };
    default:
      return { kind: "unknown-id" };
  }
}

/** What the value of a lock's key says, when somebody holds it: see _state.lua. */
interface Held {
  readonly id: string;
  readonly token: bigint;
  readonly owner: Owner | null;
}

const HELD = /^\d{16}[ +](\S+) (\d{16}) (\d{16}) \d+ \d+ (.*)$/s;

function held(value: string): Held | null {
  const match = HELD.exec(value);
  if (!match) return null;
  const [, id = "", token = "0", since, json = ""] = match;
  return {
    id,
    token: BigInt(token),
    owner: owner(json, Number(since), BigInt(token)),
  };
}

function owner(json: string, sinceUs: number, fence: bigint): Owner | null {
  try {
    const { host, pid, label } = JSON.parse(json) as { host: string; pid: number; label: string };
    return { host, pid, label, sinceMs: Math.floor(sinceUs / 1_000), fence };
  } catch {
    return null; // written by another program: the lock is held all the same
  }
}

/**
 * What `take` saw: the token of a lock that it took, now or when the client sent it before; who holds it;
 * or null where only `acquire` can tell.
 */
export function taken(seen: Reply | undefined, id: string): bigint | Busy | null {
  if (typeof seen === "string") return seen === "" ? null : BigInt(seen);
  if (!Array.isArray(seen)) return null;
  const [state, leftMs] = seen;
  const holder = held(String(state));
  if (!holder || Number(leftMs) <= 0) return null;
  return holder.id === id ? holder.token : { owner: holder.owner, ahead: null };
}
