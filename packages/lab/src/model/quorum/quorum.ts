/**
 * The token of a lock over several servers as a model: attempts ask nodes, each grant stamps its hold with a new token,
 * the attempt takes the largest stamp, and confirms it at the nodes whose stamps are smaller.
 *
 * Messages may be lost, delayed and repeated, clients may stop anywhere: an attempt that never takes its
 * next step is all of that, so none ever has to give up. A grant and its answer are one step; an answer that is
 * lost is a late copy that nobody hears. All holds of one attempt at one node have one name here, which
 * allows more than names of their own do.
 */
import type { Emit, Model, State } from "../model.js";
import { QuorumPlaces } from "./places.js";
import { QuorumServers } from "./servers.js";
import { sortNodes } from "./symmetry.js";
import type { QuorumTerms } from "./terms.js";
import { QuorumAction, quorumWords } from "./words.js";

/** `lost`: its token was returned to a caller and counts, and its holds are gone. */
export const Phase = { idle: 0, asking: 1, confirming: 2, issued: 3, over: 4, lost: 5 } as const;

function isIssued(phase: number | undefined): boolean {
  return phase === Phase.issued || phase === Phase.lost;
}

export class QuorumModel implements Model {
  readonly terms: QuorumTerms;
  readonly places: QuorumPlaces;
  readonly size: number;
  readonly #servers: QuorumServers;

  constructor(terms: QuorumTerms) {
    this.terms = terms;
    this.places = new QuorumPlaces(terms);
    this.size = this.places.size;
    this.#servers = new QuorumServers(terms, this.places);
  }

  canonical(state: State): void {
    sortNodes(state, this.terms.nodes, this.places.width);
  }

  broken(state: State): string | null {
    const { places, terms } = this;
    for (let one = 0; one < terms.attempts; one++) {
      if (!isIssued(state[places.phase(one)])) continue;
      const token = state[places.tokenOf(one)] as number;
      if (token <= (state[places.issuedBefore(one)] as number))
        return "a token is not above one issued before its attempt began";
      for (let other = one + 1; other < terms.attempts; other++) {
        if (!isIssued(state[places.phase(other)])) continue;
        if (Math.abs((state[places.tokenOf(other)] as number) - token) < terms.turns)
          return "two attempts were issued the same token";
      }
    }
    return null;
  }

  words(action: number, x: number, y: number, before: State, after: State): string {
    return quorumWords(this.terms, this.places, { action, x, y, before, after });
  }

  steps(now: State, to: State, emit: Emit): void {
    const { attempts, nodes } = this.terms;
    for (let attempt = 0; attempt < attempts; attempt++) {
      const phase = now[this.places.phase(attempt)];
      if (phase === Phase.idle) {
        this.#start(attempt, to, emit);
        break; // which of those that have not begun is the next makes no difference
      }
      if (phase === Phase.asking) this.#ask(attempt, now, to, emit);
      else if (phase === Phase.confirming) this.#confirmAll(attempt, now, to, emit);
      else if (this.#mayReturn(phase)) this.#return(attempt, now, to, emit);
      this.#late(attempt, now, to, emit);
    }
    for (let node = 0; node < nodes; node++) this.#nodeSteps(node, now, to, emit);
  }

  #start(attempt: number, to: State, emit: Emit): void {
    let issued = 0;
    for (let other = 0; other < this.terms.attempts; other++) {
      if (!isIssued(to[this.places.phase(other)])) continue;
      issued = Math.max(issued, this.#lastToken(other, to));
    }
    to[this.places.phase(attempt)] = Phase.asking;
    to[this.places.issuedBefore(attempt)] = issued;
    emit(QuorumAction.start, attempt, 0);
  }

  #lastToken(attempt: number, state: State): number {
    return (state[this.places.tokenOf(attempt)] as number) + this.terms.turns - 1;
  }

  #ask(attempt: number, now: State, to: State, emit: Emit): void {
    const { nodes, quorum, returns } = this.terms;
    let granted = 0;
    for (let node = 0; node < nodes; node++) {
      if (now[this.places.said(node, attempt)] !== 0) {
        granted += 1;
        this.#yield(node, attempt, now, to, emit);
      } else {
        this.#askNode(node, attempt, now, to, emit);
      }
    }
    if (granted >= quorum) this.#compute(attempt, to, emit);
    if (returns) this.#giveUp(attempt, to, emit);
  }

  #askNode(node: number, attempt: number, now: State, to: State, emit: Emit): void {
    for (const least of [0, ...this.terms.named]) {
      if (!this.#servers.grant(node, attempt, now, to, least)) return;
      to[this.places.said(node, attempt)] = (to[this.places.stamp(node)] as number) + 1;
      emit(QuorumAction.grant, attempt, node);
    }
  }

  /** A claim without a quorum gives a seat to another one. */
  #yield(node: number, attempt: number, now: State, to: State, emit: Emit): void {
    if (!this.#mayStandAnew(now)) return;
    const stamp = (now[this.places.said(node, attempt)] as number) - 1;
    if (this.#servers.isHeldBy(node, attempt, stamp, now)) this.#servers.drop(node, to);
    this.#leave(node, attempt, to);
    emit(QuorumAction.yield, attempt, node);
  }

  #mayStandAnew(now: State): boolean {
    return (now[this.places.anew] as number) < this.terms.anew;
  }

  #leave(node: number, attempt: number, to: State): void {
    to[this.places.said(node, attempt)] = 0;
    to[this.places.confirmed(node, attempt)] = 0;
    (to[this.places.anew] as number) += 1;
  }

  /** A copy of a request, of which the client hears nothing, at any time after it was sent. */
  #late(attempt: number, now: State, to: State, emit: Emit): void {
    if ((now[this.places.late] as number) >= this.terms.late) return;
    for (let node = 0; node < this.terms.nodes; node++) {
      if (now[this.places.holder(node)] !== 0 || !this.#servers.grant(node, attempt, now, to)) continue;
      (to[this.places.late] as number) += 1;
      emit(QuorumAction.late, attempt, node);
    }
  }

  #compute(attempt: number, to: State, emit: Emit): void {
    const { places } = this;
    const { nodes } = this.terms;
    let token = 0;
    for (let node = 0; node < nodes; node++) {
      token = Math.max(token, (to[places.said(node, attempt)] as number) - 1);
    }
    // That of an attempt that stood anew, which was computed and confirmed here before; 0 for none.
    const before = to[places.tokenOf(attempt)] as number;
    to[places.tokenOf(attempt)] = token;
    to[places.phase(attempt)] = Phase.confirming;
    for (let node = 0; node < nodes; node++) {
      // A node whose own stamp is the token needs no confirmation, and what was confirmed up to more is confirmed.
      if (to[places.said(node, attempt)] === token + 1) this.#confirmed(node, attempt, to);
      else if (token > before) to[places.confirmed(node, attempt)] = 0;
    }
    emit(QuorumAction.compute, attempt, 0);
  }

  #confirmed(node: number, attempt: number, to: State): void {
    to[this.places.confirmed(node, attempt)] = 1;
    if (this.terms.anew === 0) to[this.places.said(node, attempt)] = 0; // it does not matter any more
  }

  #confirmAll(attempt: number, now: State, to: State, emit: Emit): void {
    const { anew, nodes, quorum, returns } = this.terms;
    const token = now[this.places.tokenOf(attempt)] as number;
    let [confirmed, counting, granted] = [0, 0, 0];
    for (let node = 0; node < nodes; node++) {
      const said = now[this.places.said(node, attempt)] as number;
      // A node whose own grant has a larger stamp says nothing about the token: another attempt may have come in between.
      const mayCount = said !== 0 && said - 1 <= token;
      if (said !== 0) granted += 1;
      if (mayCount) counting += 1;
      if (now[this.places.confirmed(node, attempt)] !== 0) confirmed += 1;
      else if (mayCount) this.#confirmNode(node, attempt, now, to, emit);
      else if (said === 0 && anew > 0) this.#askNode(node, attempt, now, to, emit); // an answer that came late
    }
    if (anew > 0 && counting < quorum) {
      if (granted >= quorum) this.#compute(attempt, to, emit);
      else this.#askOn(attempt, to, emit);
    }
    if (confirmed >= quorum) this.#issue(attempt, to, emit);
    if (returns) this.#giveUp(attempt, to, emit);
  }

  #confirmNode(node: number, attempt: number, now: State, to: State, emit: Emit): void {
    const stamp = (now[this.places.said(node, attempt)] as number) - 1;
    const token = now[this.places.tokenOf(attempt)] as number;
    if (this.#servers.confirm(node, attempt, stamp, token, now, to)) {
      this.#confirmed(node, attempt, to);
      emit(QuorumAction.confirm, attempt, node);
    } else if (this.#mayStandAnew(now)) {
      this.#leave(node, attempt, to);
      emit(QuorumAction.refuse, attempt, node);
    }
  }

  /** Too few seats are left. */
  #askOn(attempt: number, to: State, emit: Emit): void {
    to[this.places.phase(attempt)] = Phase.asking;
    emit(QuorumAction.askOn, attempt, 0);
  }

  #issue(attempt: number, to: State, emit: Emit): void {
    to[this.places.phase(attempt)] = Phase.issued;
    this.#settle(attempt, to);
    emit(QuorumAction.issue, attempt, 0);
  }

  /** A holder that has had a quorum throughout. */
  #mayReturn(phase: number | undefined): boolean {
    return this.terms.returns && phase === Phase.issued;
  }

  /** A holder takes a seat at a node where it has none; or it gives all up. */
  #return(attempt: number, now: State, to: State, emit: Emit): void {
    to[this.places.phase(attempt)] = Phase.lost;
    emit(QuorumAction.giveUp, attempt, 0);
    for (let node = 0; node < this.terms.nodes; node++) {
      const seat = this.places.confirmed(node, attempt);
      if (now[seat] !== 0 || now[this.places.holder(node)] !== 0) continue;
      this.#servers.grant(node, attempt, now, to, this.#lastToken(attempt, now) + 1);
      to[seat] = 1;
      emit(QuorumAction.return, attempt, node);
    }
  }

  #giveUp(attempt: number, to: State, emit: Emit): void {
    to[this.places.phase(attempt)] = Phase.over;
    to[this.places.tokenOf(attempt)] = 0;
    this.#settle(attempt, to);
    emit(QuorumAction.giveUp, attempt, 0);
  }

  /** What the attempt knew of the nodes does not matter any more. */
  #settle(attempt: number, to: State): void {
    for (let node = 0; node < this.terms.nodes; node++) {
      to[this.places.said(node, attempt)] = 0;
      if (!this.terms.returns) to[this.places.confirmed(node, attempt)] = 0;
    }
  }

  #nodeSteps(node: number, now: State, to: State, emit: Emit): void {
    const { places, terms } = this;
    const holder = now[places.holder(node)] as number;
    if (holder !== 0 && (!terms.returns || this.#isOver(node, holder - 1, now))) {
      this.#servers.drop(node, to);
      this.#lose(node, holder - 1, now, to);
      emit(QuorumAction.forget, node, 0);
    }
    if ((now[places.restarts] as number) >= terms.restarts) return;
    if (terms.returns) {
      if (!this.#isHeldEverywhere(now)) return;
      this.#lose(node, holder - 1, now, to);
    }
    this.#servers.restart(node, to);
    (to[places.restarts] as number) += 1;
    emit(QuorumAction.restart, node, 0);
  }

  /** A holder has a seat less. One with less than a quorum of them holds no more. */
  #lose(node: number, attempt: number, now: State, to: State): void {
    if (!this.terms.returns || !isIssued(now[this.places.phase(attempt)])) return;
    to[this.places.confirmed(node, attempt)] = 0;
    if (this.#seats(attempt, to) < this.terms.quorum) to[this.places.phase(attempt)] = Phase.lost;
  }

  /** A holder that has a seat at every node, and each knows its token. */
  #isHeldEverywhere(now: State): boolean {
    const { attempts, nodes } = this.terms;
    for (let attempt = 0; attempt < attempts; attempt++) {
      if (this.#mayReturn(now[this.places.phase(attempt)]) && this.#seats(attempt, now) === nodes)
        return true;
    }
    return false;
  }

  #seats(attempt: number, state: State): number {
    let seats = 0;
    for (let node = 0; node < this.terms.nodes; node++) {
      const isHeld = state[this.places.holder(node)] === attempt + 1;
      if (isHeld && state[this.places.confirmed(node, attempt)] !== 0) seats += 1;
    }
    return seats;
  }

  /** Whether a lease that is honoured may end here. A holder's seat goes on until the holder gives it up. */
  #isOver(node: number, attempt: number, now: State): boolean {
    const phase = now[this.places.phase(attempt)];
    const isSeat = now[this.places.confirmed(node, attempt)] !== 0;
    return (phase === Phase.issued && !isSeat) || phase === Phase.lost || phase === Phase.over;
  }
}
