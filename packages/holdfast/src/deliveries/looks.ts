/** Looks: when a process looks for what no message tells: due messages, dead processes, lost gifts. */
import { jittered } from "../time/random.js";
import type { Alarm } from "../time/schedule.js";
import type { TakerContext } from "./taker.js";

/** Sooner than _gone.lua gives the process up. */
const LOOK_MS = 2_000;
const SHORTEST_LOOK_MS = 10;
/** How often while messages do not reach it. */
const POLL_MS = 500;

export class Looks {
  readonly #context: TakerContext;
  readonly #ring: () => void;
  #alarm: Alarm | null = null;

  /** @param look must begin or end them */
  constructor(context: TakerContext, look: () => void) {
    this.#context = context;
    this.#ring = () => {
      this.#alarm = null;
      look();
    };
  }

  /** The next one comes after the usual time, unless one is due before. */
  begin(): void {
    const { inbox, random } = this.#context;
    if (!this.#alarm) this.lookIn(jittered(random, inbox.up ? LOOK_MS : POLL_MS, 0.3));
  }

  lookIn(delayMs: number): void {
    const { schedule } = this.#context;
    schedule.cancel(this.#alarm);
    this.#alarm = schedule.after(delayMs, this.#ring);
  }

  /** Redis says when something is due. */
  due(dueInMs: number | null): void {
    if (dueInMs === null || !this.#alarm) return;
    const delayMs = Math.max(dueInMs, SHORTEST_LOOK_MS);
    if (this.#context.schedule.clock.now().monoMs + delayMs < this.#alarm.dueMs) this.lookIn(delayMs);
  }

  end(): void {
    this.#context.schedule.cancel(this.#alarm);
    this.#alarm = null;
  }
}
