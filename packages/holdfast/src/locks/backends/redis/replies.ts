/** What the lock scripts return, as types. The only place that knows the shape of their replies. */
import type { Owner } from "../../../errors.js";
import type { Reply } from "../../../redis/port.js";
import { replyRow } from "../../../redis/reply.js";

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
      return { kind: "busy", leftMs: Number(rest[0]), owner: owner(String(rest[1])) };
    case 2:
      return {
        kind: "in-line",
        leftMs: Number(rest[0]),
        owner: owner(String(rest[1])),
        ahead: Number(rest[2]),
        ticket: String(rest[3]),
      };
    default:
      return { kind: "unknown-id" };
  }
}

/** The value of a lock key: "<id> <token> <ttl_ms> <since_ms> <owner as JSON>". */
const HELD = /^\S+ (\d+) \d+ (\d+) (.*)$/s;

function owner(held: string): Owner | null {
  const match = HELD.exec(held);
  if (!match) return null;
  try {
    const { host, pid, label } = JSON.parse(match[3] as string) as {
      host: string;
      pid: number;
      label: string;
    };
    return { host, pid, label, sinceMs: Number(match[2]), fence: BigInt(match[1] as string) };
  } catch {
    return null; // written by another program: the lock is held all the same
  }
}
