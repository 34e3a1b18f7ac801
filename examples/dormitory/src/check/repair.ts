/**
 * Repairs what the data itself can decide. Three records witness a place: that of the student, that of the bed, and the
 * newest answer to the team. The student's record wins; a bed without one is given back, unless the answer names it.
 * A bed that two students have on their records is for people to decide, and so is a team that is apart.
 */
import type { Place } from "../domain/room.js";
import type { BatchFacts } from "./facts.js";
import { readBatch, type Store } from "./read.js";
import { bedOf } from "./rules.js";

/** A field of a hash that is to change, if it still has the value that was read. Null: no such field. */
interface Change {
  readonly part: "choices" | "beds" | "free";
  readonly field: string;
  readonly from: string | null;
  readonly to: string | null;
}

/**
 * All changes, or none when a field has moved meanwhile. KEYS: the hashes. ARGV[1]: JSON of { key, field, from, to }, where key
 * counts from 1. Returns 1 or 0.
 */
const EXCHANGE = `
local changes = cjson.decode(ARGV[1])
for _, change in ipairs(changes) do
  local now = redis.call('HGET', KEYS[change.key], change.field)
  if (now or cjson.null) ~= change.from then return 0 end
end
for _, change in ipairs(changes) do
  if change.to == cjson.null then redis.call('HDEL', KEYS[change.key], change.field)
  else redis.call('HSET', KEYS[change.key], change.field, change.to) end
end
return 1
`;

const PARTS = ["choices", "beds", "free"] as const;
/** A selection under way may change what was read. */
const ATTEMPTS = 5;

/** @returns the number of fields that were changed. */
export async function repairBatch(store: Store, batchId: string): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const changes = changesFor(await readBatch(store, batchId));
    if (changes.length === 0) return 0;
    const numbered = changes.map(({ part, ...change }) => ({ key: PARTS.indexOf(part) + 1, ...change }));
    const hashes = PARTS.map((part) => store.keys.of(batchId, part));
    const done = await store.redis.eval(EXCHANGE, hashes.length, ...hashes, JSON.stringify(numbered));
    if (done === 1) return changes.length;
  }
  return 0;
}

function changesFor(batch: BatchFacts): Change[] {
  const before = new Map(batch.taken.map((place) => [bedOf(place), place.studentId]));
  const choices = new Map<string, Place>(batch.choices.map((choice) => [choice.studentId, choice]));
  const beds = new Map<string, string>();
  for (const choice of batch.choices) {
    const sleeper = before.get(bedOf(choice));
    // Two records of students name the bed: the student whom the bed names stays until people have decided.
    if (!beds.has(bedOf(choice)) || sleeper === choice.studentId) beds.set(bedOf(choice), choice.studentId);
  }
  const restored: Place[] = [];
  for (const place of batch.taken) {
    if (beds.has(bedOf(place)) || choices.has(place.studentId) || !isAnswered(batch, place)) continue;
    beds.set(bedOf(place), place.studentId);
    choices.set(place.studentId, place);
    restored.push(place);
  }
  return [
    ...restored.map(
      (place): Change => ({ part: "choices", field: place.studentId, from: null, to: bedOf(place) }),
    ),
    ...changesOfBeds(before, beds),
    ...changesOfCounts(batch, beds),
  ];
}

function changesOfBeds(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): Change[] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .map(
      (field): Change => ({
        part: "beds",
        field,
        from: before.get(field) ?? null,
        to: after.get(field) ?? null,
      }),
    )
    .filter(({ from, to }) => from !== to);
}

function changesOfCounts({ rooms }: BatchFacts, beds: ReadonlyMap<string, string>): Change[] {
  const taken = [...beds.keys()].map((bed) => bed.slice(0, bed.lastIndexOf(":")));
  return rooms
    .map(({ id, beds: all, free }): Change => {
      const right = all - taken.filter((roomId) => roomId === id).length;
      return { part: "free", field: id, from: free === null ? null : String(free), to: String(right) };
    })
    .filter(({ from, to }) => from !== to);
}

/** The newest answer to the student's team gives it this place. */
function isAnswered({ answered, studentIds }: BatchFacts, place: Place): boolean {
  if (!studentIds.includes(place.studentId)) return false;
  return answered.some(
    ({ studentId, roomId, bed }) =>
      studentId === place.studentId && roomId === place.roomId && bed === place.bed,
  );
}
