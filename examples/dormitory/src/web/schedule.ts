/** The batches, kept in the memory of this process, so that the countdown asks nobody. */
import type { Batch } from "../domain/batch.js";

const EVERY_MS = 1_000;

export class Schedule {
  readonly #list: () => Promise<readonly Batch[]>;
  #byId: ReadonlyMap<string, Batch> = new Map();
  #timer: NodeJS.Timeout | null = null;
  #isStopped = false;

  constructor(list: () => Promise<readonly Batch[]>) {
    this.#list = list;
  }

  /** The batch as of a second ago, or older while the store does not answer. */
  get(id: string | null): Batch | null {
    return id === null ? null : (this.#byId.get(id) ?? null);
  }

  /** Reads the batches now. */
  async refresh(): Promise<void> {
    const batches = await this.#list();
    this.#byId = new Map(batches.map((batch) => [batch.id, batch]));
  }

  /** Reads the batches, and goes on doing so until `stop`. */
  async start(): Promise<void> {
    await this.refresh();
    this.#next();
  }

  stop(): void {
    this.#isStopped = true;
    if (this.#timer) clearTimeout(this.#timer);
  }

  #next(): void {
    if (this.#isStopped) return;
    this.#timer = setTimeout(async () => {
      // An outage leaves the last known batches, and their times do not change by it.
      await this.refresh().catch(() => undefined);
      this.#next();
    }, EVERY_MS);
    this.#timer.unref();
  }
}
