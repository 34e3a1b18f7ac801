/** The application as pages, workers and the load generator see it. `openDormitory` in ../state/dormitory.ts makes one. */
import type { Batch, BatchChange, BatchDraft, BatchFigures, ContestedRoom } from "./batch.js";
import type { RoomView } from "./room.js";
import type { Away, Outcome, Ticket, TicketView } from "./selection.js";
import type { ImportResult, Student } from "./student.js";
import type { TeamResult, TeamView, WishesResult } from "./team.js";

export type EditResult =
  | { readonly ok: true; readonly batch: Batch }
  | {
      readonly ok: false;
      readonly reason:
        | "no-such-batch"
        | "not-over"
        /** The end is not after the start, or the name is empty. */
        | "terms"
        | "no-such-room"
        | "room-taken"
        /** The batch has a room of this name already. */
        | "room-exists"
        | "no-such-student"
        /** PostgreSQL refuses a value. */
        | "not-stored"
        /** The batch is archived. */
        | "archived";
      /** The id that was refused, where there is one. */
      readonly subject: string | null;
    };

/** Every call throws `Unreachable` when Redis or PostgreSQL does not answer. */
export interface Dormitory {
  readonly batches: {
    list(): Promise<readonly Batch[]>;
    get(id: string): Promise<Batch | null>;
    /** The present batch, and each new version of it; ends with the signal. One subscription for each batch and process. */
    watch(id: string, signal: AbortSignal): AsyncIterable<Batch>;
    create(draft: BatchDraft, by: Student): Promise<EditResult>;
    /** Waits for the selections under way and keeps new ones out until it is done: it holds the batch lock exclusively. */
    edit(id: string, change: BatchChange, by: Student): Promise<EditResult>;
    /** Ends the batch for good. The archive job copies its results, unless it did so before. */
    archive(id: string, by: Student, options?: { readonly onlyIfOver?: boolean }): Promise<EditResult>;
    figures(id: string): Promise<BatchFigures>;
    /** The most wanted first. */
    contested(id: string, count: number): Promise<readonly ContestedRoom[]>;
  };
  readonly students: {
    find(number: string): Promise<Student | null>;
    /** Null: no such student, or not this password. Both take the same time, except for the cheap hashes of the seed data. */
    verify(number: string, password: string): Promise<Student | null>;
    ofBatch(batchId: string): Promise<readonly Student[]>;
    /** CSV with the header `number,name,password`. Rows without a problem are imported. */
    importCsv(batchId: string, csv: string, by: Student): Promise<ImportResult>;
  };
  readonly rooms: {
    of(batchId: string): Promise<readonly RoomView[]>;
    /** CSV with the header `building,name,beds`. Rows without a problem are imported. */
    importCsv(batchId: string, csv: string, by: Student): Promise<ImportResult>;
  };
  readonly teams: {
    /** Null: the student is in no batch. */
    of(student: Student): Promise<TeamView | null>;
    invite(from: Student, toNumber: string): Promise<TeamResult>;
    /** Refuses all other invitations on both sides in the same step. */
    accept(student: Student, invitationId: string): Promise<TeamResult>;
    /** By the student invited, or withdrawn by a member of the team that invites. */
    refuse(student: Student, invitationId: string): Promise<TeamResult>;
    leave(student: Student): Promise<TeamResult>;
    /** CSV with the header `number,wishes`: ids of rooms in order, with blanks between. They replace those of the student's team. */
    importWishes(batchId: string, csv: string, by: Student): Promise<ImportResult>;
    /** @param version the one last seen, as `TeamView.wishes.version` says it */
    setWishes(student: Student, roomIds: readonly string[], version: string): Promise<WishesResult>;
  };
  readonly selection: {
    /** @param requestId of an earlier call whose answer was lost: then nothing happens twice. @default a new one */
    grab(student: Student, requestId?: string): Promise<Ticket | Outcome>;
    pick(student: Student, roomId: string, requestId?: string): Promise<Ticket | Outcome>;
    regret(student: Student, requestId?: string): Promise<Ticket | Outcome>;
    /** Null: the student is in no batch. */
    ticket(student: Student): Promise<TicketView | null>;
    /** The present view, then each one that differs; `away` once for each time that the store does not answer. Ends with the signal. */
    watch(student: Student, signal: AbortSignal): AsyncIterable<TicketView | Away>;
  };
  close(): Promise<void>;
}
