/**
 * The quorum token protocols as a model: attempts ask nodes, get grants, compute a token and confirm it.
 *
 * Messages may be lost, delayed and repeated, clients may stop anywhere: an attempt that never takes its
 * next step is all of that, so none ever gives up. A grant and its answer are one step; an answer that is
 * lost is a late copy that nobody hears. All holds of one attempt at one node have one name here, which
 * allows more than names of their own do.
 */
import type { Emit, Model, State } from "../model.js";
import { type QuorumPlaces, quorumPlaces } from "./fields.js";
import { QuorumServers } from "./servers.js";
import { sortNodes } from "./symmetry.js";
import type { QuorumTerms } from "./terms.js";
import { QuorumAction, quorumWords } from "./words.js";

const Phase = { idle: 0, asking: 1, confirming: 2, issued: 3, over: 4, lost: 5 } as const;

/** A token that was returned to a caller counts, also when its holds are gone. */
function isIssued(phase: number | undefined): boolean {
  return phase === Phase.issued || phase === Phase.lost;
}

export class QuorumModel implements Model {
  readonly name: string;
  readonly fields;
  readonly rules = [
    "two attempts were issued the same token",
    "a token is not above one issued before its attempt began",
  ];
  readonly terms: QuorumTerms;
  readonly places: QuorumPlaces;
  canonical?: (state: State) => void;
  readonly #servers: QuorumServers;

  constructor(terms: QuorumTerms) {
    this.terms = terms;
    this.places = quorumPlaces(terms);
    this.#servers = new QuorumServers(terms, this.places);
    this.fields = this.places.fields;
    this.name = `quorum ${terms.design.letter}`;
    if (terms.symmetry) this.canonical = (state) => sortNodes(state, terms.nodes, this.places.width);
  }

  start(to: State, emit: Emit): void {
    const { clock, nodes } = this.terms;
    if (!clock) {
      emit(-1, 0, 0);
      return;
    }
    const { aheadOf } = clock;
    const given = "anyUpTo" in aheadOf ? null : aheadOf;
    const most = "anyUpTo" in aheadOf ? aheadOf.anyUpTo : 0;
    const choices = given ? 1 : (most + 1) ** nodes;
    for (let choice = 0; choice < choices; choice++) {
      let rest = choice;
      for (let node = 0; node < nodes; node++) {
        to[node * this.places.width + this.places.ahead] = given?.[node] ?? rest % (most + 1);
        rest = Math.floor(rest / (most + 1));
      }
      to[this.places.time] = 1;
      emit(-1, 0, 0);
    }
  }

  broken(state: State): number {
    const { attempts } = this.terms;
    for (let one = 0; one < attempts; one++) {
      if (!isIssued(state[this.#phase(one)])) continue;
      const token = state[this.#phase(one) + 1] as number;
      if (token <= (state[this.#phase(one) + 2] as number)) return 2;
      for (let other = one + 1; other < attempts; other++) {
        if (!isIssued(state[this.#phase(other)])) continue;
        if (Math.abs((state[this.#phase(other) + 1] as number) - token) < this.terms.turns) return 1;
      }
    }
    return 0;
  }

  words(action: number, x: number, y: number, before: State, after: State): string {
    return quorumWords(this.terms, this.places, { action, x, y, before, after });
  }

  steps(now: State, to: State, emit: Emit): void {
    const { attempts, nodes } = this.terms;
    for (let attempt = 0; attempt < attempts; attempt++) {
      const phase = now[this.#phase(attempt)];
      if (phase === Phase.idle) {
        this.#start(attempt, to, emit);
        break; // which of those that have not begun is the next makes no difference
      }
      if (phase === Phase.asking) this.#ask(attempt, now, to, emit);
      else if (phase === Phase.confirming) this.#confirmAll(attempt, now, to, emit);
      else if (this.#mayReturn(phase)) this.#return(attempt, now, to, emit);
      if (this.terms.late > 0) this.#late(attempt, now, to, emit);
    }
    for (let node = 0; node < nodes; node++) this.#nodeSteps(node, now, to, emit);
    this.#servers.tick(now, to, emit);
  }

  #phase(attempt: number): number {
    return this.places.attempts + 3 * attempt;
  }

  #of(node: number, attempt: number, place: number): number {
    return node * this.places.width + attempt * this.places.each + place;
  }

  #start(attempt: number, to: State, emit: Emit): void {
    let issued = 0;
    for (let other = 0; other < this.terms.attempts; other++) {
      if (isIssued(to[this.#phase(other)])) {
        issued = Math.max(issued, (to[this.#phase(other) + 1] as number) + this.terms.turns - 1);
      }
    }
    to[this.#phase(attempt)] = Phase.asking;
    to[this.#phase(attempt) + 2] = issued;
    emit(QuorumAction.start, attempt, 0);
  }

  #ask(attempt: number, now: State, to: State, emit: Emit): void {
    const { nodes, quorum, leases } = this.terms;
    let granted = 0;
    for (let node = 0; node < nodes; node++) {
      if (now[this.#of(node, attempt, this.places.said)] !== 0) {
        granted += 1;
        this.#yield(node, attempt, now, to, emit);
      } else {
        this.#askNode(node, attempt, now, to, emit);
      }
    }
    if (granted >= quorum) this.#compute(attempt, to, emit);
    if (leases === "honoured") this.#giveUp(attempt, to, emit);
  }

  #askNode(node: number, attempt: number, now: State, to: State, emit: Emit): void {
    for (const least of [0, ...this.terms.named]) {
      if (!this.#servers.grant(node, attempt, now, to, least)) return;
      to[this.#of(node, attempt, this.places.said)] = this.#servers.answer(node, to) + 1;
      if (this.places.clockSaid >= 0)
        to[this.#of(node, attempt, this.places.clockSaid)] = this.#servers.clock(node, now);
      emit(QuorumAction.grant, attempt, node);
    }
  }

  /** A claim without a quorum gives a seat to another one. */
  #yield(node: number, attempt: number, now: State, to: State, emit: Emit): void {
    if (!this.#mayStandAnew(now)) return;
    const said = this.#of(node, attempt, this.places.said);
    if (this.#servers.isHeldBy(node, attempt, (now[said] as number) - 1, now)) this.#servers.drop(node, to);
    this.#leave(node, attempt, now, to);
    emit(QuorumAction.yield, attempt, node);
  }

  #mayStandAnew(now: State): boolean {
    return this.terms.anew > 0 && (now[this.places.anew] as number) < this.terms.anew;
  }

  #leave(node: number, attempt: number, now: State, to: State): void {
    to[this.#of(node, attempt, this.places.said)] = 0;
    to[this.#of(node, attempt, this.places.confirmed)] = 0;
    to[this.places.anew] = (now[this.places.anew] as number) + 1;
  }

  /** A copy of a request, of which the client hears nothing, at any time after it was sent. */
  #late(attempt: number, now: State, to: State, emit: Emit): void {
    const { late, holder, width } = this.places;
    if ((now[late] as number) >= this.terms.late) return;
    for (let node = 0; node < this.terms.nodes; node++) {
      if (now[node * width + holder] === attempt + 1 || !this.#servers.grant(node, attempt, now, to))
        continue;
      to[late] = (now[late] as number) + 1;
      emit(QuorumAction.late, attempt, node);
    }
  }

  #compute(attempt: number, to: State, emit: Emit): void {
    const { design, nodes } = this.terms;
    let token = 0;
    for (let node = 0; node < nodes; node++) {
      token = Math.max(token, (to[this.#of(node, attempt, this.places.said)] as number) - 1);
    }
    if (design.token === "max+1") token += 1;
    if (design.token === "max, median") token = Math.max(token, this.#medianClock(attempt, to));
    const before = to[this.#phase(attempt) + 1] as number;
    to[this.#phase(attempt) + 1] = token;
    if (design.confirms === null) {
      this.#issue(attempt, to, emit);
      return;
    }
    to[this.#phase(attempt)] = Phase.confirming;
    for (let node = 0; node < nodes; node++) this.#beginConfirm(node, attempt, token, before, to);
    emit(QuorumAction.compute, attempt, 0);
  }

  /** @param before the token that was computed and confirmed here before, of an attempt that stood anew; 0 for none */
  #beginConfirm(node: number, attempt: number, token: number, before: number, to: State): void {
    const said = this.#of(node, attempt, this.places.said);
    const heard = this.#of(node, attempt, this.places.confirmed);
    if (this.places.clockSaid >= 0) to[this.#of(node, attempt, this.places.clockSaid)] = 0;
    if (this.terms.design.confirms !== "same hold") {
      if (to[said] !== 0) to[said] = 1; // from here on it matters only who granted
      return;
    }
    // A node whose own stamp is the token needs no confirmation, and what was confirmed up to more is confirmed.
    if (to[said] === token + 1) this.#confirmed(node, attempt, to);
    else if (token > before) to[heard] = 0;
  }

  #confirmed(node: number, attempt: number, to: State): void {
    to[this.#of(node, attempt, this.places.confirmed)] = 1;
    if (this.terms.anew === 0) to[this.#of(node, attempt, this.places.said)] = 0; // it does not matter any more
  }

  #medianClock(attempt: number, to: State): number {
    const clocks: number[] = [];
    for (let node = 0; node < this.terms.nodes; node++) {
      if (to[this.#of(node, attempt, this.places.said)] === 0) continue;
      clocks.push(to[this.#of(node, attempt, this.places.clockSaid)] as number);
    }
    clocks.sort((one, other) => one - other);
    return clocks[(clocks.length - 1) >> 1] as number;
  }

  #confirmAll(attempt: number, now: State, to: State, emit: Emit): void {
    const { anew, leases, quorum } = this.terms;
    let [confirmed, counting, granted] = [0, 0, 0];
    for (let node = 0; node < this.terms.nodes; node++) {
      const said = now[this.#of(node, attempt, this.places.said)] as number;
      const mayCount = said !== 0 && this.#mayCount(attempt, said - 1, now);
      if (said !== 0) granted += 1;
      if (mayCount) counting += 1;
      if (now[this.#of(node, attempt, this.places.confirmed)] !== 0) confirmed += 1;
      else if (mayCount) this.#confirmNode(node, attempt, now, to, emit);
      else if (said === 0 && anew > 0) this.#askNode(node, attempt, now, to, emit); // an answer that came late
    }
    if (anew > 0 && counting < quorum) {
      if (granted >= quorum) this.#compute(attempt, to, emit);
      else this.#askOn(attempt, to, emit);
    }
    if (confirmed >= quorum) this.#issue(attempt, to, emit);
    if (leases === "honoured") this.#giveUp(attempt, to, emit);
  }

  /** A node whose own grant has a larger token says nothing about this one: another attempt may have come in between. */
  #mayCount(attempt: number, stamp: number, now: State): boolean {
    if (this.terms.design.confirms !== "same hold" || this.terms.counts === "any stamp") return true;
    return stamp <= (now[this.#phase(attempt) + 1] as number);
  }

  #confirmNode(node: number, attempt: number, now: State, to: State, emit: Emit): void {
    const said = (now[this.#of(node, attempt, this.places.said)] as number) - 1;
    const token = now[this.#phase(attempt) + 1] as number;
    if (this.#servers.confirm(node, attempt, { said, token }, now, to)) {
      this.#confirmed(node, attempt, to);
      emit(QuorumAction.confirm, attempt, node);
    } else if (this.#mayStandAnew(now) && !this.#servers.isSilent(node, now)) {
      this.#leave(node, attempt, now, to);
      emit(QuorumAction.refuse, attempt, node);
    }
  }

  /** Too few seats are left. */
  #askOn(attempt: number, to: State, emit: Emit): void {
    to[this.#phase(attempt)] = Phase.asking;
    emit(QuorumAction.askOn, attempt, 0);
  }

  #issue(attempt: number, to: State, emit: Emit): void {
    to[this.#phase(attempt)] = Phase.issued;
    this.#settle(attempt, to);
    emit(QuorumAction.issue, attempt, 0);
  }

  #mayReturn(phase: number | undefined): boolean {
    const { returns } = this.terms;
    return phase === Phase.issued ? returns !== null : phase === Phase.lost && returns?.when === "always";
  }

  /** A holder takes a seat at a node where it has none; or it gives all up. */
  #return(attempt: number, now: State, to: State, emit: Emit): void {
    if (now[this.#phase(attempt)] === Phase.issued) {
      to[this.#phase(attempt)] = Phase.lost;
      emit(QuorumAction.giveUp, attempt, 0);
    }
    const last = (now[this.#phase(attempt) + 1] as number) + this.terms.turns - 1;
    const least = this.terms.returns?.least === "above" ? last + 1 : 0;
    for (let node = 0; node < this.terms.nodes; node++) {
      const heard = this.#of(node, attempt, this.places.confirmed);
      if (now[heard] !== 0 || now[node * this.places.width + this.places.holder] !== 0) continue;
      if (!this.#servers.grant(node, attempt, now, to, least)) continue;
      to[heard] = 1;
      emit(QuorumAction.return, attempt, node);
    }
  }

  #giveUp(attempt: number, to: State, emit: Emit): void {
    to[this.#phase(attempt)] = Phase.over;
    to[this.#phase(attempt) + 1] = 0;
    this.#settle(attempt, to);
    emit(QuorumAction.giveUp, attempt, 0);
  }

  /** What the attempt knew of the nodes does not matter any more. */
  #settle(attempt: number, to: State): void {
    for (let node = 0; node < this.terms.nodes; node++) {
      to[this.#of(node, attempt, this.places.said)] = 0;
      if (this.places.confirmed >= 0 && this.terms.returns === null)
        to[this.#of(node, attempt, this.places.confirmed)] = 0;
      if (this.places.clockSaid >= 0) to[this.#of(node, attempt, this.places.clockSaid)] = 0;
    }
  }

  #nodeSteps(node: number, now: State, to: State, emit: Emit): void {
    const { places, terms } = this;
    const holder = now[node * places.width + places.holder] as number;
    if (holder !== 0 && (terms.leases === "any" || this.#isOver(holder - 1, node, now))) {
      this.#servers.drop(node, to);
      this.#lose(node, holder - 1, now, to);
      emit(QuorumAction.forget, node, 0);
    }
    if (places.lost < 0 || (now[places.lost] as number) >= terms.restarts) return;
    if (terms.returns !== null) {
      if (!this.#isHeldEverywhere(now)) return;
      this.#lose(node, holder - 1, now, to);
    }
    this.#servers.restart(node, now, to, emit);
  }

  /** A holder has a seat less. One with less than a quorum of them holds no more. */
  #lose(node: number, attempt: number, now: State, to: State): void {
    if (this.terms.returns === null || !isIssued(now[this.#phase(attempt)])) return;
    to[this.#of(node, attempt, this.places.confirmed)] = 0;
    if (this.#seats(attempt, to) < this.terms.quorum) to[this.#phase(attempt)] = Phase.lost;
  }

  /** A holder that has a seat at every node, and each knows its token. */
  #isHeldEverywhere(now: State): boolean {
    for (let attempt = 0; attempt < this.terms.attempts; attempt++) {
      if (this.#mayReturn(now[this.#phase(attempt)]) && this.#seats(attempt, now) === this.terms.nodes)
        return true;
    }
    return false;
  }

  #seats(attempt: number, state: State): number {
    let seats = 0;
    for (let node = 0; node < this.terms.nodes; node++) {
      const isHeld = state[node * this.places.width + this.places.holder] === attempt + 1;
      if (isHeld && state[this.#of(node, attempt, this.places.confirmed)] !== 0) seats += 1;
    }
    return seats;
  }

  /** Whether a lease that is honoured may end here. One that returns to nodes goes on until it is given up. */
  #isOver(attempt: number, node: number, now: State): boolean {
    const phase = now[this.#phase(attempt)];
    const isSeat = this.terms.returns !== null && now[this.#of(node, attempt, this.places.confirmed)] !== 0;
    return (phase === Phase.issued && !isSeat) || phase === Phase.lost || phase === Phase.over;
  }
}
