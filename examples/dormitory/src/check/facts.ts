/** The facts that the check judges: what Redis holds, without a word from the code that wrote it. */
import type { Place } from "../domain/room.js";

export interface BatchFacts {
  readonly id: string;
  readonly studentIds: readonly string[];
  readonly rooms: readonly RoomFacts[];
  readonly teams: readonly TeamFacts[];
  /** The team of each student, by the student's own record. */
  readonly teamOf: ReadonlyMap<string, string>;
  /** The bed of each student who has one, by the student's own record. */
  readonly choices: readonly Choice[];
  /** The student of each bed that is taken, by the record of the bed. */
  readonly taken: readonly Place[];
  /** The places that the newest answer to each team names. */
  readonly answered: readonly Place[];
}

export interface RoomFacts {
  readonly id: string;
  readonly beds: number;
  /** As the room's own count says; null: it has none. */
  readonly free: number | null;
}

export interface TeamFacts {
  readonly id: string;
  readonly memberIds: readonly string[];
}

export interface Choice extends Place {
  /** Of the newest decision for the team. */
  readonly decidedAtMs: number;
}
