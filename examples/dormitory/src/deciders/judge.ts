/** Reads the situation of a request, decides by the rules, and writes the decision. Both ways of deciding use it. */
import type { Place, Room } from "../domain/room.js";
import {
  type Decision,
  decide,
  type Outcome,
  type SelectionRequest,
  type Situation,
} from "../domain/selection.js";
import type { FenceEntry } from "../state/fences.js";
import { type Look, look } from "../state/look.js";
import type { Rooms } from "../state/rooms.js";
import { piped, type Store } from "../state/store.js";
import { readWishes } from "../state/wishes.js";

/** A request with everything that its decision is based on. */
export interface Case {
  readonly request: SelectionRequest;
  readonly look: Look;
  readonly situation: Situation;
  readonly decision: Decision;
}

/** `moved`, `taken`: something changed since the case was read: read it again. `stale`: another holder has written since. */
export type Written = Outcome | "moved" | "taken" | "stale";

const MOST_TEAMS_KNOWN = 20_000;

export class Judge {
  readonly #store: Store;
  readonly #rooms: Rooms;
  /** The team that a student had last. A guess, which saves a round trip when it is right. */
  readonly #teams = new Map<string, string>();

  constructor(store: Store, rooms: Rooms) {
    this.#store = store;
    this.#rooms = rooms;
  }

  /** Null: the student is not in the batch. @throws {Unreachable} */
  async read(request: SelectionRequest): Promise<Case | null> {
    const { batchId, studentId, action } = request;
    const guess = this.#teams.get(studentId) ?? `t${studentId}`;
    const wishesOf = async (teamId: string): Promise<readonly string[]> =>
      action.kind === "grab" ? (await readWishes(this.#store.hf, batchId, teamId)).roomIds : [];
    const [seen, guessed] = await Promise.all([look(this.#store, batchId, studentId), wishesOf(guess)]);
    if (seen === null) return null;
    const { batch, team, places } = seen;
    if (team.id !== guess) this.#remember(studentId, team.id);
    const wishes = team.id === guess ? guessed : await wishesOf(team.id);
    const known = await this.#rooms.known(batchId, batch.version);
    const rooms = this.#roomsFor(request, wishes, places.length > 0, known);
    const taken = await this.#taken(batchId, rooms);
    const situation = { batchState: batch.state, team, places, wishes, rooms, taken };
    return { request, look: seen, situation, decision: decide(action, situation) };
  }

  #roomsFor(
    { action }: SelectionRequest,
    wishes: readonly string[],
    hasRoom: boolean,
    known: ReadonlyMap<string, Room>,
  ): Room[] {
    if (action.kind === "regret" || (action.kind === "grab" && hasRoom)) return [];
    const ids = action.kind === "pick" ? [action.roomId] : wishes;
    return ids.flatMap((id) => known.get(id) ?? []);
  }

  async #taken(batchId: string, rooms: readonly Room[]): Promise<Place[]> {
    const beds = rooms.flatMap(({ id, beds }) =>
      Array.from({ length: beds }, (_, at) => ({ roomId: id, bed: at + 1 })),
    );
    if (beds.length === 0) return [];
    const fields = beds.map(({ roomId, bed }) => `${roomId}:${bed}`);
    const { redis, keys } = this.#store;
    const [students] = (await piped(
      redis.pipeline().hmget(keys.of(batchId, "beds"), ...fields),
      "nothing",
    )) as [(string | null)[]];
    return beds.flatMap((bed, at) => {
      const studentId = students[at];
      return studentId ? [{ studentId, ...bed }] : [];
    });
  }

  /** Writes the decision under the fences, unless something moved. It is durable when this resolves. @throws {Unreachable} */
  async write({ request, look: seen, decision }: Case, fences: readonly FenceEntry[]): Promise<Written> {
    const { team, batch, nowMs } = seen;
    // It is too early, and not decided: the same request may come again once the batch is open.
    if (decision.kind === "refuse" && decision.reason === "not-open")
      return {
        state: "refused",
        requestId: request.id,
        kind: request.action.kind,
        reason: "not-open",
        atMs: nowMs,
        version: "0",
      };
    const isChange = decision.kind === "change";
    const said = {
      requestId: request.id,
      teamId: team.id,
      teamVersion: team.version,
      batchVersion: batch.version.toString(),
      fences,
      had: team.members.map((studentId) => ({ studentId, bed: bedOf(studentId, seen.places) })),
      give: isChange ? decision.give : [],
      leave: isChange ? decision.leave : [],
      passedOver: decision.kind === "keep" ? [] : decision.passedOver,
      count: countOf(request, decision),
    };
    // The script adds the time and the version.
    const open = JSON.stringify(outcomeOf(request, seen, decision)).slice(0, -1);
    const reply = await this.#store.run("commit", batch.id, [JSON.stringify(said), open], "unknown");
    const [done, outcome] = reply as ["done" | "repeat" | "moved" | "taken" | "stale", string];
    return done === "done" || done === "repeat" ? (JSON.parse(outcome) as Outcome) : done;
  }

  #remember(studentId: string, teamId: string): void {
    if (this.#teams.size >= MOST_TEAMS_KNOWN) this.#teams.clear();
    this.#teams.set(studentId, teamId);
  }
}

/** "room:bed", or nothing. */
function bedOf(studentId: string, places: readonly Place[]): string {
  const place = places.find((one) => one.studentId === studentId);
  return place ? `${place.roomId}:${place.bed}` : "";
}

function countOf({ action }: SelectionRequest, decision: Decision): string | undefined {
  if (decision.kind === "refuse") return "refused";
  if (decision.kind === "keep") return undefined;
  return action.kind === "regret" ? "regretted" : "done";
}

type OpenOutcome<Of extends Outcome = Outcome> = Of extends Outcome ? Omit<Of, "atMs" | "version"> : never;

function outcomeOf({ id, action }: SelectionRequest, { places }: Look, decision: Decision): OpenOutcome {
  const about = { requestId: id, kind: action.kind };
  if (decision.kind === "refuse") return { state: "refused", ...about, reason: decision.reason };
  return { state: "done", ...about, places: decision.kind === "keep" ? places : decision.give };
}

/** An answer without a decision: the student is in no batch, so there is nothing to write it to. */
export function strayOutcome({ id, action }: SelectionRequest, reason: "not-in-batch" | "changing"): Outcome {
  return { state: "refused", requestId: id, kind: action.kind, reason, atMs: Date.now(), version: "0" };
}
