/**
 * The first way to decide: under locks. The batch is read-locked, so that an administrator's edit waits; then the members of the team,
 * then the rooms, each kind in its canonical order. The conditions are looked at before any lock is taken, because most refusals need
 * none, and again under the locks. The decision is written with one script, which refuses a holder that was overtaken.
 */
import type { Duration, Holdfast } from "holdfast";
import type { Names } from "../domain/order.js";
import type { Decision, Outcome, SelectionRequest } from "../domain/selection.js";
import { fenceEntry } from "../state/fences.js";
import { batchLock } from "../state/names.js";
import { locked, type NamedLease, underLocks } from "../state/nested-locks.js";
import { type Case, type Judge, strayOutcome } from "./judge.js";

const BATCH_TTL = "5s";
const BATCH_WAIT = "20s";
/** The wishes and the team may change under the decision; somebody who changes them all the time gets no room. */
const MOST_TRIES = 30;

export class LockDecider {
  readonly #hf: Holdfast;
  readonly #judge: Judge;
  readonly #lockWait: Duration | undefined;

  /** @param lockWait for each lock, in place of the usual waits */
  constructor(hf: Holdfast, judge: Judge, lockWait?: Duration) {
    this.#hf = hf;
    this.#judge = judge;
    this.#lockWait = lockWait;
  }

  /** The outcome, which is durable. @throws {Unreachable} */
  async decide(request: SelectionRequest): Promise<Outcome> {
    const before = await this.#judge.read(request);
    if (before === null) return strayOutcome(request, "not-in-batch");
    if (before.look.outcome?.requestId === request.id) return before.look.outcome;
    if (before.decision.kind !== "change") {
      const written = await this.#judge.write(before, []);
      if (typeof written !== "string") return written;
    }
    const lock = this.#hf.rwLock(batchLock(request.batchId), { ttl: BATCH_TTL }).read();
    const lease = await locked(lock.acquire({ wait: this.#lockWait ?? BATCH_WAIT }));
    try {
      return await this.#underBatch(request, before);
    } finally {
      await lease.release();
    }
  }

  async #underBatch(request: SelectionRequest, before: Case): Promise<Outcome> {
    let concerned = before.situation.team.members;
    let rooms: readonly string[] = roomsOf(before.decision);
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const result = await underLocks(
        this.#hf,
        request.batchId,
        { members: concerned, rooms: [] },
        (leases) => this.#underMembers(request, { members: concerned, rooms }, leases),
        this.#lockWait,
      );
      if ("state" in result) return result;
      concerned = result.members;
      rooms = [];
    }
    return strayOutcome(request, "changing");
  }

  /** The outcome, or the members that the team has by now. The rooms are those that the decision fell on before the locks. */
  async #underMembers(
    request: SelectionRequest,
    { members, rooms: likely }: Names,
    leases: readonly NamedLease[],
  ): Promise<Outcome | { readonly members: readonly string[] }> {
    let rooms = likely;
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const under = { members: [], rooms };
      const result = await underLocks(
        this.#hf,
        request.batchId,
        under,
        (inner) => this.#underRooms(request, members, rooms, [...leases, ...inner]),
        this.#lockWait,
      );
      if (!("rooms" in result)) return result;
      rooms = result.rooms;
    }
    return { members };
  }

  /** The outcome, or what has to be locked instead: the team has other members, or the decision falls on other rooms. */
  async #underRooms(
    request: SelectionRequest,
    members: readonly string[],
    rooms: readonly string[],
    leases: readonly NamedLease[],
  ): Promise<Outcome | { readonly members: readonly string[] } | { readonly rooms: readonly string[] }> {
    const found = await this.#judge.read(request);
    if (found === null) return strayOutcome(request, "not-in-batch");
    if (found.look.outcome?.requestId === request.id) return found.look.outcome;
    const { team } = found.situation;
    if (team.members.some((member) => !members.includes(member))) return { members: team.members };
    const wanted = roomsOf(found.decision);
    if (wanted.some((room) => !rooms.includes(room))) return { rooms: wanted };
    return this.#write(found, rooms, leases);
  }

  async #write(
    found: Case,
    rooms: readonly string[],
    leases: readonly NamedLease[],
  ): Promise<Outcome | { readonly rooms: readonly string[] } | { readonly members: readonly string[] }> {
    // A lease that is over ends the attempt before the script has to refuse it.
    if (leases.some(({ lease }) => !lease.valid)) return { members: found.situation.team.members };
    const written = await this.#judge.write(
      found,
      leases.map(({ name, lease }) => fenceEntry(name, lease)),
    );
    if (typeof written !== "string") return written;
    return written === "stale" ? { members: found.situation.team.members } : { rooms };
  }
}

function roomsOf(decision: Decision): string[] {
  if (decision.kind !== "change") return [];
  return [...new Set([...decision.give, ...decision.leave].map(({ roomId }) => roomId))];
}
