/**
 * Standing: how many free places of this process Redis knows of. Answers and gifts come by two connections, in any order. A gift that
 * Redis sent before the last `take` used a place from before, which that `take` has replaced; the tokens tell which gifts these are.
 * The number has two bounds: the process takes again by the lower one, and gives up its places by the upper one.
 */
export class Standing {
  #atLeast = 0;
  #atMost = 0;
  /** Gifts with larger tokens came after the last `take` that has an answer. */
  #newestToken = 0;
  #forgotten = 0;
  #left = 0;
  readonly #underWay = new Set<StandingMark>();

  get atLeast(): number {
    return this.#atLeast;
  }

  get atMost(): number {
    return this.#atMost;
  }

  /** When a request is sent. */
  mark(): StandingMark {
    const mark = { tokens: [], forgotten: this.#forgotten, left: this.#left };
    this.#underWay.add(mark);
    return mark;
  }

  /** The request has an answer, or will have none. */
  over(mark: StandingMark): void {
    this.#underWay.delete(mark);
  }

  /** By the answer to a request, Redis has kept `missing` places. @param isSure false: it may have kept none */
  answered(
    { tokens, forgotten, left }: StandingMark,
    { missing, newestToken, isSure }: StandingAnswer,
  ): void {
    // It was carried out before the process gave up its places.
    if (left !== this.#left) return;
    this.#newestToken = newestToken;
    const used = tokens.filter((token) => token > newestToken).length;
    // For the lower bound any gift that has come since used one of these places: tokens may fall where a clock was set back.
    this.#atLeast = isSure && forgotten === this.#forgotten ? Math.max(missing - tokens.length, 0) : 0;
    this.#atMost = Math.max(missing - used, 0);
  }

  /** A gift has come, whether this process had a copy of it or not. */
  gift(token: number): void {
    for (const { tokens } of this.#underWay) tokens.push(token);
    this.#atLeast = Math.max(this.#atLeast - 1, 0);
    if (token > this.#newestToken) this.#atMost = Math.max(this.#atMost - 1, 0);
  }

  /** A look has found this number. */
  found(free: number): void {
    this.#atLeast = Math.min(this.#atLeast, free);
  }

  /** Redis may have forgotten the places, or they are of no use. */
  forgotten(): void {
    this.#forgotten += 1;
    this.#atLeast = 0;
  }

  /** A request may have been carried out, or not. */
  doubt(): void {
    this.forgotten();
    this.#atMost = Number.POSITIVE_INFINITY;
  }

  /** The process gives up its places. */
  left(): void {
    this.#left += 1;
    this.#atLeast = 0;
    this.#atMost = 0;
  }
}

/** What had happened when a request was sent. */
export interface StandingMark {
  /** Of the gifts that have come since. */
  readonly tokens: number[];
  readonly forgotten: number;
  readonly left: number;
}

export interface StandingAnswer {
  readonly missing: number;
  readonly newestToken: number;
  readonly isSure: boolean;
}
