/** One web server's part in one sale: sells, and keeps the tally. */
import { isStaleRefusal } from "../store/refusal.js";
import type { Sale, Store } from "../store/store.js";
import type { StockSample, Tally } from "./messages.js";

export class Counter {
  readonly #store: Store;
  #sold = 0;
  #staleRefusals = 0;
  readonly #failures = new Set<string>();
  readonly #samples: StockSample[] = [];

  constructor(store: Store) {
    this.#store = store;
  }

  /** @throws what the store throws; the buyer gets an error, and the tally keeps it. */
  async sell(): Promise<Sale> {
    try {
      const sale = await this.#store.sell();
      if (sale.sold) this.#sold += 1;
      this.#note(sale);
      return sale;
    } catch (error) {
      if (isStaleRefusal(error)) this.#staleRefusals += 1;
      else this.#failures.add(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
      throw error;
    }
  }

  async close(): Promise<Tally> {
    await this.#store.close();
    return {
      pid: process.pid,
      sold: this.#sold,
      staleRefusals: this.#staleRefusals,
      failures: [...this.#failures],
      samples: this.#samples,
    };
  }

  #note({ left, atMs }: Sale): void {
    // Sold out stays sold out: the buyers turned away after the first add nothing to the picture.
    if (left > 0 || this.#samples.at(-1)?.left !== 0) this.#samples.push({ atMs, left });
  }
}
