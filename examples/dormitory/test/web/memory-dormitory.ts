/** The service in the memory of one process, for tests of pages only: the rules are the real ones, the stores are maps. */
import { randomUUID } from "node:crypto";
import type { Batch } from "../../src/domain/batch.js";
import { stateOf } from "../../src/domain/batch.js";
import { EditRefused } from "../../src/domain/edit-refused.js";
import type { Place, RoomView } from "../../src/domain/room.js";
import { type Action, type Away, decide, type Outcome, type TicketView } from "../../src/domain/selection.js";
import type { Dormitory } from "../../src/domain/service.js";
import type { ImportResult, Student } from "../../src/domain/student.js";
import {
  endedBy,
  type Invitation,
  refusalOfInvitation,
  refusalOfWishes,
  type TeamResult,
  type TeamView,
  type Wishes,
} from "../../src/domain/team.js";

interface MemoryTeam {
  readonly id: string;
  members: string[];
  wishes: Wishes;
}

/** The answer to every import. */
const nothing: ImportResult = {
  imported: 0,
  problems: [{ line: 2, problem: "number", text: "<b>x</b>" }],
};

export class MemoryDormitory {
  readonly batches = new Map<string, Batch>();
  readonly students = new Map<string, Student & { readonly password: string }>();
  readonly rooms = new Map<string, Omit<RoomView, "free">>();
  readonly teams = new Map<string, MemoryTeam>();
  places: Place[] = [];
  invitations: Invitation[] = [];
  readonly outcomes = new Map<string, Outcome>();
  readonly newest = new Map<string, Outcome>();
  /** A student whose requests wait in the lane for now. */
  waiting: TicketView | null = null;
  /** What a stream says after the present view. */
  afterwards: readonly (TicketView | Away)[] = [];
  /** Ids of the requests, as the pages sent them. */
  readonly requestIds: (string | undefined)[] = [];
  readonly #now: () => number;
  #version = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  addStudent(id: string, name: string, batchId: string | null, role: Student["role"] = "student"): Student {
    const student = { id, name, batchId, role, password: `password of ${id}` };
    this.students.set(id, student);
    if (batchId)
      this.teams.set(id, { id, members: [id], wishes: { roomIds: [], version: "0", by: null, atMs: null } });
    return student;
  }

  teamOf(id: string): MemoryTeam {
    const team = [...this.teams.values()].find(({ members }) => members.includes(id));
    if (!team) throw new Error(`${id} has no team`);
    return team;
  }

  person(id: string) {
    return { id, name: this.students.get(id)?.name ?? id };
  }

  view(student: Student): TeamView | null {
    if (student.batchId === null) return null;
    const { id, members, wishes } = this.teamOf(student.id);
    return {
      ...{ id, wishes, batchId: student.batchId },
      members: members.map((each) => this.person(each)),
      received: this.invitations.filter(({ to }) => to.id === student.id),
      sent: this.invitations.filter(({ fromTeam }) => fromTeam === id),
    };
  }

  roomsOf(batchId: string): RoomView[] {
    return [...this.rooms.values()]
      .filter((room) => room.batchId === batchId)
      .map((room) => ({
        ...room,
        free: room.beds - this.places.filter(({ roomId }) => roomId === room.id).length,
      }));
  }

  invite(from: Student, toNumber: string): TeamResult {
    const to = this.students.get(toNumber);
    const team = this.teamOf(from.id);
    const found =
      to?.batchId === from.batchId && to
        ? { studentId: to.id, team: { ...this.teamOf(to.id), version: "" } }
        : null;
    const reason = refusalOfInvitation({ ...team, version: "" }, found, this.invitations, from.id);
    if (reason) return { ok: false, reason };
    const invitation = {
      id: randomUUID(),
      from: this.person(from.id),
      fromTeam: team.id,
      to: this.person(toNumber),
    };
    this.invitations.push({ ...invitation, atMs: this.#now() });
    return { ok: true };
  }

  accept(student: Student, id: string): TeamResult {
    const invitation = this.invitations.find((one) => one.id === id && one.to.id === student.id);
    const host = invitation && this.teams.get(invitation.fromTeam);
    if (!invitation || !host) return { ok: false, reason: "no-such-invitation" };
    const ended = endedBy(invitation, this.invitations, { ...host, version: "" });
    this.invitations = this.invitations.filter((one) => one !== invitation && !ended.includes(one));
    this.teams.delete(this.teamOf(student.id).id);
    host.members = [...host.members, student.id].sort();
    return { ok: true };
  }

  act(student: Student, action: Action, requestId: string = randomUUID()): Outcome {
    this.requestIds.push(requestId);
    const known = this.outcomes.get(requestId);
    if (known) return known;
    const team = this.teamOf(student.id);
    const batch = this.batches.get(student.batchId ?? "");
    const decision = decide(action, {
      batchState: batch ? stateOf({ ...batch, archived: false }, this.#now()) : "closed",
      team: { ...team, version: "" },
      places: this.places.filter(({ studentId }) => team.members.includes(studentId)),
      wishes: team.wishes.roomIds,
      rooms: this.roomsOf(student.batchId ?? ""),
      taken: this.places,
    });
    const common = { requestId, kind: action.kind, atMs: this.#now(), version: `${this.outcomes.size + 1}` };
    if (decision.kind === "change") {
      this.places = [...this.places.filter((place) => !decision.leave.includes(place)), ...decision.give];
    }
    const outcome: Outcome =
      decision.kind === "refuse"
        ? { ...common, state: "refused", reason: decision.reason }
        : { ...common, state: "done", places: decision.kind === "change" ? decision.give : [] };
    this.outcomes.set(requestId, outcome);
    this.newest.set(team.id, outcome);
    return outcome;
  }

  ticket(student: Student): TicketView | null {
    if (student.batchId === null) return null;
    if (this.waiting) return this.waiting;
    const team = this.teamOf(student.id);
    const outcome = this.newest.get(team.id) ?? null;
    return {
      state: outcome ? "decided" : "none",
      ...{ way: "locks", ticket: null, position: 0, ahead: 0, etaMs: null, outcome },
      places: this.places.filter(({ studentId }) => team.members.includes(studentId)),
      teamSize: team.members.length,
      version: `${this.outcomes.size}`,
    };
  }

  /** Both sides of the interface in one object would share names, so the service is another one. */
  #imported(batchId: string): ImportResult {
    if (this.batches.get(batchId)?.state === "archived") throw new EditRefused("archived");
    return nothing;
  }

  service(): Dormitory {
    const now = this.#now;
    return {
      batches: {
        list: async () => [...this.batches.values()].map((batch) => this.#present(batch)),
        get: async (id) => (this.batches.has(id) ? this.#present(this.batches.get(id) as Batch) : null),
        watch: async function* () {},
        create: async (draft) => this.#write({ ...draft, id: randomUUID(), state: "planned", version: 1n }),
        edit: async (id, change) => this.#write({ ...(this.batches.get(id) as Batch), ...pick(change) }),
        archive: async (id) => this.#write({ ...(this.batches.get(id) as Batch), endsAtMs: now() }),
        figures: async () => ({
          ...{ atMs: now(), students: this.students.size, rooms: this.rooms.size, beds: 8, queued: 3 },
          ...{ taken: this.places.length, perSecond: 1.5, retries: 0 },
          decided: { done: this.outcomes.size, refused: 0, regretted: 0 },
        }),
        contested: async () => [],
      },
      students: {
        find: async (id) => this.students.get(id) ?? null,
        verify: async (id, password) => {
          const student = this.students.get(id);
          return student?.password === password ? student : null;
        },
        ofBatch: async () => [...this.students.values()],
        importCsv: async (batchId) => this.#imported(batchId),
      },
      rooms: {
        of: async (batchId) => this.roomsOf(batchId),
        importCsv: async (batchId) => this.#imported(batchId),
      },
      teams: {
        of: async (student) => this.view(student),
        invite: async (from, number) => this.invite(from, number),
        accept: async (student, id) => this.accept(student, id),
        refuse: async (student, id) => {
          const found = this.invitations.find((one) => one.id === id && one.to.id === student.id);
          this.invitations = this.invitations.filter((one) => one !== found);
          return found ? { ok: true } : { ok: false, reason: "no-such-invitation" };
        },
        leave: async () => ({ ok: true }),
        setWishes: async (student, roomIds, version) => {
          const team = this.teamOf(student.id);
          if (team.wishes.version !== version) return { ok: false, reason: "stale", current: team.wishes };
          const reason = refusalOfWishes(roomIds, (id) => this.rooms.has(id));
          if (reason) return { ok: false, reason };
          this.#version += 1;
          team.wishes = { roomIds, version: `${this.#version}`, by: this.person(student.id), atMs: now() };
          return { ok: true, version: team.wishes.version };
        },
        importWishes: async () => nothing,
      },
      selection: {
        grab: async (student, id) => this.act(student, { kind: "grab" }, id),
        pick: async (student, roomId, id) => this.act(student, { kind: "pick", roomId }, id),
        regret: async (student, id) => this.act(student, { kind: "regret" }, id),
        ticket: async (student) => this.ticket(student),
        watch: (student, signal) => this.#watch(student, signal),
      },
      close: async () => {},
    };
  }

  async *#watch(student: Student, signal: AbortSignal): AsyncIterable<TicketView | Away> {
    const view = this.ticket(student);
    if (view) yield view;
    yield* this.afterwards;
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  }

  #present(batch: Batch): Batch {
    return { ...batch, state: stateOf({ ...batch, archived: false }, this.#now()) };
  }

  #write(batch: Batch) {
    if (batch.endsAtMs <= batch.startsAtMs)
      return { ok: false as const, reason: "terms" as const, subject: null };
    this.batches.set(batch.id, batch);
    return { ok: true as const, batch };
  }
}

/** Fields of the terms only: a test of pages does not move students. */
function pick(change: object): Partial<Batch> {
  return Object.fromEntries(
    Object.entries(change).filter(([name]) => ["name", "startsAtMs", "endsAtMs", "way"].includes(name)),
  );
}
