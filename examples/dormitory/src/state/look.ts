/** What Redis says of a student, the team and the batch, at one moment. */
import type { Batch } from "../domain/batch.js";
import type { Place } from "../domain/room.js";
import type { Action, Outcome } from "../domain/selection.js";
import type { Team } from "../domain/team.js";
import { toBatch, toMeta } from "./batch-terms.js";
import type { Store } from "./store.js";

/** The newest request of a team in the lane of its batch. */
export interface OpenTicket {
  readonly ticket: string;
  readonly requestId: string;
  readonly action: Action;
}

export interface Look {
  readonly batch: Batch;
  readonly nowMs: number;
  readonly team: Team;
  /** The beds that members have. */
  readonly places: readonly Place[];
  readonly outcome: Outcome | null;
  readonly ticket: OpenTicket | null;
}

/** Null: the student is not in this batch, or there is no such batch. @throws {Unreachable} */
export async function look(store: Store, batchId: string, studentId: string): Promise<Look | null> {
  const reply = (await store.run("look", batchId, [studentId], "nothing")) as unknown[];
  const [clock, meta, teamId, teamText, beds, outcome, ticket] = reply;
  const nowMs = Math.floor(Number(clock) / 1_000);
  const batch = toBatch(batchId, toMeta(meta as string[]), nowMs);
  if (batch === null || typeof teamId !== "string" || typeof teamText !== "string") return null;
  const { members, version } = JSON.parse(teamText) as { members: string[]; version: string };
  return {
    batch,
    nowMs,
    team: { id: teamId, members, version },
    places: members.flatMap((studentId, at) => toPlace(studentId, (beds as string[])[at] ?? "")),
    outcome: parsed<Outcome>(outcome),
    ticket: parsed<OpenTicket>(ticket),
  };
}

/** @param bed "room:bed", or nothing */
function toPlace(studentId: string, bed: string): Place[] {
  if (bed === "") return [];
  const end = bed.lastIndexOf(":");
  return [{ studentId, roomId: bed.slice(0, end), bed: Number(bed.slice(end + 1)) }];
}

function parsed<Value>(text: unknown): Value | null {
  return typeof text === "string" && text !== "" ? (JSON.parse(text) as Value) : null;
}
