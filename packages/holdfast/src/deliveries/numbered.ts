/**
 * Numbered: the numbers of one kind of requests of a process about one name. The server remembers the answers to the last four, so that
 * a request without an answer can be sent again under its number, and is not carried out twice.
 */

/** The last number. It rises for as long as the process lives. */
export interface LastNumber {
  last: number;
}

/** The answers that the server keeps. */
const ANSWERS_KEPT = 4;

export class Numbered {
  readonly #number: LastNumber;
  /** In their order. */
  readonly #underWay = new Set<number>();

  constructor(number: LastNumber) {
    this.#number = number;
  }

  /** A request that begins from now on has a higher one. */
  get last(): number {
    return this.#number.last;
  }

  /** Number of requests under way. */
  get underWay(): number {
    return this.#underWay.size;
  }

  /** Whether the server will remember the answer to the oldest request under way, when one more has arrived. */
  get mayBegin(): boolean {
    const [oldest] = this.#underWay;
    return oldest === undefined || this.last + 1 - oldest < ANSWERS_KEPT;
  }

  begin(): number {
    this.#number.last += 1;
    this.#underWay.add(this.last);
    return this.last;
  }

  /** The request has an answer, or will have none. */
  end(seq: number): void {
    this.#underWay.delete(seq);
  }
}
