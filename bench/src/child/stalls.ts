/**
 * How long the event loop stands still: a timer of a millisecond looks how late it is.
 *
 * On a shared machine the loop also stands still when another program has the core. The CPU time that this process used
 * within a stall tells the two apart: a stall of its own making is full of it.
 */
export interface WorstStalls {
  /** Wall time, of any cause. */
  readonly worstStallMs: number;
  /** The largest of: wall time of a stall, or the CPU time used in it if that is less. */
  readonly worstOwnStallMs: number;
}

const EVERY_MS = 1;

export class Stalls {
  readonly #timer: NodeJS.Timeout;
  #lookedAt = performance.now();
  #cpu = process.cpuUsage();
  #worstStallMs = 0;
  #worstOwnStallMs = 0;

  constructor() {
    this.#timer = setInterval(() => this.#look(), EVERY_MS);
  }

  end(): WorstStalls {
    this.#look();
    clearInterval(this.#timer);
    return { worstStallMs: this.#worstStallMs, worstOwnStallMs: this.#worstOwnStallMs };
  }

  #look(): void {
    const now = performance.now();
    const cpu = process.cpuUsage();
    const stallMs = Math.max(0, now - this.#lookedAt - EVERY_MS);
    const usedMs = (cpu.user + cpu.system - this.#cpu.user - this.#cpu.system) / 1_000;
    this.#worstStallMs = Math.max(this.#worstStallMs, stallMs);
    this.#worstOwnStallMs = Math.max(this.#worstOwnStallMs, Math.min(stallMs, usedMs));
    this.#lookedAt = now;
    this.#cpu = cpu;
  }
}
