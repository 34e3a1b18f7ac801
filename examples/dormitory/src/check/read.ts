/** Reads the raw keys of a batch, all at one moment: a selection under way is seen before or after, never half. */
import type { Redis } from "ioredis";
import type { Place } from "../domain/room.js";
import type { BatchPart, Keys } from "../state/keys.js";
import type { BatchFacts, Choice } from "./facts.js";

const PARTS = [
  "people",
  "rooms",
  "free",
  "teams",
  "team-of",
  "choices",
  "beds",
  "outcomes",
] as const satisfies BatchPart[];
type Part = (typeof PARTS)[number];
type Hash = Readonly<Record<string, string>>;

export interface Store {
  readonly redis: Redis;
  readonly keys: Keys;
}

export async function batchIdsIn({ redis, keys }: Store): Promise<string[]> {
  const ids = await redis.smembers(keys.batches);
  return ids.sort();
}

/** Of the students; administrators are in no batch. */
export async function readDirectory({ redis, keys }: Store): Promise<Map<string, string | null>> {
  const entries = await redis.hgetall(keys.directory);
  return new Map(
    Object.entries(entries).map(([number, json]) => [
      number,
      (JSON.parse(json) as { batchId: string | null }).batchId,
    ]),
  );
}

export async function readBatch({ redis, keys }: Store, id: string): Promise<BatchFacts> {
  const transaction = redis.multi();
  for (const part of PARTS) transaction.hgetall(keys.of(id, part));
  const replies = await transaction.exec();
  if (!replies) throw new Error(`batch ${id} could not be read`);
  const hashes = replies.map(([error, reply], at) => {
    if (error) throw error;
    return [PARTS[at], reply] as const;
  });
  return factsOf(id, Object.fromEntries(hashes) as Record<Part, Hash>);
}

function factsOf(id: string, hashes: Readonly<Record<Part, Hash>>): BatchFacts {
  const teams = Object.entries(hashes.teams).map(([teamId, json]) => {
    return { id: teamId, memberIds: (JSON.parse(json) as { members: string[] }).members };
  });
  const rooms = Object.entries(hashes.rooms).map(([roomId, json]) => {
    const { beds } = JSON.parse(json) as { beds: number };
    return { id: roomId, beds, free: countOf(hashes.free[roomId]) };
  });
  const outcomes = new Map(
    Object.entries(hashes.outcomes).map(([teamId, json]) => [teamId, JSON.parse(json) as StoredOutcome]),
  );
  const choices = Object.entries(hashes.choices).map(([studentId, bed]): Choice => {
    const outcome = outcomes.get(hashes["team-of"][studentId] ?? "");
    return { ...placeOf(studentId, bed), decidedAtMs: outcome?.atMs ?? 0 };
  });
  return {
    id,
    studentIds: Object.keys(hashes.people),
    rooms,
    teams,
    teamOf: new Map(Object.entries(hashes["team-of"])),
    choices,
    taken: Object.entries(hashes.beds).map(([bed, studentId]) => placeOf(studentId, bed)),
    answered: [...outcomes.values()].flatMap(({ places }) => places ?? []),
  };
}

interface StoredOutcome {
  readonly atMs: number;
  /** Not in a refusal. */
  readonly places?: readonly Place[];
}

function countOf(text: string | undefined): number | null {
  return text === undefined ? null : Number(text);
}

/** A bed is written as "room:bed". */
function placeOf(studentId: string, bed: string): Place {
  const colon = bed.lastIndexOf(":");
  return { studentId, roomId: bed.slice(0, colon), bed: Number(bed.slice(colon + 1)) };
}
