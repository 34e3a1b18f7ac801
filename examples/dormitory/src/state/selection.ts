/** What a student asks for: sends it the way of the batch, and shows where it is. */
import { randomUUID } from "node:crypto";
import { strayOutcome } from "../deciders/judge.js";
import { type SelectionLanes, selectionLanes } from "../deciders/lanes.js";
import type { LockDecider } from "../deciders/locks.js";
import type { Action, Away, Outcome, SelectionRequest, Ticket, TicketView } from "../domain/selection.js";
import type { Student } from "../domain/student.js";
import { Unreachable } from "../domain/unreachable.js";
import type { Decisions } from "./decisions.js";
import { type Look, look, type OpenTicket } from "./look.js";
import { answered, type Store } from "./store.js";
import type { Students } from "./students.js";

/** A view that nothing is known to change is looked at again after this time. */
const LOOK_AGAIN_MS = 10_000;
/** A place in the lane is looked at again after this time. */
const PLACE_EVERY_MS = 1_000;
/** A request that is decided within this time is answered with its outcome, and later ones with their ticket. */
const ANSWER_MS = 1_000;
const REQUEST_ID = /^[\w-]{8,64}$/;

interface SelectionParts {
  readonly store: Store;
  readonly locks: LockDecider;
  readonly decisions: Decisions;
  readonly students: Students;
}

export class Selection {
  readonly #store: Store;
  readonly #locks: LockDecider;
  readonly #lanes: SelectionLanes;
  readonly #decisions: Decisions;
  readonly #students: Students;

  constructor({ store, locks, decisions, students }: SelectionParts) {
    this.#store = store;
    this.#students = students;
    this.#locks = locks;
    this.#lanes = selectionLanes(store.hf);
    this.#decisions = decisions;
  }

  async ask(student: Student, action: Action, requestId: string = randomUUID()): Promise<Ticket | Outcome> {
    // An id that is no id could be one that another program wrote.
    const id = REQUEST_ID.test(requestId) ? `${student.id}.${requestId}` : randomUUID();
    const seen = await this.#look(student);
    const request: SelectionRequest = { id, batchId: seen?.batch.id ?? "", studentId: student.id, action };
    if (seen === null) return strayOutcome(request, "not-in-batch");
    if (seen.outcome?.requestId === request.id) return seen.outcome;
    if (seen.batch.way === "locks" || seen.batch.state !== "open") return this.#locks.decide(request);
    const open = openTicket(seen);
    if (open && isSame(open.action, action) && (await this.#waits(open))) return asTicket(open);
    return this.#push(request, seen);
  }

  /** The batch of a session may be an old one: the directory names the present one. Null: the student is in none. */
  async #look({ id, batchId }: Student): Promise<Look | null> {
    const [entry, seen] = await Promise.all([
      this.#students.find(id),
      batchId === null ? null : look(this.#store, batchId, id),
    ]);
    const present = entry?.batchId ?? null;
    if (present === batchId) return seen;
    return present === null ? null : look(this.#store, present, id);
  }

  async #push(request: SelectionRequest, { batch, team }: Look): Promise<Ticket | Outcome> {
    const ticket = await answered("unknown", this.#lanes.push(batch.id, request));
    const open: OpenTicket = { ticket, requestId: request.id, action: request.action };
    const { redis, keys } = this.#store;
    await answered("unknown", redis.hset(keys.of(batch.id, "tickets"), team.id, JSON.stringify(open)));
    // Most requests are decided within a moment: then the page needs to ask only once.
    const outcome = await this.#lanes.result(ticket, { wait: ANSWER_MS }).catch(() => null);
    return outcome?.status === "done" ? outcome.result : asTicket(open);
  }

  /** Whether it is still in its lane: after a loss of data it may be gone, and has to be asked for again. */
  async #waits({ ticket }: OpenTicket): Promise<boolean> {
    return (await answered("nothing", this.#lanes.position(ticket))).state !== "over";
  }

  async ticket(student: Student): Promise<TicketView | null> {
    const seen = await this.#look(student);
    return seen && this.#view(student, seen);
  }

  async #view(student: Student, seen: Look): Promise<TicketView> {
    const open = openTicket(seen);
    if (open === null) return decidedView(seen);
    const { state, position, ahead, etaMs } = await answered("nothing", this.#lanes.position(open.ticket));
    if (state !== "over") {
      const base = { ...decidedView(seen), outcome: null };
      return { ...base, state, ticket: open.ticket, position, ahead, etaMs };
    }
    // It was decided since the look. If it was not, then Redis has lost it, and the student may ask again.
    const again = await look(this.#store, seen.batch.id, student.id);
    return decidedView(again ?? seen);
  }

  async *watch(student: Student, signal: AbortSignal): AsyncGenerator<TicketView | Away> {
    let shown = "";
    while (!signal.aborted) {
      const { seen, view } = await this.#present(student);
      const batchId = seen?.batch.id ?? student.batchId;
      if (signal.aborted || batchId === null) return;
      const text = JSON.stringify(view);
      if (view && text !== shown) {
        shown = text;
        yield view;
      }
      const isStill = view?.state === "none" || view?.state === "decided";
      const mostMs = isStill ? LOOK_AGAIN_MS : PLACE_EVERY_MS;
      await this.#decisions.next(batchId, seen?.team.id ?? "", mostMs, signal);
    }
  }

  /** A view of null: the student is in no batch. */
  async #present(student: Student): Promise<{ seen: Look | null; view: TicketView | Away | null }> {
    let seen: Look | null = null;
    try {
      seen = await this.#look(student);
      return { seen, view: seen && (await this.#view(student, seen)) };
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      return { seen, view: { state: "away" } };
    }
  }
}

function decidedView({ batch, team, outcome, places }: Look): TicketView {
  return {
    state: outcome === null ? "none" : "decided",
    way: batch.way,
    ticket: null,
    position: 0,
    ahead: 0,
    etaMs: null,
    outcome,
    places,
    teamSize: team.members.length,
    version: outcome?.version ?? "0",
  };
}

/** The request in the lane that is not decided yet, as far as the outcome says. */
function openTicket({ ticket, outcome }: Look): OpenTicket | null {
  return ticket && ticket.requestId !== outcome?.requestId ? ticket : null;
}

function asTicket({ ticket, requestId }: OpenTicket): Ticket {
  return { state: "waiting", requestId, ticket };
}

function isSame(one: Action, other: Action): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
