/** Teams: students of one batch who move into one room together. A student without others is a team of one. */
export const LARGEST_TEAM = 4;
export const MOST_WISHES = 10;
/** Invitations of one team that may wait for an answer. */
export const MOST_INVITATIONS = 8;

export interface Person {
  readonly id: string;
  readonly name: string;
}

export interface Invitation {
  readonly id: string;
  readonly from: Person;
  readonly fromTeam: string;
  readonly to: Person;
  readonly atMs: number;
}

export interface Wishes {
  /** In order; the first is the dearest. */
  readonly roomIds: readonly string[];
  /** "0": nobody has written any. By the clock of the Redis server. */
  readonly version: string;
  /** Who wrote them last; null: nobody. */
  readonly by: Person | null;
  readonly atMs: number | null;
}

export interface TeamView {
  readonly id: string;
  readonly batchId: string;
  readonly members: readonly Person[];
  readonly wishes: Wishes;
  /** Invitations to the student who looks. */
  readonly received: readonly Invitation[];
  /** Invitations that members of the team sent. */
  readonly sent: readonly Invitation[];
}

/** The reasons why a change of a team is refused. */
export type TeamRefusal =
  /** No student of this batch has this number. */
  | "no-such-student"
  | "yourself"
  | "same-team"
  /** The two teams together would have more than LARGEST_TEAM members. */
  | "too-large"
  | "too-many-invitations"
  | "invited-already"
  /** The invitation was answered, withdrawn or refused meanwhile. */
  | "no-such-invitation"
  /** Others changed what it is about, each time that it was decided. */
  | "changing"
  /** A student who is in a team leaves it before joining another. */
  | "in-a-team"
  | "not-in-a-team"
  /** A team that has a room gives it up first. */
  | "has-room"
  | "batch-over"
  | "not-in-batch";

export type TeamResult = { readonly ok: true } | { readonly ok: false; readonly reason: TeamRefusal };

export type WishesResult =
  | { readonly ok: true; readonly version: string }
  /** Somebody else was quicker: nothing was written. `current` says who, and what is there now. */
  | { readonly ok: false; readonly reason: "stale"; readonly current: Wishes }
  | {
      readonly ok: false;
      readonly reason: "no-such-room" | "twice" | "too-many" | "batch-over" | "not-in-batch";
    };

/** The team as it is stored. */
export interface Team {
  readonly id: string;
  /** Sorted. */
  readonly members: readonly string[];
  /** Rises with every change of the members. */
  readonly version: string;
}

/** Whether an invitation may be sent; null: it may. */
export function refusalOfInvitation(
  from: Team,
  to: { readonly studentId: string; readonly team: Team } | null,
  pending: readonly Pick<Invitation, "fromTeam" | "to">[],
  sender: string,
): TeamRefusal | null {
  if (to === null) return "no-such-student";
  if (to.studentId === sender) return "yourself";
  if (from.members.includes(to.studentId)) return "same-team";
  if (to.team.members.length > 1) return "in-a-team";
  if (from.members.length + 1 > LARGEST_TEAM) return "too-large";
  const own = pending.filter((one) => one.fromTeam === from.id);
  if (own.some((one) => one.to.id === to.studentId)) return "invited-already";
  return own.length >= MOST_INVITATIONS ? "too-many-invitations" : null;
}

/** The invitations that end when one is accepted: all others on both sides, in both directions. */
export function endedBy(accepted: Invitation, pending: readonly Invitation[], host: Team): Invitation[] {
  const people = new Set([...host.members, accepted.to.id]);
  return pending.filter(
    (one) => one.id !== accepted.id && (people.has(one.from.id) || people.has(one.to.id)),
  );
}

/** Whether wishes may be written; null: they may. */
export function refusalOfWishes(
  roomIds: readonly string[],
  isRoom: (roomId: string) => boolean,
): "no-such-room" | "twice" | "too-many" | null {
  if (roomIds.length > MOST_WISHES) return "too-many";
  if (new Set(roomIds).size < roomIds.length) return "twice";
  return roomIds.every(isRoom) ? null : "no-such-room";
}
