/** A batch: the rooms and students that are decided together, from a start to an end. */

/** How a batch decides: under locks, or one request after the other in a lane. */
export type Way = "locks" | "lanes";

/** `planned` before the start, `open` from start to end, `closed` after it, `archived` when it is over for good. */
export type BatchState = "planned" | "open" | "closed" | "archived";

export interface Batch {
  readonly id: string;
  readonly name: string;
  /** Milliseconds since 1970, by the clock of the Redis server. */
  readonly startsAtMs: number;
  readonly endsAtMs: number;
  readonly way: Way;
  readonly state: BatchState;
  /** Rises with every edit, by the clock of the Redis server. */
  readonly version: bigint;
}

/** The part of a batch that is stored; its state follows from the time. */
export interface BatchTerms {
  readonly name: string;
  readonly startsAtMs: number;
  readonly endsAtMs: number;
  readonly way: Way;
  readonly archived: boolean;
}

/** A change by an administrator. A field that is left out stays as it is. */
export interface BatchChange {
  readonly name?: string;
  readonly startsAtMs?: number;
  readonly endsAtMs?: number;
  readonly way?: Way;
  readonly addRooms?: readonly RoomDraft[];
  /** Ids of rooms. A room in which somebody lives stays, and the edit is refused. */
  readonly removeRooms?: readonly string[];
  /** Student numbers. Each comes alone. A student of another batch has to be removed there first. */
  readonly addStudents?: readonly string[];
  /** Student numbers of this batch. A student with a room stays, and the edit is refused. */
  readonly removeStudents?: readonly string[];
}

export interface BatchDraft {
  readonly name: string;
  readonly startsAtMs: number;
  readonly endsAtMs: number;
  readonly way: Way;
}

export interface RoomDraft {
  readonly building: string;
  readonly name: string;
  readonly beds: number;
}

/** Figures of a batch at one moment, for the page that watches it. */
export interface BatchFigures {
  readonly atMs: number;
  readonly students: number;
  readonly rooms: number;
  readonly beds: number;
  readonly taken: number;
  /** Requests that wait in the lane, and the one that is decided; always 0 under locks. */
  readonly queued: number;
  /** Decisions since the batch was made: rooms given, requests refused, rooms given up. */
  readonly decided: { readonly done: number; readonly refused: number; readonly regretted: number };
  /** Decisions in the last 10 seconds, for each second. */
  readonly perSecond: number;
  /** Writes that a fence or a version refused, and that were decided again. */
  readonly retries: number;
}

/** A room that more students wanted than it has beds. */
export interface ContestedRoom {
  readonly roomId: string;
  readonly name: string;
  readonly beds: number;
  readonly free: number;
  /** Requests that passed it over because it was full. */
  readonly turnedAway: number;
}

export function stateOf(
  terms: Pick<BatchTerms, "startsAtMs" | "endsAtMs" | "archived">,
  nowMs: number,
): BatchState {
  if (terms.archived) return "archived";
  if (nowMs < terms.startsAtMs) return "planned";
  return nowMs < terms.endsAtMs ? "open" : "closed";
}
