/** ManualClock: time that moves only when a case moves it, so that no case has to wait for a deadline. */
import type { Clock, Instant } from "holdfast";
import { afterRealMs } from "./time.js";

interface Timer {
  readonly dueMs: number;
  readonly order: number;
  readonly callback: () => void;
}

export class ManualClock implements Clock {
  readonly #timers = new Set<Timer>();
  #monoMs = 1_000;
  #wallMs = Date.UTC(2024, 0, 1);
  #order = 0;

  now(): Instant {
    return { monoMs: this.#monoMs, wallMs: this.#wallMs };
  }

  /** A timer without delay fires by itself, soon: it asks for a turn and not for time to pass. */
  setTimer(callback: () => void, delayMs: number): () => void {
    const timer: Timer = { dueMs: this.#monoMs + Math.max(delayMs, 0), order: this.#order++, callback };
    this.#timers.add(timer);
    const cancelSoon = delayMs > 0 ? null : afterRealMs(0, () => this.#fire(timer));
    return () => {
      this.#timers.delete(timer);
      cancelSoon?.();
    };
  }

  /** Timers set and neither fired nor cancelled. */
  get pendingTimers(): number {
    return this.#timers.size;
  }

  /** Moves both clocks on, and fires what falls due in its order, each at its own time. */
  advance(byMs: number): void {
    const endMs = this.#monoMs + byMs;
    for (let timer = this.#firstUntil(endMs); timer; timer = this.#firstUntil(endMs)) {
      this.#move(Math.max(timer.dueMs - this.#monoMs, 0));
      this.#fire(timer);
    }
    this.#move(endMs - this.#monoMs);
  }

  /** Moves both clocks and fires nothing, as when the event loop is blocked; `advance(0)` fires what is late. */
  stall(byMs: number): void {
    this.#move(byMs);
  }

  /** Moves the wall clock alone: set by an administrator, or run on while the machine was suspended. */
  stepWall(byMs: number): void {
    this.#wallMs += byMs;
  }

  #fire(timer: Timer): void {
    if (this.#timers.delete(timer)) timer.callback();
  }

  #move(byMs: number): void {
    this.#monoMs += byMs;
    this.#wallMs += byMs;
  }

  #firstUntil(endMs: number): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.dueMs > endMs) continue;
      if (!first || timer.dueMs < first.dueMs || (timer.dueMs === first.dueMs && timer.order < first.order)) {
        first = timer;
      }
    }
    return first;
  }
}
