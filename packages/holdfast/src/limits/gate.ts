/**
 * Gate: whether Redis can be asked just now. What is asked while it cannot would wait in the client's own queue, and
 * come in a flood when nobody wants to know any more. One PING at a time finds out when it is back.
 */
import { type HoldfastError, IndeterminateError } from "../errors.js";
import type { RedisPort } from "../redis/port.js";
import type { Instant } from "../time/clock.js";
import type { Schedule } from "../time/schedule.js";

const LOOK_EVERY_MS = 100;

export class Gate {
  readonly #port: RedisPort;
  readonly #schedule: Schedule;
  readonly #limitMs: number;
  #wasUp = false;
  #down: HoldfastError | null = null;
  #look: Promise<void> | null = null;
  #lookedAt: Instant | null = null;

  constructor(port: RedisPort, schedule: Schedule, limitMs: number) {
    this.#port = port;
    this.#schedule = schedule;
    this.#limitMs = limitMs;
  }

  /** null: it can, as far as is known. At the beginning, while the client connects, it takes until that is known. */
  check(limitMs: number): HoldfastError | Promise<HoldfastError | null> | null {
    const { trouble } = this.#port;
    if (!this.#down && trouble === null) return null;
    if (this.#down || this.#wasUp) {
      this.#down ??= new IndeterminateError(`Redis cannot be asked: ${trouble}`);
      this.#lookAgain();
      return this.#down;
    }
    return this.#first(limitMs);
  }

  answered(): void {
    this.#wasUp = true;
  }

  failed(error: HoldfastError): void {
    this.#down = error;
    this.#lookAgain();
  }

  async #first(limitMs: number): Promise<HoldfastError | null> {
    const isLate = new Promise<boolean>((resolve) => {
      const alarm = this.#schedule.after(limitMs, () => resolve(true));
      void this.#lookAgain()?.finally(() => {
        this.#schedule.cancel(alarm);
        resolve(false);
      });
    });
    if (await isLate)
      return new IndeterminateError(`Redis cannot be asked: ${this.#port.trouble ?? "no answer"}`);
    return this.#down;
  }

  #lookAgain(): Promise<void> | null {
    const { clock } = this.#schedule;
    const now = clock.now();
    if (this.#look || (this.#lookedAt && now.monoMs - this.#lookedAt.monoMs < LOOK_EVERY_MS))
      return this.#look;
    this.#lookedAt = now;
    this.#look = this.#port.command(["PING"], this.#limitMs).then(
      () => {
        this.#wasUp = true;
        this.#down = null;
        this.#look = null;
      },
      (error: HoldfastError) => {
        this.#look = null;
        this.#down ??= error;
      },
    );
    return this.#look;
  }
}
