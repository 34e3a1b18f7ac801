/** The rules by which a team gets a room. Pure: both ways of deciding use them, and so do the checks. */
import type { BatchState, Way } from "./batch.js";
import type { Place, Room } from "./room.js";
import type { Team } from "./team.js";

/** `grab`: along the wishes. `pick`: one room by hand; a team that has a room moves. `regret`: gives the room up. */
export type Action =
  | { readonly kind: "grab" }
  | { readonly kind: "pick"; readonly roomId: string }
  | { readonly kind: "regret" };

/** What a student asks for. A repeat has the same id, and changes nothing twice. */
export interface SelectionRequest {
  readonly id: string;
  readonly batchId: string;
  readonly studentId: string;
  readonly action: Action;
}

export type Refusal =
  | "not-open"
  | "over"
  | "not-in-batch"
  /** Grab without wishes: pick a room by hand. */
  | "no-wishes"
  /** No room of the wishes has as many free beds as the team has members. */
  | "wishes-full"
  | "room-full"
  | "no-such-room"
  /** Grab with a room: give it up, or pick another. */
  | "has-room"
  /** Regret without a room. */
  | "no-room"
  /** The team changed again and again while it was decided. Try again. */
  | "changing";

/** The answer to a request. It is durable before anybody sees it. */
export type Outcome =
  | {
      readonly state: "done";
      readonly requestId: string;
      readonly kind: Action["kind"];
      /** The beds of the whole team; empty after a regret. */
      readonly places: readonly Place[];
      readonly atMs: number;
      /** Rises with every decision of the batch, by the clock of the Redis server. "0": nothing was written. */
      readonly version: string;
    }
  | {
      readonly state: "refused";
      readonly requestId: string;
      readonly kind: Action["kind"];
      readonly reason: Refusal;
      readonly atMs: number;
      readonly version: string;
    };

/** A request that waits in the lane of its batch. */
export interface Ticket {
  readonly state: "waiting";
  readonly requestId: string;
  readonly ticket: string;
}

/** What a student sees of the request of the team, and of its room. */
export interface TicketView {
  /** `none`: nothing asked yet. `decided`: `outcome` is the answer to the newest request. */
  readonly state: "none" | "waiting" | "running" | "decided";
  readonly way: Way;
  readonly ticket: string | null;
  /** 1: the next one. 0: it does not wait. */
  readonly position: number;
  readonly ahead: number;
  /** Null: nobody knows. */
  readonly etaMs: number | null;
  readonly outcome: Outcome | null;
  /** The beds that the team has now. */
  readonly places: readonly Place[];
  /** Members of the team. */
  readonly teamSize: number;
  /** Rises with every decision for the team: an id for the events of a stream. */
  readonly version: string;
}

/** The store does not answer, so the view that came before may be old. The next view ends this state. */
export interface Away {
  readonly state: "away";
}

/** What a decision is based on, read at one moment. */
export interface Situation {
  readonly batchState: BatchState;
  readonly team: Team;
  /** The beds that members of the team have. */
  readonly places: readonly Place[];
  readonly wishes: readonly string[];
  /** The rooms that matter: those of the wishes, or the one that was picked; and the one that the team has. */
  readonly rooms: readonly Room[];
  /** Who has which bed of these rooms. */
  readonly taken: readonly Place[];
}

export type Decision =
  | { readonly kind: "refuse"; readonly reason: Refusal; readonly passedOver: readonly string[] }
  | { readonly kind: "keep" }
  | {
      readonly kind: "change";
      readonly give: readonly Place[];
      readonly leave: readonly Place[];
      /** Rooms of the wishes that were full. */
      readonly passedOver: readonly string[];
    };

/** Decides a request. The same situation gives the same decision, so a repeat in another process does too. */
export function decide(action: Action, situation: Situation): Decision {
  const { batchState, places } = situation;
  if (batchState === "planned") return refuse("not-open");
  if (batchState !== "open") return refuse("over");
  if (action.kind === "regret") {
    return places.length === 0
      ? refuse("no-room")
      : { kind: "change", give: [], leave: places, passedOver: [] };
  }
  if (action.kind === "grab") return places.length > 0 ? { kind: "keep" } : alongTheWishes(situation);
  if (places.length > 0 && places.every(({ roomId }) => roomId === action.roomId)) return { kind: "keep" };
  const room = situation.rooms.find(({ id }) => id === action.roomId);
  if (!room) return refuse("no-such-room");
  const give = bedsFor(room, situation);
  if (give === null) return refuse("room-full", [room.id]);
  return { kind: "change", give, leave: places, passedOver: [] };
}

function alongTheWishes(situation: Situation): Decision {
  const passedOver: string[] = [];
  for (const wish of situation.wishes) {
    const room = situation.rooms.find(({ id }) => id === wish);
    if (!room) continue; // An administrator took it out of the batch.
    const give = bedsFor(room, situation);
    if (give !== null) return { kind: "change", give, leave: [], passedOver };
    passedOver.push(room.id);
  }
  return refuse(situation.wishes.length === 0 ? "no-wishes" : "wishes-full", passedOver);
}

/** The first free beds of the room for the whole team, or null if there are too few. */
function bedsFor(room: Room, { team, taken }: Situation): Place[] | null {
  const occupied = new Set(taken.filter(({ roomId }) => roomId === room.id).map(({ bed }) => bed));
  const free = Array.from({ length: room.beds }, (_, at) => at + 1).filter((bed) => !occupied.has(bed));
  if (free.length < team.members.length) return null;
  return team.members.map((studentId, at) => ({ studentId, roomId: room.id, bed: free[at] as number }));
}

function refuse(reason: Refusal, passedOver: readonly string[] = []): Decision {
  return { kind: "refuse", reason, passedOver };
}
