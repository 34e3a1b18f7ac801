/**
 * Tickets: the text by which programs know a message of a lane, `<number>@<lane, percent-encoded>`. It has no blank and no quote, so
 * it goes into a URL, a cookie, JSON or a database as it is. It comes back from strangers, so every part of it is checked.
 */
import { checkWord } from "../arguments.js";
import { InvalidArgumentError } from "../errors.js";

/** A message of a lane. */
export interface Ticket {
  readonly lane: string;
  /** Rises within the lane. It is never given to another message of the same lane. */
  readonly number: number;
}

const FORM = /^([1-9]\d{0,15})@([\w!'()*.~%-]+)$/;
/** 16 digits, the sign, and 512 characters of a lane with nine characters for each. */
const LONGEST = 16 + 1 + 512 * 9;

export function formatTicket({ lane, number }: Ticket): string {
  return `${number.toFixed(0)}@${encodeURIComponent(lane)}`;
}

/** @throws {InvalidArgumentError} `push` never gives such a ticket */
export function parseTicket(text: unknown): Ticket {
  if (typeof text !== "string") {
    throw new InvalidArgumentError("ticket", `must be the text that push() gave, not ${typeof text}`);
  }
  const [, digits = "", word = ""] = text.length <= LONGEST ? (FORM.exec(text) ?? []) : [];
  const number = Number(digits);
  const lane = decoded(word);
  // Another spelling of a lane would be another ticket for the same message.
  if (lane === null || !Number.isSafeInteger(number) || formatTicket({ lane, number }) !== text) {
    throw new InvalidArgumentError(
      "ticket",
      "must be the text that push() gave, such as 1764000000000000@lane",
    );
  }
  checkWord("ticket", lane);
  return { lane, number };
}

/** Null: the text is empty, or no percent-encoding of anything. */
function decoded(word: string): string | null {
  try {
    return decodeURIComponent(word) || null;
  } catch {
    return null;
  }
}
