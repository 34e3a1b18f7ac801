/** Where each number of the quorum model is: first the nodes, column by column, then the attempts, then what is counted. */
import type { QuorumTerms } from "./terms.js";

export class QuorumPlaces {
  /** Numbers of one node. */
  readonly width: number;
  /** How many restarts, late copies and seats taken anew there were. */
  readonly restarts: number;
  readonly late: number;
  readonly anew: number;
  readonly size: number;
  readonly #attempts: number;

  constructor({ nodes, attempts }: QuorumTerms) {
    this.width = 3 + 2 * attempts;
    this.#attempts = nodes * this.width;
    this.restarts = this.#attempts + 3 * attempts;
    this.late = this.restarts + 1;
    this.anew = this.restarts + 2;
    this.size = this.restarts + 3;
  }

  /** Who holds the node: the attempt + 1, or 0. */
  holder(node: number): number {
    return node * this.width;
  }

  /** The last token that the node knows of. */
  token(node: number): number {
    return node * this.width + 1;
  }

  /** Of the hold. */
  stamp(node: number): number {
    return node * this.width + 2;
  }

  /** What the node's grant to the attempt said, + 1; 0: there is none that counts. */
  said(node: number, attempt: number): number {
    return node * this.width + 3 + 2 * attempt;
  }

  /** Whether the node confirmed to the attempt; of a holder that may return, whether it has a seat there. */
  confirmed(node: number, attempt: number): number {
    return node * this.width + 4 + 2 * attempt;
  }

  phase(attempt: number): number {
    return this.#attempts + 3 * attempt;
  }

  tokenOf(attempt: number): number {
    return this.#attempts + 3 * attempt + 1;
  }

  /** The largest token that had been issued when the attempt began. */
  issuedBefore(attempt: number): number {
    return this.#attempts + 3 * attempt + 2;
  }
}
