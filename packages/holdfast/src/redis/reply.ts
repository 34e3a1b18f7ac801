/** Replies are checked before they are believed: an answer of another shape is no answer. */
import { IndeterminateError } from "../errors.js";
import type { Reply } from "./port.js";

/** The reply as an array of at least `length`. @throws {IndeterminateError} */
export function replyRow(reply: Reply | undefined, length = 1): Reply[] {
  if (Array.isArray(reply) && reply.length >= length) return reply;
  throw new IndeterminateError(
    `Redis answered something else than was asked (${typeof reply}): the replies of this connection may be out of step`,
  );
}
