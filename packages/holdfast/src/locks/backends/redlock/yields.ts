/**
 * Yields: when several claims have some nodes each, and none has a quorum, all but the earliest give their seats away. A claim that is
 * in line behind one that has no quorum asks it to. A lost message does no lasting harm: no seat is kept for long without a quorum.
 */
import { inboxChannel, lockKeys } from "../../../redis/keys.js";
import { NO_PLACE, writeMessage } from "../../../redis/message.js";
import type { RedlockNode } from "./node.js";
import type { Seat } from "./seat.js";
import { claimIdOf, mayHaveQuorum, type Place, quorumOf } from "./votes.js";

export function askForSeats(seats: readonly Seat[], own: Place): void {
  const waits = seats.filter(({ state, error }) => state === "in line" && error === null);
  const has = seats.filter(({ state }) => state === "granted");
  // A claim that cannot have a quorum leaves the seats to others.
  if (has.length + waits.length < quorumOf(seats.length)) return;
  const unknown =
    seats.filter(({ state }) => state === "asking").length + waits.filter(({ busy }) => !busy).length;
  const holders = seats.map((seat) => holderOf(seat, own));
  if (mayHaveQuorum(holders, unknown)) return;
  for (const seat of waits) ask(seat, own);
}

/** The claim that holds the node, as far as is known. */
function holderOf({ state, busy }: Seat, own: Place): string | null {
  if (state === "granted") return own.id;
  return state === "in line" && busy?.holder ? claimIdOf(busy.holder.id) : null;
}

function ask(seat: Seat, own: Place): void {
  const { busy, node, sub } = seat;
  const holder = busy?.holder;
  if (!holder || !sub || seat.asked === holder.id || claimIdOf(holder.id) === own.id) return;
  const inbox = inboxOf(holder.owner);
  if (!inbox) return;
  seat.asked = holder.id;
  const { port, prefix, callTimeoutMs } = node.context;
  const text = writeMessage(NO_PLACE, `yield ${holder.id} ${own.ticket} ${sub.id}`);
  // A process that does not hear it looks into the line when it does hear. The next sign of life asks again.
  port.command(["PUBLISH", inboxChannel(prefix, inbox), text], callTimeoutMs).catch(() => {});
}

/** Null: another program wrote this. */
function inboxOf(owner: string): string | null {
  try {
    const { inbox } = JSON.parse(owner) as { readonly inbox?: unknown };
    return typeof inbox === "string" && inbox !== "" ? inbox : null;
  } catch {
    return null;
  }
}

/** The claim that is first in line at a node. Null: none is, or the node does not tell. */
export async function firstInLine({ context }: RedlockNode, name: string): Promise<Place | null> {
  const { port, prefix, callTimeoutMs } = context;
  const line = lockKeys(prefix, name)[1] as string;
  try {
    const reply = await port.command(["ZRANGE", line, "0", "0", "WITHSCORES"], callTimeoutMs);
    // RESP3 has a pair for each member, and a number for its score.
    const [id, score] = Array.isArray(reply) ? reply.flat() : [];
    const ticket = String(score);
    return typeof id === "string" && /^\d{1,16}$/.test(ticket) ? { ticket, id } : null;
  } catch {
    return null;
  }
}
