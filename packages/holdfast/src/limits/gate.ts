/**
 * Gate: whether Redis can be asked just now. What is asked while it cannot would wait in the client's own queue, and
 * come in a flood when nobody wants to know any more. While the client says that it is not connected nothing is sent;
 * then one PING at a time finds out whether it answers.
 */
import { ClosedError, type HoldfastError, ServerError, UnavailableError } from "../errors.js";
import type { RedisPort } from "../redis/port.js";
import type { Schedule } from "../time/schedule.js";

const LOOK_EVERY_MS = 100;

interface Down {
  readonly why: string;
  readonly cause: unknown;
  /** So long it had to answer: whoever waits for longer finds out for himself. */
  readonly withinMs: number;
}

export class Gate {
  readonly #port: RedisPort;
  readonly #schedule: Schedule;
  readonly #timeoutMs: number;
  #wasUp = false;
  /** Why it cannot be asked; null: it can, as far as is known. */
  #down: Down | null = null;
  #look: Promise<void> | null = null;
  #nextLookMs = Number.NEGATIVE_INFINITY;

  /** @param timeoutMs of a PING */
  constructor(port: RedisPort, schedule: Schedule, timeoutMs: number) {
    this.#port = port;
    this.#schedule = schedule;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * null: it can be asked. At the beginning, while the client connects, it takes until that is known, at most `timeoutMs`;
   * and so for the one call that finds out whether Redis is back. Every caller has an error of its own.
   */
  check(timeoutMs: number): HoldfastError | Promise<HoldfastError | null> | null {
    const { trouble } = this.#port;
    const down = this.#down;
    if (trouble === null && (!down || timeoutMs > down.withinMs)) return null;
    if (!down && !this.#wasUp) return this.#found(timeoutMs);
    this.#down ??= { why: trouble ?? "no answer", cause: undefined, withinMs: Number.POSITIVE_INFINITY };
    if (trouble === null && this.#mayLook) return this.#found(timeoutMs);
    return this.#error();
  }

  /** An answer came. */
  answered(): void {
    this.#wasUp = true;
    this.#down = null;
  }

  /** No answer came, within so long. */
  failed(error: Error, withinMs: number): void {
    const longestMs = Math.max(withinMs, this.#down?.withinMs ?? 0);
    this.#down = { why: error.message, cause: error, withinMs: longestMs };
    if (this.#port.trouble === null) this.#lookAgain();
  }

  get #mayLook(): boolean {
    return !this.#look && this.#schedule.clock.now().monoMs >= this.#nextLookMs;
  }

  /** A client that connects when it is first used, or is about to be connected, may have one PING to do so. */
  async #found(timeoutMs: number): Promise<HoldfastError | null> {
    const looked = this.#lookAgain();
    await new Promise<void>((resolve) => {
      const alarm = this.#schedule.after(timeoutMs, resolve);
      void looked.finally(() => {
        this.#schedule.cancel(alarm);
        resolve();
      });
    });
    if (this.#wasUp && !this.#down) return null;
    return this.#error();
  }

  #error(): HoldfastError {
    const { why = "no answer", cause } = this.#down ?? {};
    if (cause instanceof ClosedError) return new ClosedError("a call to Redis came");
    return new UnavailableError(this.#port.trouble ?? why, { cause });
  }

  /** Resolves when it is known, or at once where nothing is looked at yet. */
  async #lookAgain(): Promise<void> {
    if (this.#mayLook) {
      this.#nextLookMs = this.#schedule.clock.now().monoMs + LOOK_EVERY_MS;
      this.#look = this.#ping().finally(() => {
        this.#look = null;
      });
    }
    await this.#look;
  }

  async #ping(): Promise<void> {
    try {
      await this.#port.command(["PING"], this.#timeoutMs);
      this.answered();
    } catch (error) {
      // Whoever refuses a PING answers.
      if (error instanceof ServerError) this.answered();
      else this.#down ??= { why: (error as Error).message, cause: error, withinMs: this.#timeoutMs };
    }
  }
}
