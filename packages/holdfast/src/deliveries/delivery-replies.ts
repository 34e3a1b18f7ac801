/** What the scripts of queues and lanes answer alike, as typed values. */
import type { Reply } from "../redis/port.js";
import type { Given } from "./delivery-scripts.js";
import { type Handle, parseHandle } from "./handle.js";
import type { DeadLetter, Delayed, InFlight } from "./messages.js";

/** Messages with their bodies as `encodeValue` made them. */
export type StoredLetter = DeadLetter<string>;
export type StoredInFlight = InFlight<string> & Pick<Handle, "lane">;
export type StoredDelayed = Delayed<string>;

/** The reason of a failure is for people. */
const LONGEST_REASON = 1_000;

/** The handles at these places, from 0: "" or "0,3". */
export function lateOf(places: Reply | undefined, asked: readonly { readonly handle: string }[]): string[] {
  if (places === "") return [];
  return String(places)
    .split(",")
    .flatMap((place) => asked[Number(place)]?.handle ?? []);
}

/** Null: nothing is due. */
export function dueOf(reply: Reply | undefined): number | null {
  const dueInMs = Number(reply);
  return dueInMs < 0 ? null : dueInMs;
}

/** Handle and body of each. */
export function givenOf(words: readonly Reply[]): Given[] {
  const given: Given[] = [];
  for (let place = 0; place + 1 < words.length; place += 2)
    given.push({ handle: String(words[place]), body: String(words[place + 1]) });
  return given;
}

/** `words` in rows of `width`. */
export function rowsOf(words: readonly Reply[], width: number): Reply[][] {
  const rows: Reply[][] = [];
  for (let place = 0; place + width <= words.length; place += width)
    rows.push(words.slice(place, place + width));
  return rows;
}

export function lettersOf(words: readonly Reply[]): StoredLetter[] {
  return rowsOf(words, 5).map(([id, body, attempts, reason, ms]) => {
    const letter = { id: String(id), body: String(body), attempts: Number(attempts) };
    return { ...letter, reason: String(reason), atMs: Number(ms) };
  });
}

export function heldOf(words: readonly Reply[]): StoredInFlight[] {
  return rowsOf(words, 3).flatMap(([handle, body, leftMs]) => {
    const parsed = parseHandle(String(handle));
    return parsed ? [{ ...parsed, body: String(body), remainingMs: Number(leftMs) }] : [];
  });
}

export function laterOf(words: readonly Reply[]): StoredDelayed[] {
  return rowsOf(words, 3).flatMap(([member, body, leftMs]) => {
    const [, id, attempts] = /^later:(\d+):(\d+)$/.exec(String(member)) ?? [];
    if (!id) return [];
    return [{ id, body: String(body), attempts: Number(attempts), dueInMs: Number(leftMs) }];
  });
}

/** A reason as dead letters keep it. */
export function cutReason(reason: string): string {
  return reason.length <= LONGEST_REASON ? reason : `${reason.slice(0, LONGEST_REASON - 1).toWellFormed()}…`;
}
