/**
 * Collecting: the wait of a claim for a quorum. It is in line wherever it has no seat, with one ticket for all nodes, so that all lines
 * have the same order. It keeps each seat that it gets for a while: whoever gets it then may have the others, for instance because this
 * process reaches only a few of the nodes.
 */
import { leaseLeftMs } from "../../../time/clock.js";
import { jittered, type Random } from "../../../time/random.js";
import type { Alarm, Schedule } from "../../../time/schedule.js";
import type { Claim } from "../../backend.js";
import type { Seat } from "./seat.js";
import { comesBefore, commonTicket, quorumOf } from "./votes.js";
import { askForSeats } from "./yields.js";

export interface CollectingParts {
  readonly schedule: Schedule;
  readonly random: Random;
  /** The token that a claim asks of all nodes: what their clocks show, as far as they have told it. */
  readonly commonToken: () => string | undefined;
}

/** The share of the ttl for which a seat is kept. A quorum of such seats has the rest of it. */
const KEEP_SHARE = 1 / 3;
/** How long a claim stays away from a node to which it gave a seat back in vain. A claim that cannot stand in line asks meanwhile. */
const AWAY_MS = 500;
/** How long a claim that was denied by some nodes waits for the answers of the others before it stands in line. */
const PATIENCE_MS = 30;
/** How often a claim that waits looks whether a node may be asked again. */
const LOOK_MS = 1_000;

export class Collecting {
  readonly #claim: Claim;
  readonly #seats: readonly Seat[];
  readonly #parts: CollectingParts;
  readonly #onLook: () => void;
  #ticket: string | null = null;
  #alarm: Alarm | null = null;
  /** Begins the wait although answers are missing. */
  #patience: Alarm | null = null;
  /** When nodes without a seat are asked again, on the monotonic clock. */
  #lookAtMs: number | null = null;

  /** @param onLook called after nodes were looked at again */
  constructor(claim: Claim, seats: readonly Seat[], parts: CollectingParts, onLook: () => void) {
    this.#claim = claim;
    this.#seats = seats;
    this.#parts = parts;
    this.#onLook = onLook;
  }

  /** The place of the claim in all lines. Null: it has not had to wait yet. */
  get ticket(): string | null {
    return this.#ticket;
  }

  #takeTicket(): string {
    if (this.#ticket !== null) return this.#ticket;
    const { schedule, commonToken } = this.#parts;
    const ownUs = Math.floor(schedule.clock.now().wallMs * 1_000);
    // A claim with a floor has not asked the nodes before. The clock of this process may be behind theirs, and the claim would come first.
    const presumed = commonToken() ?? String(ownUs).padStart(16, "0");
    const clocks = this.#seats.map(({ clock }) => clock);
    this.#ticket = commonTicket(clocks, presumed);
    return this.#ticket;
  }

  /** A seat was granted. */
  keep(seat: Seat): void {
    const keepMs = jittered(this.#parts.random, this.#claim.ttlMs * KEEP_SHARE, 0.5);
    const { monoMs } = this.#parts.schedule.clock.now();
    seat.yieldAtMs = monoMs + Math.min(keepMs, Math.max(this.#leftMs(seat), 0));
  }

  #leftMs({ grant }: Seat): number {
    return grant ? leaseLeftMs(this.#parts.schedule.clock.now(), grant.sentAt, this.#claim.ttlMs) : 0;
  }

  /** Asks again for those of the seats whose lease is over. */
  replace(seats: readonly Seat[]): void {
    const ticket = this.#takeTicket();
    for (const seat of seats) if (this.#leftMs(seat) <= 0) seat.yield(ticket);
  }

  /** Goes where it has no seat, and offers to others what it has. To be called after each change until there is a quorum. */
  collect(): void {
    const ticket = this.#takeTicket();
    const own = { ticket, id: this.#claim.id };
    const isHopeless = this.#isHopeless();
    for (const seat of this.#seats) {
      if (seat.state === "denied") seat.join(ticket);
      else if (seat.state === "granted") {
        seat.node.context.inbox.open(); // on which others ask for it
        if (isHopeless) seat.giveUp();
        else if (seat.wanted && comesBefore(seat.wanted, own)) seat.yield(ticket);
      } else if (isHopeless && seat.state === "in line" && seat.error) seat.quit();
    }
    if (!isHopeless) this.#rejoin(ticket);
    askForSeats(this.#seats, own);
    this.#arm();
  }

  /** Stands in line where it has no seat, but not at once where it gave one back in vain. */
  #rejoin(ticket: string): void {
    const { monoMs } = this.#parts.schedule.clock.now();
    const vacant = this.#seats.filter((seat) => isVacant(seat) && seat.error === null);
    const granted = this.#seats.filter(({ state }) => state === "granted");
    // With those it may have a quorum now.
    const isNeeded = granted.length > 0 && granted.length + vacant.length >= quorumOf(this.#seats.length);
    for (const seat of vacant)
      if (isNeeded || seat.awayUntilMs <= monoMs) seat.rejoin(ticket, this.#claim.minFence);
  }

  /** A node has denied the claim, and the answers to come may still make a quorum. One that hangs must not cost it its place in line. */
  beginSoon(begin: () => void): void {
    this.#patience ??= this.#parts.schedule.after(PATIENCE_MS, begin);
  }

  /** Too many nodes do not answer, or may not be asked: what it has then only keeps others from a quorum. */
  #isHopeless(): boolean {
    const may = ({ state, error, node }: Seat): boolean =>
      state === "granted" || (error === null && node.silence === null);
    return this.#seats.filter(may).length < quorumOf(this.#seats.length);
  }

  /** There is a quorum, or the claim is over. */
  rest(): void {
    this.#parts.schedule.cancel(this.#alarm);
    this.#alarm = null;
    this.#parts.schedule.cancel(this.#patience);
    this.#patience = null;
    this.#lookAtMs = null;
  }

  /** Sets the alarm for the next seat to give up, or node to ask again. */
  #arm(): void {
    const { schedule, random } = this.#parts;
    const { monoMs } = schedule.clock.now();
    let dueMs = Number.POSITIVE_INFINITY;
    for (const seat of this.#seats) {
      if (seat.state === "granted") dueMs = Math.min(dueMs, seat.yieldAtMs);
      if (!isVacant(seat)) continue;
      if (seat.error === null && seat.awayUntilMs > monoMs) {
        dueMs = Math.min(dueMs, seat.awayUntilMs);
        continue;
      }
      const lookMs = Math.min(this.#claim.ttlMs * KEEP_SHARE, LOOK_MS);
      this.#lookAtMs ??= monoMs + jittered(random, lookMs, 0.5);
      dueMs = Math.min(dueMs, this.#lookAtMs);
    }
    if (this.#alarm?.dueMs === dueMs) return;
    schedule.cancel(this.#alarm);
    this.#alarm = schedule.at(dueMs, () => this.#ring());
  }

  #ring(): void {
    this.#alarm = null;
    const { schedule, random } = this.#parts;
    const nowMs = schedule.clock.now().monoMs;
    const ticket = this.#takeTicket();
    const looks = this.#lookAtMs !== null && this.#lookAtMs <= nowMs;
    if (looks) this.#lookAtMs = null;
    for (const seat of this.#seats) {
      if (seat.state === "granted" && seat.yieldAtMs <= nowMs)
        seat.yield(ticket, jittered(random, AWAY_MS, 0.5));
      else if (looks && isVacant(seat) && seat.error) seat.knock(ticket);
    }
    this.collect();
    if (looks) this.#onLook();
  }
}

/** The claim asks and holds nothing at the node, and may ask again. */
function isVacant({ state, isRefused }: Seat): boolean {
  return state === "absent" && !isRefused;
}
