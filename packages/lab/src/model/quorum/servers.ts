/** The nodes of the quorum model: how each grants, confirms, forgets and restarts, by itself. */
import type { State } from "../model.js";
import type { QuorumPlaces } from "./places.js";
import type { QuorumTerms } from "./terms.js";

export class QuorumServers {
  readonly #terms: QuorumTerms;
  readonly #places: QuorumPlaces;

  constructor(terms: QuorumTerms, places: QuorumPlaces) {
    this.#terms = terms;
    this.#places = places;
  }

  /**
   * The request of an attempt reaches a node. False: refused, and nothing has changed.
   * @param least the stamp must be at least this
   */
  grant(node: number, attempt: number, now: State, to: State, least = 0): boolean {
    const places = this.#places;
    const holder = now[places.holder(node)];
    if (holder === attempt + 1) return true; // asked again: the same answer
    if (holder !== 0) return false;
    const stamp = Math.max((now[places.token(node)] as number) + 1, least);
    to[places.holder(node)] = attempt + 1;
    to[places.token(node)] = stamp + this.#terms.turns - 1;
    to[places.stamp(node)] = stamp;
    return true;
  }

  isHeldBy(node: number, attempt: number, stamp: number, now: State): boolean {
    return now[this.#places.holder(node)] === attempt + 1 && now[this.#places.stamp(node)] === stamp;
  }

  /**
   * The token of an attempt, the first one of its block, reaches a node that had granted it `stamp`. False: refused.
   */
  confirm(node: number, attempt: number, stamp: number, token: number, now: State, to: State): boolean {
    const { turns, without } = this.#terms;
    const asked = without === "stamp" ? (now[this.#places.stamp(node)] as number) : stamp;
    if (!this.isHeldBy(node, attempt, asked, now)) return false;
    const last = without === "last token" ? token : token + turns - 1;
    const known = this.#places.token(node);
    to[known] = Math.max(now[known] as number, last);
    return true;
  }

  /** The hold is gone, and its stamp with it. */
  drop(node: number, to: State): void {
    to[this.#places.holder(node)] = 0;
    to[this.#places.stamp(node)] = 0;
  }

  /** A node loses all that it knows. */
  restart(node: number, to: State): void {
    this.drop(node, to);
    to[this.#places.token(node)] = 0;
  }
}
