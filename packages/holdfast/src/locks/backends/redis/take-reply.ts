/**
 * What `take` returns. A grant names its request: one that answers another call, on a connection that is out
 * of step, must not be believed.
 */
import type { Reply } from "../../../redis/port.js";
import { replyRow } from "../../../redis/reply.js";

const TOKEN_LENGTH = 16;

export interface TakeReply {
  /** For each request: the token of its lock, when it was taken; else what `take` saw, see replies.ts. */
  readonly seen: readonly (bigint | Reply)[];
  /** When that was: 16 digits of the server's clock. */
  readonly ticket: string;
}

/** @throws {IndeterminateError} an answer of another shape */
export function takeReply(reply: Reply, ids: readonly string[]): TakeReply {
  const alone = typeof reply === "string" && ids.length === 1;
  const row = alone ? [reply, reply.slice(0, TOKEN_LENGTH)] : replyRow(reply, ids.length + 1);
  const ticket = String(row[ids.length]);
  if (!/^\d{16}$/.test(ticket)) replyRow(undefined); // throws
  const seen = ids.map((id, place) => {
    const each = row[place] ?? null;
    const taken = typeof each === "string" && each.endsWith(id);
    return taken ? BigInt(each.slice(0, TOKEN_LENGTH)) : each;
  });
  return { seen, ticket };
}
