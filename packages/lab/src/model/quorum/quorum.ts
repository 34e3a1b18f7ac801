/**
 * The quorum token protocols as a model: attempts ask nodes, get grants, compute a token and confirm it.
 *
 * Messages may be lost, delayed and repeated, clients may stop anywhere: an attempt that never takes its
 * next step is all of that, so none ever gives up. A grant and its answer are one step; an answer that is
 * lost is a late copy that nobody hears.
 */
import type { Emit, Model, State } from "../model.js";
import { type QuorumPlaces, quorumPlaces } from "./fields.js";
import type { QuorumTerms } from "./terms.js";
import { QuorumAction, quorumWords } from "./words.js";

const Phase = { idle: 0, asking: 1, confirming: 2, issued: 3, over: 4 } as const;

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

  constructor(terms: QuorumTerms) {
    this.terms = terms;
    this.places = quorumPlaces(terms);
    this.fields = this.places.fields;
    this.name = `quorum ${terms.design.letter}`;
    if (terms.symmetry) this.canonical = (state) => this.#sortNodes(state);
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
      if (state[this.#phase(one)] !== Phase.issued) continue;
      const token = state[this.#phase(one) + 1] as number;
      if (token <= (state[this.#phase(one) + 2] as number)) return 2;
      for (let other = one + 1; other < attempts; other++) {
        if (state[this.#phase(other)] === Phase.issued && state[this.#phase(other) + 1] === token) return 1;
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
      if (this.terms.late > 0) this.#late(attempt, now, to, emit);
    }
    for (let node = 0; node < nodes; node++) this.#nodeSteps(node, now, to, emit);
    this.#tick(now, to, emit);
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
      if (to[this.#phase(other)] === Phase.issued) {
        issued = Math.max(issued, to[this.#phase(other) + 1] as number);
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
      const said = this.#of(node, attempt, this.places.said);
      if (now[said] !== 0) {
        granted += 1;
      } else if (this.#grant(node, attempt, now, to)) {
        to[said] = this.#answer(node, to) + 1;
        if (this.places.clockSaid >= 0) {
          to[this.#of(node, attempt, this.places.clockSaid)] = this.#clock(node, now);
        }
        emit(QuorumAction.grant, attempt, node);
      }
    }
    if (granted >= quorum) this.#compute(attempt, to, emit);
    if (leases === "honoured") this.#giveUp(attempt, to, emit);
  }

  /** The request of an attempt reaches a node. False: refused, and nothing has changed. */
  #grant(node: number, attempt: number, now: State, to: State): boolean {
    const { places, terms } = this;
    const at = node * places.width;
    if (places.silent >= 0 && (now[at + places.silent] as number) > 0) return false;
    const holder = now[at + places.holder] as number;
    if (holder === attempt + 1) return true; // asked again: the same answer
    if (holder !== 0) return false;
    const next = (now[at + places.token] as number) + 1;
    if (terms.design.onGrant === "count") to[at + places.token] = next;
    if (terms.design.onGrant === "stamp") {
      const clock = terms.clock && terms.design.token !== "max, median" ? this.#clock(node, now) : 0;
      const stamp = Math.max(next, clock);
      if (terms.clock && stamp > this.#clock(node, now) + terms.clock.tokenAhead) return false;
      to[at + places.token] = stamp;
      to[at + places.mark] = stamp;
    }
    to[at + places.holder] = attempt + 1;
    return true;
  }

  /** What a node that granted says: the stamp of the hold, else its token. */
  #answer(node: number, to: State): number {
    const at = node * this.places.width;
    return to[at + (this.terms.design.onGrant === "stamp" ? this.places.mark : this.places.token)] as number;
  }

  #clock(node: number, now: State): number {
    const { time, ahead, width } = this.places;
    return (now[time] as number) + (now[node * width + ahead] as number);
  }

  /** A copy of a request, of which the client hears nothing, at any time after it was sent. */
  #late(attempt: number, now: State, to: State, emit: Emit): void {
    const { late, holder, width } = this.places;
    if ((now[late] as number) >= this.terms.late) return;
    for (let node = 0; node < this.terms.nodes; node++) {
      if (now[node * width + holder] === attempt + 1 || !this.#grant(node, attempt, now, to)) continue;
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
    to[this.#phase(attempt) + 1] = token;
    if (design.confirms === null) {
      this.#issue(attempt, to, emit);
      return;
    }
    to[this.#phase(attempt)] = Phase.confirming;
    for (let node = 0; node < nodes; node++) {
      const said = this.#of(node, attempt, this.places.said);
      // From here on it matters only who granted, and by which stamp.
      if (design.confirms !== "same hold" && to[said] !== 0) to[said] = 1;
      if (this.places.clockSaid >= 0) to[this.#of(node, attempt, this.places.clockSaid)] = 0;
    }
    emit(QuorumAction.compute, attempt, 0);
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
    let confirmed = 0;
    for (let node = 0; node < this.terms.nodes; node++) {
      const said = this.#of(node, attempt, this.places.said);
      const heard = this.#of(node, attempt, this.places.confirmed);
      if (now[heard] !== 0) confirmed += 1;
      else if (now[said] !== 0 && this.#confirm(node, attempt, now, to)) {
        to[heard] = 1;
        to[said] = 0;
        emit(QuorumAction.confirm, attempt, node);
      }
    }
    if (confirmed >= this.terms.quorum) this.#issue(attempt, to, emit);
    if (this.terms.leases === "honoured") this.#giveUp(attempt, to, emit);
  }

  /** The token of an attempt reaches a node that had granted. False: refused. */
  #confirm(node: number, attempt: number, now: State, to: State): boolean {
    const { places, terms } = this;
    const at = node * places.width;
    if (places.silent >= 0 && (now[at + places.silent] as number) > 0) return false;
    const token = now[this.#phase(attempt) + 1] as number;
    const known = now[at + places.token] as number;
    const held = now[at + places.holder] === attempt + 1;
    const { confirms } = terms.design;
    if (confirms === "same hold") {
      const stamp = (now[this.#of(node, attempt, places.said)] as number) - 1;
      if (!held || now[at + places.mark] !== stamp) return false;
    } else {
      if (!held && (confirms === "while held" || confirms === "newer, while held")) return false;
      if (confirms === "newer" || confirms === "newer, while held") {
        const mine = token === known && now[at + places.mark] === attempt + 1;
        if (token <= known && !mine) return false;
        to[at + places.mark] = attempt + 1;
      }
    }
    to[at + places.token] = Math.max(known, token);
    return true;
  }

  #issue(attempt: number, to: State, emit: Emit): void {
    to[this.#phase(attempt)] = Phase.issued;
    this.#settle(attempt, to);
    emit(QuorumAction.issue, attempt, 0);
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
      if (this.places.confirmed >= 0) to[this.#of(node, attempt, this.places.confirmed)] = 0;
      if (this.places.clockSaid >= 0) to[this.#of(node, attempt, this.places.clockSaid)] = 0;
    }
  }

  #nodeSteps(node: number, now: State, to: State, emit: Emit): void {
    const { places, terms } = this;
    const at = node * places.width;
    const holder = now[at + places.holder] as number;
    if (holder !== 0 && (terms.leases === "any" || this.#isOver(holder - 1, now))) {
      this.#drop(at, to);
      emit(QuorumAction.forget, node, 0);
    }
    if (places.lost < 0 || (now[places.lost] as number) >= terms.restarts) return;
    if (places.saved >= 0) {
      this.#save(at, to);
      emit(QuorumAction.save, node, 0);
    }
    to[places.lost] = (now[places.lost] as number) + 1;
    to[at + places.holder] = 0;
    to[at + places.token] = 0;
    if (places.mark >= 0) to[at + places.mark] = 0;
    if (places.saved >= 0) this.#rollBack(at, now, to);
    if (places.silent >= 0) to[at + places.silent] = terms.clock?.silence ?? 0;
    if (to[places.lost] === terms.restarts) this.#forgetSaved(to);
    emit(QuorumAction.restart, node, 0);
  }

  #isOver(attempt: number, now: State): boolean {
    const phase = now[this.#phase(attempt)] as number;
    return phase === Phase.issued || phase === Phase.over;
  }

  /** The hold is gone; a stamp belongs to it, a writer's name belongs to the token. */
  #drop(at: number, to: State): void {
    to[at + this.places.holder] = 0;
    if (this.terms.design.onGrant === "stamp") to[at + this.places.mark] = 0;
  }

  #save(at: number, to: State): void {
    const { holder, token, mark, saved } = this.places;
    const withHold = this.terms.after === "old data";
    to[at + saved] = withHold ? (to[at + holder] as number) : 0;
    to[at + saved + 1] = to[at + token] as number;
    to[at + saved + 2] = withHold && mark >= 0 ? (to[at + mark] as number) : 0;
  }

  #rollBack(at: number, now: State, to: State): void {
    const { holder, token, mark, saved } = this.places;
    to[at + holder] = now[at + saved] as number;
    to[at + token] = now[at + saved + 1] as number;
    if (mark >= 0) to[at + mark] = now[at + saved + 2] as number;
  }

  #forgetSaved(to: State): void {
    const { saved, width } = this.places;
    if (saved < 0) return;
    for (let node = 0; node < this.terms.nodes; node++)
      to.fill(0, node * width + saved, node * width + saved + 3);
  }

  #tick(now: State, to: State, emit: Emit): void {
    const { clock, nodes } = this.terms;
    const { time, silent, width } = this.places;
    if (!clock || (now[time] as number) >= clock.end) return;
    to[time] = (now[time] as number) + 1;
    for (let node = 0; silent >= 0 && node < nodes; node++) {
      const at = node * width + silent;
      if ((now[at] as number) > 0) to[at] = (now[at] as number) - 1;
    }
    emit(QuorumAction.tick, 0, 0);
  }

  #sortNodes(state: State): void {
    const { width } = this.places;
    for (let last = this.terms.nodes - 1; last > 0; last--) {
      for (let node = 0; node < last; node++) {
        const at = node * width;
        let place = 0;
        while (place < width && state[at + place] === state[at + width + place]) place += 1;
        if (place === width || (state[at + place] as number) < (state[at + width + place] as number))
          continue;
        for (place = 0; place < width; place++) {
          const value = state[at + place] as number;
          state[at + place] = state[at + width + place] as number;
          state[at + width + place] = value;
        }
      }
    }
  }
}
