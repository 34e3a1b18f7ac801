/**
 * Calls back when it was not fed for so long: in time of the processor, because a machine that others keep busy is slow
 * without standing still.
 */
const lookMs = 500;
/** Where nothing is computed either, it waits for something that does not come. */
const idleTimes = 10;

export class Watchdog {
  readonly #limitMs: number;
  readonly #timer: NodeJS.Timeout;
  #fedMs = { cpu: 0, real: 0 };

  /** @param limitMs of the whole process, so a multiple of it where several threads compute */
  constructor(limitMs: number, onHunger: () => void) {
    this.#limitMs = limitMs;
    this.feed();
    this.#timer = setInterval(() => {
      const now = read();
      if (
        now.cpu - this.#fedMs.cpu >= this.#limitMs ||
        now.real - this.#fedMs.real >= idleTimes * this.#limitMs
      )
        onHunger();
    }, lookMs);
  }

  feed(): void {
    this.#fedMs = read();
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

function read(): { readonly cpu: number; readonly real: number } {
  const { user, system } = process.cpuUsage();
  return { cpu: (user + system) / 1_000, real: performance.now() };
}
