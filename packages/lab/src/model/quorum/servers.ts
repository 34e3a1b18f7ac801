/** The nodes of the quorum model: how each grants, confirms, forgets and restarts, by itself. */
import type { Emit, State } from "../model.js";
import type { QuorumPlaces } from "./fields.js";
import type { QuorumTerms } from "./terms.js";
import { QuorumAction } from "./words.js";

export class QuorumServers {
  readonly #terms: QuorumTerms;
  readonly #places: QuorumPlaces;

  constructor(terms: QuorumTerms, places: QuorumPlaces) {
    this.#terms = terms;
    this.#places = places;
  }

  isSilent(node: number, now: State): boolean {
    const { silent, width } = this.#places;
    return silent >= 0 && (now[node * width + silent] as number) > 0;
  }

  /**
   * The request of an attempt reaches a node. False: refused, and nothing has changed.
   * @param least the stamp must be at least this
   */
  grant(node: number, attempt: number, now: State, to: State, least = 0): boolean {
    const at = node * this.#places.width;
    const holder = now[at + this.#places.holder] as number;
    if (this.isSilent(node, now)) return false;
    if (holder === attempt + 1) return true; // asked again: the same answer
    if (holder !== 0) return false;
    if (!this.#stamp(node, now, to, least)) return false;
    to[at + this.#places.holder] = attempt + 1;
    return true;
  }

  /** False: the token would be too far ahead of the clock. */
  #stamp(node: number, now: State, to: State, least: number): boolean {
    const { terms, places } = { terms: this.#terms, places: this.#places };
    const at = node * places.width;
    const next = (now[at + places.token] as number) + 1;
    if (terms.design.onGrant === "count") to[at + places.token] = next;
    if (terms.design.onGrant !== "stamp") return true;
    const clock = terms.clock && terms.design.token !== "max, median" ? this.clock(node, now) : 0;
    const stamp = Math.max(next, clock, least);
    if (terms.clock && stamp > this.clock(node, now) + terms.clock.tokenAhead) return false;
    to[at + places.token] = stamp + terms.turns - 1;
    to[at + places.mark] = stamp;
    return true;
  }

  isHeldBy(node: number, attempt: number, stamp: number, now: State): boolean {
    const { holder, mark, width } = this.#places;
    return now[node * width + holder] === attempt + 1 && now[node * width + mark] === stamp;
  }

  /** What a node that granted says: the stamp of the hold, else its token. */
  answer(node: number, to: State): number {
    const { width, mark, token } = this.#places;
    return to[node * width + (this.#terms.design.onGrant === "stamp" ? mark : token)] as number;
  }

  clock(node: number, now: State): number {
    const { time, ahead, width } = this.#places;
    return (now[time] as number) + (now[node * width + ahead] as number);
  }

  /**
   * The token of an attempt reaches a node that had granted it `said`. False: refused.
   * @param token the first one of the attempt's block
   */
  confirm(node: number, attempt: number, { said, token }: Told, now: State, to: State): boolean {
    const { holder, mark, token: known, width } = this.#places;
    const at = node * width;
    if (this.isSilent(node, now)) return false;
    const held = now[at + holder] === attempt + 1;
    const before = now[at + known] as number;
    const { confirms } = this.#terms.design;
    if (confirms === "same hold") {
      if (!held || now[at + mark] !== said) return false;
    } else {
      if (!held && (confirms === "while held" || confirms === "newer, while held")) return false;
      if (confirms === "newer" || confirms === "newer, while held") {
        const mine = token === before && now[at + mark] === attempt + 1;
        if (token <= before && !mine) return false;
        to[at + mark] = attempt + 1;
      }
    }
    const last = this.#terms.told === "last" ? token + this.#terms.turns - 1 : token;
    to[at + known] = Math.max(before, last);
    return true;
  }

  /** The hold is gone; a stamp belongs to it, a writer's name belongs to the token. */
  drop(node: number, to: State): void {
    const { width, holder, mark } = this.#places;
    to[node * width + holder] = 0;
    if (this.#terms.design.onGrant === "stamp") to[node * width + mark] = 0;
  }

  /** A node loses what it knows, or remembers what it will find again. */
  restart(node: number, now: State, to: State, emit: Emit): void {
    const { lost, saved, holder, token, mark, silent, width } = this.#places;
    const at = node * width;
    if (saved >= 0) {
      this.#save(at, to);
      emit(QuorumAction.save, node, 0);
    }
    to[lost] = (now[lost] as number) + 1;
    to[at + holder] = 0;
    to[at + token] = 0;
    if (mark >= 0) to[at + mark] = 0;
    if (saved >= 0) this.#rollBack(at, now, to);
    if (silent >= 0) to[at + silent] = this.#terms.clock?.silence ?? 0;
    if (to[lost] === this.#terms.restarts) this.#forgetSaved(to);
    emit(QuorumAction.restart, node, 0);
  }

  tick(now: State, to: State, emit: Emit): void {
    const { clock, nodes } = this.#terms;
    const { time, silent, width } = this.#places;
    if (!clock || (now[time] as number) >= clock.end) return;
    to[time] = (now[time] as number) + 1;
    for (let node = 0; silent >= 0 && node < nodes; node++) {
      const at = node * width + silent;
      if ((now[at] as number) > 0) to[at] = (now[at] as number) - 1;
    }
    emit(QuorumAction.tick, 0, 0);
  }

  #save(at: number, to: State): void {
    const { holder, token, mark, saved } = this.#places;
    const withHold = this.#terms.after === "old data";
    to[at + saved] = withHold ? (to[at + holder] as number) : 0;
    to[at + saved + 1] = to[at + token] as number;
    to[at + saved + 2] = withHold && mark >= 0 ? (to[at + mark] as number) : 0;
  }

  #rollBack(at: number, now: State, to: State): void {
    const { holder, token, mark, saved } = this.#places;
    to[at + holder] = now[at + saved] as number;
    to[at + token] = now[at + saved + 1] as number;
    if (mark >= 0) to[at + mark] = now[at + saved + 2] as number;
  }

  #forgetSaved(to: State): void {
    const { saved, width } = this.#places;
    if (saved < 0) return;
    for (let node = 0; node < this.#terms.nodes; node++)
      to.fill(0, node * width + saved, node * width + saved + 3);
  }
}

interface Told {
  readonly said: number;
  readonly token: number;
}
