/** What lanes promise, over one message after the other: the small model beside which the scripts are tried. */
import { expect } from "vitest";

export type MessageState = "waiting" | "later" | "out" | "over" | "dead" | "cancelled";

export interface ModelMessage {
  readonly lane: string;
  readonly number: number;
  readonly body: string;
  state: MessageState;
  attempts: number;
  /** It was delivered before, so the promise about `ahead` no longer holds. */
  wasOut: boolean;
  /** ms: it may be delivered then. */
  dueMs: number;
  /** ms: its delivery may end then. */
  deadlineMs: number;
  ahead: number;
}

export interface ModelLane {
  readonly messages: ModelMessage[];
  isPaused: boolean;
  limit: number | null;
  /** ms: nothing of the lane is delivered before. */
  tillMs: number;
}

export interface ModelSettings {
  readonly inFlight: number;
  readonly whenFailed: "park" | "skip" | "dead-letter";
  readonly maxAttempts: number;
}

export class LaneModel {
  readonly lanes = new Map<string, ModelLane>();
  readonly settings: ModelSettings;
  isPaused = false;
  lastToken = 0;

  constructor(settings: ModelSettings) {
    this.settings = settings;
  }

  lane(name: string): ModelLane {
    const lane = this.lanes.get(name) ?? { messages: [], isPaused: false, limit: null, tillMs: 0 };
    this.lanes.set(name, lane);
    return lane;
  }

  push(name: string, number: number, body: string): void {
    const lane = this.lane(name);
    const last = lane.messages.at(-1);
    expect(number, `the numbers of lane ${name} rise`).toBeGreaterThan(last?.number ?? 0);
    lane.messages.push({
      lane: name,
      number,
      body,
      state: "waiting",
      attempts: 0,
      wasOut: false,
      dueMs: 0,
      deadlineMs: 0,
      ahead: Number.POSITIVE_INFINITY,
    });
  }

  find(name: string, number: number): ModelMessage {
    const found = this.lane(name).messages.find((message) => message.number === number);
    if (!found) throw new Error(`lane ${name} never had ${number}`);
    return found;
  }

  /** The message that is delivered next; null: none may be. */
  next(name: string, nowMs: number): ModelMessage | null {
    const lane = this.lane(name);
    if (this.isPaused || lane.isPaused || lane.tillMs > nowMs) return null;
    if (this.out(lane).length >= (lane.limit ?? this.settings.inFlight)) return null;
    const fit = lane.messages.filter(({ state }) => state === "waiting");
    return fit.sort((a, b) => a.number - b.number)[0] ?? null;
  }

  deliver(name: string, number: number, attempt: number, token: number, body: string, nowMs: number): void {
    for (const one of this.lane(name).messages)
      if (one.state === "later" && one.dueMs <= nowMs && one.number === number) one.state = "waiting";
    const message = this.find(name, number);
    expect(message, `lane ${name} delivers what is next`).toEqual(this.next(name, nowMs));
    expect({ attempt, body }).toEqual({ attempt: message.attempts + 1, body: message.body });
    expect(token, "tokens rise").toBeGreaterThan(this.lastToken);
    this.lastToken = token;
    message.state = "out";
    message.attempts = attempt;
    message.wasOut = true;
    message.deadlineMs = nowMs + 3_000;
  }

  ack(name: string, number: number): void {
    this.find(name, number).state = "over";
  }

  /** It came back. */
  back(
    name: string,
    number: number,
    nowMs: number,
    how: { delayMs: number; isAttempt: boolean; isFailure: boolean },
  ): void {
    const message = this.find(name, number);
    const { whenFailed, maxAttempts } = this.settings;
    if (!how.isAttempt) message.attempts -= 1;
    const isDead =
      how.isAttempt && (message.attempts >= maxAttempts || (how.isFailure && whenFailed === "dead-letter"));
    if (isDead) {
      message.state = "dead";
      return;
    }
    const lane = this.lane(name);
    message.state = "waiting";
    if (how.delayMs === 0) return;
    if (whenFailed === "skip") {
      message.state = "later";
      message.dueMs = nowMs + how.delayMs;
    } else {
      lane.tillMs = Math.max(lane.tillMs, nowMs + how.delayMs);
    }
  }

  cancel(name: string, number: number): boolean {
    const lane = this.lane(name);
    const message = this.find(name, number);
    if (message.state !== "waiting" && message.state !== "later") return message.state === "cancelled";
    const wasReturned = message.wasOut;
    message.state = "cancelled";
    const returned = lane.messages.some(({ state, wasOut }) => state === "waiting" && wasOut);
    if (wasReturned && !returned) lane.tillMs = 0;
    return true;
  }

  drain(name: string): number {
    const waiting = this.lane(name).messages.filter(({ state }) => state === "waiting" || state === "later");
    for (const message of waiting) message.state = "over";
    this.lane(name).tillMs = 0;
    return waiting.length;
  }

  /** All dead letters wait again. Whoever is behind them has more ahead. */
  redrive(): number {
    const all = [...this.lanes.values()].flatMap(({ messages }) => messages);
    for (const message of all) message.ahead = Number.POSITIVE_INFINITY;
    const dead = all.filter(({ state }) => state === "dead");
    for (const message of dead) {
      message.state = "waiting";
      message.attempts = 0;
    }
    return dead.length;
  }

  place(name: string, number: number): { state: string; position: number; ahead: number } {
    const message = this.find(name, number);
    if (message.state === "out") return { state: "running", position: 0, ahead: 0 };
    if (message.state === "over" || message.state === "dead") return { state: "over", position: 0, ahead: 0 };
    if (message.state === "cancelled") return { state: "cancelled", position: 0, ahead: 0 };
    const before = this.lane(name).messages.filter((other) => other.number < number);
    const waiting = before.filter(({ state }) => state === "waiting").length;
    const ahead = before.filter(({ state }) => ["waiting", "later", "out"].includes(state)).length;
    return { state: "waiting", position: waiting + 1, ahead };
  }

  out(lane: ModelLane): ModelMessage[] {
    return lane.messages.filter(({ state }) => state === "out");
  }

  count(state: MessageState): number {
    return [...this.lanes.values()].flatMap(({ messages }) => messages).filter((one) => one.state === state)
      .length;
  }
}
