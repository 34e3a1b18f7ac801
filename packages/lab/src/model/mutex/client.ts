/**
 * The clients of the mutex model: what a process of holdfast does with answers, messages and its own
 * clock. What it does at once, such as the next question after an answer, is part of the same step.
 */
import type { State } from "../model.js";
import { ALIVE, Answer, Broke, Call, LISTENS, type MutexPlaces, Of, Phase, Place } from "./fields.js";
import type { Guard, MutexTerms } from "./terms.js";

export class MutexClient {
  readonly #places: MutexPlaces;
  readonly #ttl: number;
  readonly #without: Guard | null;

  constructor(places: MutexPlaces, { ttl, without }: MutexTerms) {
    this.#places = places;
    this.#ttl = ttl;
    this.#without = without;
  }

  alive(state: State, request: number): boolean {
    return ((state[this.#places.clientOf(request)] as number) & ALIVE) !== 0;
  }

  listens(state: State, request: number): boolean {
    return ((state[this.#places.clientOf(request)] as number) & LISTENS) !== 0;
  }

  begin(state: State, request: number): void {
    const at = this.#places.blockOf(request);
    state[at + Of.phase] = Phase.wanting;
    let issued = 0;
    for (let other = 0; other < this.#places.requests; other++) {
      issued = Math.max(issued, state[this.#places.blockOf(other) + Of.token] as number);
    }
    state[at + Of.before] = issued;
    this.#send(state, request, Call.take);
  }

  /** The inbox of a client is up: those that are not in line ask at once. */
  subscribed(state: State, client: number): void {
    const field = Place.clients + client;
    state[field] = (state[field] as number) | LISTENS;
    for (let request = 0; request < this.#places.requests; request++) {
      const at = this.#places.blockOf(request);
      if (this.#places.owners[request] !== client || state[at + Of.phase] !== Phase.wanting) continue;
      if (state[at + Of.call] === Call.none && state[at + Of.stands] === 0) this.ask(state, request);
    }
  }

  ask(state: State, request: number): void {
    const subscribedFirst = this.#without !== "subscribed first, in line second";
    const stand = this.listens(state, request) || !subscribedFirst;
    state[this.#places.blockOf(request) + Of.stands] = 0;
    this.#send(state, request, stand ? Call.stand : Call.ask);
  }

  beat(state: State, request: number): void {
    this.#send(state, request, Call.beat);
  }

  renew(state: State, request: number): void {
    this.#send(state, request, Call.renew);
  }

  /** The answer to the call of this request arrives. */
  hear(state: State, request: number): void {
    const at = this.#places.blockOf(request);
    const call = state[at + Of.call] as number;
    const answer = state[at + Of.answer] as number;
    const token = state[at + Of.answerToken] as number;
    const counted = this.#without !== "an answer counts from when its question was sent";
    const age = counted ? (state[at + Of.age] as number) : 0;
    const renewalAge =
      this.#without === "a renewal counts from when it was sent" ? 0 : (state[at + Of.age] as number);
    this.#endCall(state, request);
    const phase = state[at + Of.phase];
    if (call === Call.release || call === Call.ban) {
      state[at + Of.phase] = Phase.over;
      state[at + Of.owed] = 0;
    } else if (call === Call.renew) {
      this.#renewed(state, request, answer, renewalAge);
    } else if (phase === Phase.wanting) {
      if (answer === Answer.granted) this.#grant(state, request, token, age, call);
      else if (answer === Answer.inLine) state[at + Of.stands] = 1;
      else if (answer !== Answer.busy || this.#asksNext(state, request, call)) this.ask(state, request);
    }
  }

  /** After "busy": at once when it was the first question or the inbox is up, else later. */
  #asksNext(state: State, request: number, call: number): boolean {
    return call === Call.take || this.listens(state, request);
  }

  #renewed(state: State, request: number, answer: number, age: number): void {
    const at = this.#places.blockOf(request);
    const holds = state[at + Of.phase] === Phase.holding;
    if (!holds && this.#without !== "a hold that lapsed stays lapsed") return;
    if (answer === Answer.lost) {
      // Where a copy of its request may be on the way, its release bans it, although the lease is gone.
      if (holds) this.#ended(state, request, state[at + Of.owed] === 1 ? Phase.ending : Phase.over);
      return;
    }
    const left = this.#ttl - age;
    if (holds && (state[at + Of.left] as number) > 0) {
      state[at + Of.left] = Math.max(state[at + Of.left] as number, left);
    } else if (this.#without === "a hold that lapsed stays lapsed" && left > 0) {
      state[at + Of.phase] = Phase.holding;
      state[at + Of.left] = left;
      state[Place.broke] = Broke.revived;
    }
  }

  /** A grant by message: it names the request, and a sign of life. */
  message(state: State, request: number): void {
    const at = this.#places.blockOf(request);
    const token = state[at + Of.message] as number;
    const counted = this.#without !== "a grant by message counts from the sign of life it names";
    const age = counted ? (state[at + Of.messageAge] as number) : 0;
    state[at + Of.message] = 0;
    state[at + Of.messageAge] = 0;
    const meant = this.#meant(state, request);
    const to = this.#places.blockOf(meant);
    if (state[to + Of.phase] === Phase.wanting) {
      this.#setAside(state, meant);
      this.#grant(state, meant, token, age, Call.stand);
    } else if (state[at + Of.phase] === Phase.over) {
      // Nobody waits for it any more: it goes back at once.
      state[at + Of.phase] = Phase.ending;
      state[at + Of.owed] = 1;
      this.sendRelease(state, request);
    }
  }

  #meant(state: State, request: number): number {
    if (this.#without !== "a grant names its request") return request;
    for (let other = 0; other < this.#places.requests; other++) {
      const same = this.#places.owners[other] === this.#places.owners[request];
      if (same && state[this.#places.blockOf(other) + Of.phase] === Phase.wanting) return other;
    }
    return request;
  }

  #grant(state: State, request: number, token: number, age: number, call: number): void {
    const at = this.#places.blockOf(request);
    const left = this.#ttl - age;
    if (left > 0) {
      state[at + Of.phase] = Phase.holding;
      state[at + Of.token] = token;
      state[at + Of.left] = left;
      state[at + Of.stands] = 0;
    } else if (call === Call.take) {
      this.giveUp(state, request);
    } else {
      this.ask(state, request); // the ttl counts from this question
    }
  }

  release(state: State, request: number): void {
    this.#setAside(state, request);
    this.#ended(state, request, Phase.ending);
    this.sendRelease(state, request);
  }

  /** It knows; what it says to the server comes with its caller's release, whenever that is. */
  lapse(state: State, request: number): void {
    this.#setAside(state, request, this.#without === "a hold that lapsed stays lapsed");
    this.#ended(state, request, Phase.ending);
  }

  giveUp(state: State, request: number): void {
    const at = this.#places.blockOf(request);
    this.#setAside(state, request);
    state[at + Of.phase] = Phase.ending;
    state[at + Of.stands] = 0;
    if (this.#without === "giving up is told to the server") state[at + Of.phase] = Phase.over;
    else this.sendRelease(state, request);
  }

  sendRelease(state: State, request: number): void {
    const at = this.#places.blockOf(request);
    const bans = state[at + Of.owed] === 1 && this.#without !== "a request that gave up is banned";
    this.#setAside(state, request);
    this.#send(state, request, bans ? Call.ban : Call.release);
  }

  /** No answer came in time: the call may still reach the server, and is made again where that is of use. */
  unanswered(state: State, request: number): void {
    const at = this.#places.blockOf(request);
    const renewal = state[at + Of.call] === Call.renew;
    this.#setAside(state, request);
    const phase = state[at + Of.phase];
    if (renewal) return;
    if (phase === Phase.ending) this.sendRelease(state, request);
    else if (phase === Phase.wanting && state[at + Of.stands] === 0) this.ask(state, request);
  }

  /** The connection broke and the client library sends again what had no answer: now there are two. */
  resend(state: State, request: number): void {
    const at = this.#places.blockOf(request);
    state[at + Of.copy] = state[at + Of.call] as number;
    state[at + Of.copyAge] = state[at + Of.age] as number;
    state[at + Of.owed] = 1;
  }

  crash(state: State, client: number): void {
    state[Place.clients + client] = 0;
    for (let request = 0; request < this.#places.requests; request++) {
      if (this.#places.owners[request] !== client) continue;
      const at = this.#places.blockOf(request);
      this.#setAside(state, request);
      this.#ended(state, request, Phase.over);
      state[at + Of.stands] = 0;
      state[at + Of.message] = 0;
      state[at + Of.messageAge] = 0;
    }
  }

  deafen(state: State, client: number): void {
    state[Place.clients + client] = ALIVE;
    for (let request = 0; request < this.#places.requests; request++) {
      if (this.#places.owners[request] !== client) continue;
      const at = this.#places.blockOf(request);
      state[at + Of.message] = 0;
      state[at + Of.messageAge] = 0;
    }
  }

  #ended(state: State, request: number, phase: number): void {
    const at = this.#places.blockOf(request);
    state[at + Of.phase] = phase;
    state[at + Of.left] = 0;
    state[at + Of.before] = 0; // it has been compared
  }

  #send(state: State, request: number, call: number): void {
    const at = this.#places.blockOf(request);
    state[at + Of.call] = call;
    state[at + Of.age] = 0;
    state[at + Of.answer] = Answer.none;
    state[at + Of.answerToken] = 0;
  }

  #endCall(state: State, request: number): void {
    this.#send(state, request, Call.none);
  }

  /** Nobody will hear the answer to the call under way. If the server has not run it, it may yet. */
  #setAside(state: State, request: number, keeps = false): void {
    const at = this.#places.blockOf(request);
    const call = state[at + Of.call] as number;
    if (call === Call.none || (keeps && call === Call.renew)) return;
    if (call === Call.take || call === Call.ask || call === Call.stand) state[at + Of.owed] = 1;
    if (state[at + Of.answer] === Answer.none && (state[at + Of.age] as number) < this.#ttl) {
      state[at + Of.copy] = call;
      state[at + Of.copyAge] = state[at + Of.age] as number;
    }
    this.#endCall(state, request);
  }
}
