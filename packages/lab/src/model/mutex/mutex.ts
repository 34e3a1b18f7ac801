/**
 * The protocol of holdfast's mutex on one server as a model: clients that take, stand in line, are told,
 * renew, release and give up, over a network that delays, loses and repeats.
 *
 * Time   in moments, relative: every deadline, age and ban is a small number that a tick moves, so that
 *        runs of any length are a finite number of states. All clocks tick alike, unless `jumps`.
 * Tokens only their order is kept: they are numbered anew in every state.
 */
import type { Emit, Model, State } from "../model.js";
import { Action, mutexWords } from "./actions.js";
import { MutexClient } from "./client.js";
import { ALIVE, Answer, Call, isRelease, MutexPlaces, Of, Phase, Place } from "./fields.js";
import { numberTokens } from "./numbering.js";
import { MutexServer } from "./server.js";
import type { MutexTerms } from "./terms.js";

export class MutexModel implements Model {
  readonly name = "mutex";
  readonly fields;
  readonly rules = [
    "a waiter in line was overtaken",
    "a renewal changed the lease of another",
    "a lease was reported lost and is valid again",
    "two acquires were issued the same token",
    "a token is not above one issued before its acquire began",
    "two leases are valid at once",
    "the server holds the name, or a place in line, for a request that is over and was told so",
  ];
  readonly terms: MutexTerms;
  readonly places: MutexPlaces;
  readonly #server: MutexServer;
  readonly #client: MutexClient;

  constructor(terms: MutexTerms) {
    this.terms = terms;
    this.places = new MutexPlaces(terms.acquires);
    this.fields = this.places.fields;
    this.#server = new MutexServer(this.places, terms);
    this.#client = new MutexClient(this.places, terms);
  }

  start(to: State, emit: Emit): void {
    for (let client = 0; client < this.places.clients; client++) to[Place.clients + client] = ALIVE;
    to[Place.faults] = this.terms.faults;
    emit(-1, 0, 0);
  }

  canonical(state: State): void {
    numberTokens(state, this.places.tokens);
  }

  words(action: number, x: number, _y: number, before: State, after: State): string {
    return mutexWords(this.places, action, x, before, after);
  }

  broken(state: State): number {
    if (state[Place.broke] !== 0) return state[Place.broke] as number;
    let valid = 0;
    for (let request = 0; request < this.places.requests; request++) {
      const at = this.places.blockOf(request);
      if ((state[at + Of.left] as number) > 0) valid += 1;
      const token = state[at + Of.token] as number;
      if (token === 0) continue;
      if (token <= (state[at + Of.before] as number)) return 5;
      for (let other = 0; other < request; other++) {
        if (state[this.places.blockOf(other) + Of.token] === token) return 4;
      }
    }
    if (valid > 1 && !this.terms.jumps) return 6;
    return this.#hasGhost(state) && !this.terms.jumps ? 7 : 0;
  }

  #hasGhost(state: State): boolean {
    for (let request = 0; request < this.places.requests; request++) {
      const at = this.places.blockOf(request);
      if (state[at + Of.phase] !== Phase.over || !this.#client.alive(state, request)) continue;
      const holds = state[Place.holder] === request + 1 && (state[Place.left] as number) > 0;
      if (holds && state[at + Of.message] === 0) return true;
      if (state[at + Of.place] !== 0) return true;
    }
    return false;
  }

  /** Whether somebody who lives waits for the name. */
  waits(state: State): boolean {
    for (let request = 0; request < this.places.requests; request++) {
      if (state[this.places.blockOf(request) + Of.phase] === Phase.wanting) return true;
    }
    return false;
  }

  steps(now: State, to: State, emit: Emit): void {
    for (let client = 0; client < this.places.clients; client++) this.#clientSteps(client, now, to, emit);
    for (let request = 0; request < this.places.requests; request++) {
      const at = this.places.blockOf(request);
      if (now[at + Of.copy] !== Call.none) this.#runCopy(request, now, to, emit);
      if (!this.#client.alive(now, request)) continue;
      if (now[at + Of.phase] === Phase.idle) this.#begin(request, now, to, emit);
      if (now[at + Of.call] !== Call.none) this.#callSteps(request, now, to, emit);
      this.#phaseSteps(request, now, to, emit);
      if (now[at + Of.message] !== 0) this.#messageSteps(request, now, to, emit);
    }
    if (this.terms.time) this.#tick(now, to, emit);
    if (this.terms.jumps && (now[Place.left] as number) > 0 && this.#fault(now, to)) {
      to[Place.left] = 0;
      emit(Action.jump, 0, 0);
    }
  }

  /** Whether one more thing may go wrong; then it has. */
  #fault(now: State, to: State): boolean {
    if (now[Place.faults] === 0) return false;
    to[Place.faults] = (now[Place.faults] as number) - 1;
    return true;
  }

  #clientSteps(client: number, now: State, to: State, emit: Emit): void {
    const state = now[Place.clients + client] as number;
    if (state === 0) return;
    if (state === ALIVE && this.#wants(client, now)) {
      this.#client.subscribed(to, client);
      emit(Action.subscribe, client, 0);
    }
    if (state !== ALIVE && this.#fault(now, to)) {
      this.#client.deafen(to, client);
      emit(Action.deafen, client, 0);
    }
    if (this.#fault(now, to)) {
      this.#client.crash(to, client);
      emit(Action.crash, client, 0);
    }
  }

  #wants(client: number, now: State): boolean {
    for (let request = 0; request < this.places.requests; request++) {
      const wants = now[this.places.blockOf(request) + Of.phase] === Phase.wanting;
      if (wants && this.places.owners[request] === client) return true;
    }
    return false;
  }

  /** The acquires of a client come one after the other, each as soon as it no longer holds or waits. */
  #begin(request: number, now: State, to: State, emit: Emit): void {
    const follows = request > 0 && this.places.owners[request - 1] === this.places.owners[request];
    if (follows && (now[this.places.blockOf(request - 1) + Of.phase] as number) < Phase.ending) return;
    this.#client.begin(to, request);
    emit(Action.begin, request, 0);
  }

  #runCopy(request: number, now: State, to: State, emit: Emit): void {
    const at = this.places.blockOf(request);
    const [call, age, token] = [now[at + Of.copy], now[at + Of.copyAge], now[at + Of.answerToken]];
    this.#server.run(to, request, call as number, age as number);
    to[at + Of.copy] = Call.none;
    to[at + Of.copyAge] = 0;
    to[at + Of.answerToken] = token as number;
    emit(Action.copy, request, 0);
  }

  #callSteps(request: number, now: State, to: State, emit: Emit): void {
    const at = this.places.blockOf(request);
    const [call, age] = [now[at + Of.call] as number, now[at + Of.age] as number];
    if (now[at + Of.answer] !== Answer.none) {
      this.#client.hear(to, request);
      emit(Action.hear, request, 0);
    } else if (age < this.terms.ttl) {
      to[at + Of.answer] = this.#server.run(to, request, call, age);
      if (isRelease(call)) this.#client.hear(to, request); // nothing depends on when it hears
      emit(Action.run, request, 0);
      if (this.#fault(now, to)) {
        this.#server.refuse(to, request);
        this.#client.unanswered(to, request);
        to[at + Of.copy] = now[at + Of.copy] as number; // it has run, and done nothing
        to[at + Of.copyAge] = now[at + Of.copyAge] as number;
        emit(Action.refuse, request, 0);
      }
      if (this.#fault(now, to)) {
        this.#client.resend(to, request);
        emit(Action.resend, request, 0);
      }
    }
    if (age === this.terms.ttl) {
      this.#client.unanswered(to, request);
      emit(Action.expired, request, 0);
    } else if (this.#fault(now, to)) {
      this.#client.unanswered(to, request);
      emit(Action.timeout, request, 0);
    }
  }

  #phaseSteps(request: number, now: State, to: State, emit: Emit): void {
    const at = this.places.blockOf(request);
    const idle = now[at + Of.call] === Call.none;
    const phase = now[at + Of.phase];
    if (phase === Phase.wanting) {
      if (this.#fault(now, to)) {
        this.#client.giveUp(to, request);
        emit(Action.giveUp, request, 0);
      }
      if (idle && now[at + Of.stands] === 0) {
        this.#client.ask(to, request);
        emit(Action.ask, request, 0);
      }
      const beats = this.terms.time && this.terms.without !== "waiters give signs of life";
      if (idle && now[at + Of.stands] === 1 && beats) {
        this.#client.beat(to, request);
        emit(Action.beat, request, 0);
      }
    } else if (phase === Phase.holding) {
      this.#holdSteps(request, now, to, emit);
    } else if (phase === Phase.ending && (idle || now[at + Of.call] === Call.renew)) {
      this.#client.sendRelease(to, request);
      emit(Action.sendRelease, request, 0);
    }
  }

  #holdSteps(request: number, now: State, to: State, emit: Emit): void {
    const at = this.places.blockOf(request);
    if (now[at + Of.left] === 0) {
      this.#client.lapse(to, request);
      emit(Action.lapse, request, 0);
      return;
    }
    this.#client.release(to, request);
    emit(Action.release, request, 0);
    if (now[at + Of.call] === Call.none && this.terms.time && this.terms.renewals) {
      this.#client.renew(to, request);
      emit(Action.renew, request, 0);
    }
  }

  #messageSteps(request: number, now: State, to: State, emit: Emit): void {
    const at = this.places.blockOf(request);
    this.#client.message(to, request);
    emit(Action.message, request, 0);
    if (this.#fault(now, to)) {
      to[at + Of.message] = 0;
      to[at + Of.messageAge] = 0;
      emit(Action.loseMessage, request, 0);
    }
  }

  #tick(now: State, to: State, emit: Emit): void {
    const { ttl } = this.terms;
    const down = (place: number): void => {
      if ((now[place] as number) > 0) to[place] = (now[place] as number) - 1;
    };
    const up = (place: number): void => {
      if ((now[place] as number) < ttl) to[place] = (now[place] as number) + 1;
    };
    down(Place.left);
    for (let request = 0; request < this.places.requests; request++) {
      const at = this.places.blockOf(request);
      down(at + Of.left);
      down(at + Of.ban);
      const call = now[at + Of.call] as number;
      if (call !== Call.none && !isRelease(call)) up(at + Of.age);
      if (now[at + Of.message] !== 0) up(at + Of.messageAge);
      if (now[at + Of.place] !== 0) {
        up(at + Of.beatAge);
        up(at + Of.seenAge);
      }
      if (now[at + Of.copy] === Call.none) continue;
      up(at + Of.copyAge);
      // The network keeps nothing for longer than a ttl.
      if (to[at + Of.copyAge] === ttl) to[at + Of.copy] = to[at + Of.copyAge] = 0;
    }
    emit(Action.tick, 0, 0);
  }
}
