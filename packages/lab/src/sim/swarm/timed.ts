/** Timed: a call settles in its time on the clock of its caller, neither late nor early. */
import type { Process } from "../process.js";
import { planned, type Scene } from "./scene.js";

/** Slower than this on its own clock, besides the time in which the process stood still, a call breaks P3. */
const slackMs = 60;
/** Clocks are compared to the millisecond, and timers are. */
const earlyMs = 2;

/** A call under way. */
export class Timed {
  readonly #scene: Scene;
  readonly #process: Process;
  readonly #what: string;
  readonly #timeoutMs: number;
  readonly #since: {
    readonly monoMs: number;
    readonly heldUpMs: number;
    readonly heldUpMonoMs: number;
    readonly atMs: number;
    readonly heard: number;
  };
  /** When its caller gave it up. */
  #abortedMs: number | null = null;

  /** @param timeoutMs how long the call may take on the caller's clock */
  constructor(scene: Scene, process: Process, what: string, timeoutMs: number) {
    this.#scene = scene;
    this.#process = process;
    this.#what = what;
    this.#timeoutMs = timeoutMs;
    const { monoMs, heldUpMs, heldUpMonoMs, nowMs: atMs } = process;
    this.#since = { monoMs, heldUpMs, heldUpMonoMs, atMs, heard: this.#heard };
  }

  /** What has reached its process so far. */
  get #heard(): number {
    return this.#scene.linksOf(this.#process).reduce((total, { heard }) => total + heard, 0);
  }

  aborted(): void {
    this.#abortedMs = this.#tookMs();
  }

  /** P3: a call settles in its time, whatever the server does. Call it when it has. */
  settled(): void {
    const tookMs = this.#tookMs();
    const timeoutMs = Math.min(this.#timeoutMs, this.#abortedMs ?? Number.POSITIVE_INFINITY);
    if (tookMs > timeoutMs + slackMs) this.#fail(`took ${tookMs.toFixed(1)} ms, of ${timeoutMs} at most`);
  }

  /** P3: a call does not say that its time is over before it is. Call it when it says so. */
  timedOut(waitMs = this.#timeoutMs): void {
    const wasDisturbed =
      this.#process.heldUpMs > this.#since.heldUpMs || this.#process.steppedMs >= this.#since.atMs;
    const tookMs = this.#tookMs();
    if (!wasDisturbed && tookMs < waitMs - earlyMs)
      this.#fail(`gave up after ${tookMs.toFixed(1)} ms, of ${waitMs}`);
    // The answer may be about another caller of its own process.
    const isAlone = this.#scene.lives.get(planned(this.#process.name))?.plan.callers === 1;
    if (isAlone && this.#heard === this.#since.heard)
      this.#fail("gave up as if it had waited, and has heard nothing of the node");
  }

  /** Without the time in which the process stood still. */
  #tookMs(): number {
    const { heldUpMonoMs, monoMs } = this.#process;
    return monoMs - this.#since.monoMs - (heldUpMonoMs - this.#since.heldUpMonoMs);
  }

  #fail(message: string): void {
    this.#scene.fail("P3", `${this.#what} by ${this.#process.name} ${message}`);
  }
}
