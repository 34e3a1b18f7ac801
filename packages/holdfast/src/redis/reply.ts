/** The ways of a reply to the call that asked: its shape is checked, since a reply of another shape belongs to another call. */
import { type HoldfastError, IndeterminateError } from "../errors.js";
import type { Reply, ReplyListener } from "./port.js";

/** Hears the answer to one call, once, and never before the call returns. */
export interface AnswerListener<Answer> {
  answered(answer: Answer): void;
  /** The outcome is unknown, or the server refused. */
  failed(error: HoldfastError): void;
}

/** Tells the answer that the reply holds, or why it holds none. @param parse throws typed errors */
export function tell<Answer>(
  listener: AnswerListener<Answer>,
  reply: Reply,
  parse: (reply: Reply) => Answer,
): void {
  let answer: Answer;
  try {
    answer = parse(reply);
  } catch (error) {
    listener.failed(error as HoldfastError);
    return;
  }
  listener.answered(answer);
}

/** A call whose answer is no more than its reply, parsed. */
export class Parsed<Answer> implements ReplyListener {
  readonly #parse: (reply: Reply) => Answer;
  readonly #listener: AnswerListener<Answer>;

  /** @param parse throws typed errors */
  constructor(parse: (reply: Reply) => Answer, listener: AnswerListener<Answer>) {
    this.#parse = parse;
    this.#listener = listener;
  }

  replied(reply: Reply): void {
    tell(this.#listener, reply, this.#parse);
  }

  failed(error: HoldfastError): void {
    this.#listener.failed(error);
  }
}

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
