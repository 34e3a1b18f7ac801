/**
 * Teams and invitations. A change takes the locks of all students whom it concerns, in the canonical order; looks; decides by the rules
 * of ../domain/team.ts; and writes all of it with one script, under the fences of the locks.
 */
import { randomUUID } from "node:crypto";
import type { Lease } from "holdfast";
import { byCode } from "../domain/order.js";
import type { Student } from "../domain/student.js";
import {
  endedBy,
  type Invitation,
  LARGEST_TEAM,
  type Person,
  refusalOfInvitation,
  refusalOfWishes,
  type Team,
  type TeamRefusal,
  type TeamResult,
  type TeamView,
  type WishesResult,
} from "../domain/team.js";
import { type FenceEntry, fenceEntry } from "./fences.js";
import { type Look, look } from "./look.js";
import { newId } from "./names.js";
import { type NamedLease, underLocks } from "./nested-locks.js";
import type { Rooms } from "./rooms.js";
import { answered, piped, type Store } from "./store.js";
import { readWishes, writeWishes } from "./wishes.js";

const MOST_TRIES = 5;
const VERSION = /^\d{1,16}$/;

interface Change {
  readonly expectTeams?: readonly Team[];
  readonly expectInvitation?: string;
  /** Students who may not have a room. */
  readonly withoutRoom?: readonly string[];
  readonly setTeams?: readonly { readonly id: string; readonly members: readonly string[] }[];
  readonly dropTeams?: readonly string[];
  readonly addInvitations?: readonly Omit<Invitation, "atMs">[];
  readonly dropInvitations?: readonly string[];
}

/** A decision under the locks: a change, a refusal, or that it concerns more students than are locked. */
type Verdict =
  | { readonly change: Change }
  | { readonly refusal: TeamRefusal }
  | { readonly concerns: readonly string[] };

export class Teams {
  readonly #store: Store;
  readonly #rooms: Rooms;

  constructor(store: Store, rooms: Rooms) {
    this.#store = store;
    this.#rooms = rooms;
  }

  async of(student: Student): Promise<TeamView | null> {
    const seen = await this.#look(student);
    if (seen === null) return null;
    const { team, batch } = seen;
    const [wishes, invitations, names] = await Promise.all([
      readWishes(this.#store.hf, batch.id, team.id),
      this.#pending(batch.id),
      this.#names(batch.id, team.members),
    ]);
    return {
      id: team.id,
      batchId: batch.id,
      members: names,
      wishes,
      received: invitations.filter(({ to }) => to.id === student.id),
      sent: invitations.filter(({ fromTeam }) => fromTeam === team.id),
    };
  }

  invite(from: Student, toNumber: string): Promise<TeamResult> {
    return this.#change(from, [from.id, toNumber], async ({ batch, team }, locked) => {
      // Another member may invite as well, and the bound is that of the team.
      if (team.members.some((member) => !locked.has(member)))
        return { concerns: [...team.members, toNumber] };
      const [other, pending, names] = await Promise.all([
        look(this.#store, batch.id, toNumber),
        this.#pending(batch.id),
        this.#names(batch.id, [from.id, toNumber]),
      ]);
      const to = other && { studentId: toNumber, team: other.team };
      const refusal = refusalOfInvitation(team, to, pending, from.id);
      if (refusal) return { refusal };
      const [sender, receiver] = names as [Person, Person];
      const invitation = { id: randomUUID(), from: sender, fromTeam: team.id, to: receiver };
      return { change: { expectTeams: [team, (other as Look).team], addInvitations: [invitation] } };
    });
  }

  async accept(student: Student, invitationId: string): Promise<TeamResult> {
    return this.#change(student, [student.id], async ({ batch, team }, locked) => {
      const pending = await this.#pending(batch.id);
      const invitation = pending.find(({ id, to }) => id === invitationId && to.id === student.id);
      if (!invitation) return { refusal: "no-such-invitation" };
      if (team.members.length > 1) return { refusal: "in-a-team" };
      const host = await look(this.#store, batch.id, invitation.from.id);
      // The one who invited may have left the team meanwhile: the invitation was the team's.
      if (host === null || host.team.id !== invitation.fromTeam) return { refusal: "no-such-invitation" };
      const members = [...host.team.members, student.id].sort(byCode);
      if (members.length > LARGEST_TEAM) return { refusal: "too-large" };
      if (members.some((member) => !locked.has(member))) return { concerns: members };
      return {
        change: {
          expectTeams: [team, host.team],
          expectInvitation: invitation.id,
          withoutRoom: members,
          setTeams: [{ id: host.team.id, members }],
          dropTeams: [team.id],
          dropInvitations: [invitation.id, ...endedBy(invitation, pending, host.team).map(({ id }) => id)],
        },
      };
    });
  }

  refuse(student: Student, invitationId: string): Promise<TeamResult> {
    return this.#change(student, [student.id], async ({ batch, team }) => {
      const pending = await this.#pending(batch.id);
      const invitation = pending.find(({ id }) => id === invitationId);
      if (!invitation || (invitation.to.id !== student.id && invitation.fromTeam !== team.id))
        return { refusal: "no-such-invitation" };
      return { change: { expectInvitation: invitation.id, dropInvitations: [invitation.id] } };
    });
  }

  leave(student: Student): Promise<TeamResult> {
    return this.#change(student, [student.id], async ({ batch, team }, locked) => {
      if (team.members.length === 1) return { refusal: "not-in-a-team" };
      if (team.members.some((member) => !locked.has(member))) return { concerns: team.members };
      const pending = await this.#pending(batch.id);
      const rest = team.members.filter((member) => member !== student.id);
      return {
        change: {
          expectTeams: [team],
          withoutRoom: team.members,
          setTeams: [
            { id: team.id, members: rest },
            { id: `t${student.id}.${newId()}`, members: [student.id] },
          ],
          dropInvitations: pending.filter(({ from }) => from.id === student.id).map(({ id }) => id),
        },
      };
    });
  }

  /** Under the student's lock, so that the team is the one that the wishes are of when they are written. */
  async setWishes(student: Student, roomIds: readonly string[], version: string): Promise<WishesResult> {
    const { batchId } = student;
    if (batchId === null) return { ok: false, reason: "not-in-batch" };
    const names = { members: [student.id], rooms: [] };
    return underLocks(this.#store.hf, batchId, names, () => this.#setWishes(student, roomIds, version));
  }

  async #setWishes(student: Student, roomIds: readonly string[], version: string): Promise<WishesResult> {
    const seen = await this.#look(student);
    if (seen === null) return { ok: false, reason: "not-in-batch" };
    const { batch, team, nowMs } = seen;
    if (batch.state === "closed" || batch.state === "archived") return { ok: false, reason: "batch-over" };
    const rooms = await this.#rooms.known(batch.id, batch.version);
    const refusal = refusalOfWishes(roomIds, (id) => rooms.has(id));
    if (refusal) return { ok: false, reason: refusal };
    const place = { batchId: batch.id, teamId: team.id };
    const value = { roomIds, by: { id: student.id, name: student.name }, atMs: nowMs };
    // A version that is no number is one that nobody has seen.
    const written = await writeWishes(this.#store.hf, place, value, VERSION.test(version) ? version : "1");
    if (written.ok) return written;
    return { ok: false, reason: "stale", current: written.current };
  }

  async #change(
    student: Student,
    concerns: readonly string[],
    decide: (seen: Look, locked: ReadonlySet<string>) => Promise<Verdict>,
  ): Promise<TeamResult> {
    const { batchId } = student;
    if (batchId === null) return refused("not-in-batch");
    let students = concerns;
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const result = await underLocks(
        this.#store.hf,
        batchId,
        { members: students, rooms: [] },
        async (leases) => {
          const seen = await this.#look(student);
          if (seen === null) return refused("not-in-batch");
          if (seen.batch.state === "closed" || seen.batch.state === "archived") return refused("batch-over");
          const verdict = await decide(seen, new Set(students));
          if ("refusal" in verdict) return refused(verdict.refusal);
          if ("concerns" in verdict) return verdict.concerns;
          return this.#write(batchId, verdict.change, leases);
        },
      );
      if (result === "moved") continue;
      if (!("ok" in result)) students = result;
      else return result;
    }
    return refused("changing");
  }

  async #write(
    batchId: string,
    change: Change,
    leases: readonly NamedLease[],
  ): Promise<TeamResult | "moved"> {
    // A lease that is over ends the try before the script has to refuse it.
    if (leases.some(({ lease }) => !lease.valid)) return "moved";
    const written = await this.#store.run(
      "changeTeams",
      batchId,
      [
        JSON.stringify({
          fences: fencesOf(leases),
          expectTeams: change.expectTeams ?? [],
          expectInvitation: change.expectInvitation,
          withoutRoom: change.withoutRoom ?? [],
          setTeams: change.setTeams ?? [],
          dropTeams: change.dropTeams ?? [],
          addInvitations: change.addInvitations ?? [],
          dropInvitations: change.dropInvitations ?? [],
        }),
      ],
      "unknown",
    );
    if (written === "done") return { ok: true };
    return written === "has-room" ? refused("has-room") : "moved";
  }

  async #look(student: Student): Promise<Look | null> {
    return student.batchId === null ? null : look(this.#store, student.batchId, student.id);
  }

  async #pending(batchId: string): Promise<Invitation[]> {
    const { redis, keys } = this.#store;
    const texts = await answered("nothing", redis.hvals(keys.of(batchId, "invitations")));
    const invitations = texts.map((text) => JSON.parse(text) as Invitation);
    return invitations.sort((one, other) => one.atMs - other.atMs || byCode(one.id, other.id));
  }

  async #names(batchId: string, ids: readonly string[]): Promise<Person[]> {
    const { redis, keys } = this.#store;
    const [names] = (await piped(redis.pipeline().hmget(keys.of(batchId, "people"), ...ids), "nothing")) as [
      (string | null)[],
    ];
    return ids.map((id, at) => ({ id, name: names[at] ?? id }));
  }
}

function fencesOf(leases: readonly NamedLease[]): FenceEntry[] {
  return leases.map(({ name, lease }: { name: string; lease: Lease }) => fenceEntry(name, lease));
}

function refused(reason: TeamRefusal): TeamResult {
  return { ok: false, reason };
}
