/** Checks the shape of replies. A reply of another shape belongs to another call, so this call has no answer. */
import { IndeterminateError } from "../errors.js";
import type { Reply } from "./port.js";

/** Returns the reply as an array of at least `length`. @throws {IndeterminateError} */
export function replyRow(reply: Reply | undefined, length = 1): Reply[] {
  if (Array.isArray(reply) && reply.length >= length) return reply;
  throw notAnAnswer(reply);
}

/** The error of a reply to another call. */
export function notAnAnswer(reply: Reply | undefined): IndeterminateError {
  return new IndeterminateError(
    `Redis answered something else than was asked (${typeof reply}): the replies of this connection may be out of step`,
  );
}
