/**
 * The server of the mutex model: what take, acquire, beat, renew and release do to its state, in the order
 * of the scripts in packages/holdfast/src/locks/backends/redis. A script is one step.
 */
import type { State } from "../model.js";
import { ALIVE, Answer, Broke, Call, LISTENS, type MutexPlaces, Of, Place } from "./fields.js";
import type { Guard, MutexTerms } from "./terms.js";

export class MutexServer {
  readonly #places: MutexPlaces;
  readonly #ttl: number;
  readonly #without: Guard | null;

  constructor(places: MutexPlaces, { ttl, without }: MutexTerms) {
    this.#places = places;
    this.#ttl = ttl;
    this.#without = without;
  }

  /** Runs a call of a request, sent `age` moments ago. What a grant says is in `answerToken`. */
  run(state: State, request: number, call: number, age: number): number {
    switch (call) {
      case Call.take:
        return this.#take(state, request);
      case Call.ask:
      case Call.stand:
        return this.#acquire(state, request, call === Call.stand, age);
      case Call.beat:
        return this.#beat(state, request, age);
      case Call.renew:
        return this.#renew(state, request);
      default:
        return this.#release(state, request, call === Call.ban);
    }
  }

  /**
   * The server refuses to write, as one without memory does, so the script ends at its first write. All
   * that can be seen of it is a message that was published before.
   */
  refuse(state: State, request: number): void {
    if (this.#without !== "written first, told second") return;
    if (state[Place.holder] !== request + 1) return;
    const next = this.#firstWaiter(state);
    if (next >= 0) this.#tell(state, next, (state[Place.top] as number) + 1);
  }

  #take(state: State, request: number): number {
    const mine = state[Place.holder] === request + 1;
    if (mine && (state[Place.left] as number) > 0 && this.#without !== "the own id is success") {
      return this.#granted(state, request);
    }
    const looks = this.#without !== "take looks at the flag";
    if (state[Place.holder] !== 0 || (looks && state[Place.flag] !== 0)) return Answer.busy;
    this.#hold(state, request);
    return this.#granted(state, request);
  }

  #acquire(state: State, request: number, wait: boolean, age: number): number {
    const at = this.#places.blockOf(request);
    if (state[Place.left] === 0 && state[Place.flag] === 0) {
      this.#hold(state, request);
      return this.#granted(state, request);
    }
    const mine = state[Place.holder] === request + 1 && this.#without !== "the own id is success";
    if (mine && (state[Place.left] as number) > 0) {
      state[Place.left] = this.#ttl;
      return this.#granted(state, request);
    }
    if ((state[at + Of.ban] as number) > 0) return Answer.unknown;
    if (state[Place.left] === 0 && this.#handOver(state, request) === request) {
      return this.#granted(state, request);
    }
    if (state[Place.left] === 0) {
      this.#leaveLine(state, request);
      this.#hold(state, request);
      state[Place.flag] = this.#flagNow(state);
      return this.#granted(state, request);
    }
    if (!wait) return Answer.busy;
    if (this.#without !== "who stands in line raises the flag") state[Place.flag] = 1;
    if (state[at + Of.place] === 0) state[at + Of.place] = this.#lineLength(state) + 1;
    state[at + Of.beatAge] = age;
    state[at + Of.seenAge] = 0;
    return Answer.inLine;
  }

  #beat(state: State, request: number, age: number): number {
    const at = this.#places.blockOf(request);
    if (state[Place.holder] === request + 1 && (state[Place.left] as number) > 0) {
      state[Place.left] = this.#ttl;
      return this.#granted(state, request);
    }
    if (state[at + Of.place] === 0) return Answer.unknown;
    if (this.#without !== "who stands in line raises the flag") state[Place.flag] = 1;
    state[at + Of.beatAge] = age;
    state[at + Of.seenAge] = 0;
    if (state[Place.left] === 0 && this.#handOver(state, request) === request) {
      return this.#granted(state, request);
    }
    return Answer.inLine;
  }

  #renew(state: State, request: number): number {
    const checks = this.#without !== "a renewal checks the id";
    if (state[Place.holder] === 0 || (checks && state[Place.holder] !== request + 1)) return Answer.lost;
    if (state[Place.left] === 0 && state[Place.flag] === 1) return Answer.lost; // somebody may be waiting for it
    if (state[Place.holder] !== request + 1) state[Place.broke] = Broke.renewedAnother;
    state[Place.left] = this.#ttl;
    return Answer.done;
  }

  #release(state: State, request: number, ban: boolean): number {
    const checks = this.#without !== "a release checks the id";
    if (!ban && state[Place.holder] === request + 1 && state[Place.flag] === 0) {
      this.#free(state);
      state[Place.flag] = 0;
      return Answer.done;
    }
    if (ban) {
      state[Place.flag] = 1;
      this.#ban(state, request);
    }
    if (state[Place.holder] === request + 1 || (!checks && state[Place.holder] !== 0)) {
      const handsOver = this.#without !== "a release hands over";
      if (!handsOver || this.#handOver(state, -1) < 0) this.#free(state);
      return Answer.done;
    }
    this.#leaveLine(state, request);
    return Answer.done;
  }

  /** Bans share a key, whose expiry the newest sets: the older ones last as long. */
  #ban(state: State, banned: number): void {
    for (let request = 0; request < this.#places.requests; request++) {
      const ban = this.#places.blockOf(request) + Of.ban;
      if (request === banned || (state[ban] as number) > 0) state[ban] = this.#ttl;
    }
  }

  #granted(state: State, request: number): number {
    state[this.#places.blockOf(request) + Of.answerToken] = state[Place.holderToken] as number;
    return Answer.granted;
  }

  #hold(state: State, request: number): void {
    if (this.#overtakes(state, request)) state[Place.broke] = Broke.overtaken;
    state[Place.top] = (state[Place.top] as number) + 1;
    state[Place.holder] = request + 1;
    state[Place.holderToken] = state[Place.top] as number;
    state[Place.left] = this.#ttl;
  }

  #free(state: State): void {
    state[Place.holder] = 0;
    state[Place.holderToken] = 0;
    state[Place.left] = 0;
    state[Place.flag] = this.#flagNow(state);
    if (this.#without === "the last token outlives the lease" && state[Place.flag] === 0)
      state[Place.top] = 0;
  }

  #flagNow(state: State): number {
    for (let request = 0; request < this.#places.requests; request++) {
      const at = this.#places.blockOf(request);
      if (state[at + Of.place] !== 0 || (state[at + Of.ban] as number) > 0) return 1;
    }
    return 0;
  }

  /** The free lock goes to the first in line: which request that is, or -1. */
  #handOver(state: State, self: number): number {
    let written = false;
    for (;;) {
      const next = this.#firstInLine(state);
      if (next < 0) {
        if (written) this.#free(state);
        return -1;
      }
      if (next === self || this.#lives(state, next)) {
        this.#hold(state, next);
        written = true;
        const heard = next === self || this.#tell(state, next, state[Place.holderToken] as number);
        this.#leaveLine(state, next);
        if (heard) return next;
      } else {
        this.#leaveLine(state, next);
      }
    }
  }

  /** PUBLISH: whether anybody listens. */
  #tell(state: State, request: number, token: number): boolean {
    if (!this.#listens(state, request)) return false;
    const at = this.#places.blockOf(request);
    state[at + Of.message] = token;
    state[at + Of.messageAge] = state[at + Of.beatAge] as number;
    return true;
  }

  #listens(state: State, request: number): boolean {
    return ((state[this.#places.clientOf(request)] as number) & LISTENS) !== 0;
  }

  #lives(state: State, request: number): boolean {
    return (state[this.#places.blockOf(request) + Of.seenAge] as number) < this.#ttl;
  }

  #firstWaiter(state: State): number {
    for (let place = 1; place <= this.#lineLength(state); place++) {
      const next = this.#inPlace(state, place);
      if (this.#lives(state, next) && this.#listens(state, next)) return next;
    }
    return -1;
  }

  #firstInLine(state: State): number {
    return this.#inPlace(state, 1);
  }

  #inPlace(state: State, place: number): number {
    for (let request = 0; request < this.#places.requests; request++) {
      if (state[this.#places.blockOf(request) + Of.place] === place) return request;
    }
    return -1;
  }

  #lineLength(state: State): number {
    let length = 0;
    for (let request = 0; request < this.#places.requests; request++) {
      if (state[this.#places.blockOf(request) + Of.place] !== 0) length += 1;
    }
    return length;
  }

  #leaveLine(state: State, request: number): void {
    const at = this.#places.blockOf(request);
    const place = state[at + Of.place] as number;
    if (place === 0) return;
    state[at + Of.place] = 0;
    state[at + Of.beatAge] = 0;
    state[at + Of.seenAge] = 0;
    for (let other = 0; other < this.#places.requests; other++) {
      const theirs = this.#places.blockOf(other) + Of.place;
      if ((state[theirs] as number) > place) state[theirs] = (state[theirs] as number) - 1;
    }
  }

  /** Somebody else came before, is alive, is heard of, listens, and is passed over. */
  #overtakes(state: State, request: number): boolean {
    const mine = state[this.#places.blockOf(request) + Of.place] as number;
    for (let other = 0; other < this.#places.requests; other++) {
      const at = this.#places.blockOf(other);
      const theirs = state[at + Of.place] as number;
      if (other === request || theirs === 0 || (mine !== 0 && theirs > mine)) continue;
      const alive = ((state[this.#places.clientOf(other)] as number) & ALIVE) !== 0;
      if (alive && (state[at + Of.seenAge] as number) < this.#ttl && this.#listens(state, other)) return true;
    }
    return false;
  }
}
