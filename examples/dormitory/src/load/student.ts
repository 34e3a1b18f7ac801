/** One student of the load: signs in, clicks, asks for the place in the queue until there is a result. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Answer } from "../check/answers.js";
import type { Outcome, Ticket, TicketView } from "../domain/selection.js";
import type { Answered, Http } from "./http.js";

export interface Account {
  readonly id: string;
  readonly number: string;
  readonly password: string;
  /** Of the student's team, the best first. */
  readonly wishes: readonly string[];
}

/** What a student was told, and when. */
export interface Heard {
  readonly studentId: string;
  readonly wishes: readonly string[];
  /** Null: no room. */
  readonly roomId: string | null;
  /** Of every choice that the student was told of. */
  readonly answers: readonly Answer[];
  readonly latencyMs: number;
  /** Since the start. */
  readonly decidedAtMs: number;
}

/** What students do besides one click: some click twice, some regret and choose again. */
export interface Habits {
  readonly clicksTwice: boolean;
  readonly regrets: boolean;
}

const EARLY_MS = 200;
const POLL_MS = { least: 150, most: 1_500 } as const;

export class LoadStudent {
  readonly account: Account;
  readonly #http: Http;
  readonly #address: string;
  #cookie = "";

  constructor(account: Account, index: number, http: Http) {
    this.account = account;
    this.#http = http;
    // The login is guarded by address too, and thousands of students do not share one.
    this.#address = `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;
  }

  async signIn(): Promise<void> {
    const { number, password } = this.account;
    const answered = await this.#send("/login", { number, password });
    if (answered.status >= 400)
      throw new Error(`student ${number} cannot sign in: status ${answered.status}`);
    this.#cookie = answered.cookies.map((cookie) => cookie.split(";", 1)[0]).join("; ");
    if (this.#cookie === "") throw new Error(`student ${number} got no session`);
  }

  /** From the click to the result. */
  async choose(startMs: number, habits: Habits): Promise<Heard> {
    const answers: Answer[] = [];
    const clickedMs = performance.now();
    const requestId = randomUUID();
    // A double click sends the same form twice.
    const clicks = Array.from({ length: habits.clicksTwice ? 2 : 1 }, () => this.#ask("/grab", requestId));
    let [outcome] = await Promise.all(clicks);
    const decidedMs = performance.now();
    this.#note(answers, outcome);
    if (habits.regrets && outcome?.state === "done") {
      this.#note(answers, await this.#ask("/regret", randomUUID()));
      outcome = await this.#ask("/grab", randomUUID());
      this.#note(answers, outcome);
    }
    const own = answers.at(-1)?.places.find(({ studentId }) => studentId === this.account.id);
    return {
      studentId: this.account.id,
      wishes: this.account.wishes,
      roomId: own?.roomId ?? null,
      answers,
      latencyMs: decidedMs - clickedMs,
      decidedAtMs: decidedMs - startMs,
    };
  }

  #note(answers: Answer[], outcome: Outcome | undefined): void {
    if (outcome?.state !== "done") return;
    answers.push({ studentId: this.account.id, places: outcome.places, atMs: outcome.atMs });
  }

  /** Clicks again if the batch is not open yet: the clocks differ by a moment. */
  async #ask(path: string, requestId: string): Promise<Outcome> {
    for (let again = requestId; ; again = randomUUID()) {
      const outcome = await this.#askOnce(path, again);
      if (outcome.state !== "refused" || outcome.reason !== "not-open") return outcome;
      await sleep(EARLY_MS);
    }
  }

  /** Asks, and then for the ticket, until there is an outcome of this very request. */
  async #askOnce(path: string, requestId: string): Promise<Outcome> {
    let waits: Ticket | null = null;
    for (let pollMs: number = POLL_MS.least; ; pollMs = Math.min(POLL_MS.most, pollMs * 1.5)) {
      if (waits === null) {
        const { status, body } = await this.#send(path, { requestId });
        const answer = body as Ticket | Outcome | null;
        if (answer?.state === "done" || answer?.state === "refused") return answer;
        if (answer?.state !== "waiting")
          throw new Error(`${path} answered with status ${status}: ${JSON.stringify(body)}`);
        waits = answer;
      }
      await sleep(pollMs * (0.75 + Math.random() / 2));
      const view = (await this.#send("/ticket")).body as TicketView;
      if (view.outcome && view.outcome.requestId === waits.requestId) return view.outcome;
      // A request of a mate was decided last: the same form again brings the answer to this one.
      if (view.state === "decided") waits = null;
    }
  }

  #send(path: string, form?: object): Promise<Answered> {
    return this.#http.send(path, { cookie: this.#cookie, "x-forwarded-for": this.#address }, form);
  }
}
