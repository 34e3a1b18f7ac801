/**
 * A stock kept as a record that is written with a fence. The record does not take a holder's word for it: it refuses the write of
 * a holder that a later one has followed. The only file that knows the library's records.
 */
import type { Holdfast, Lease, VersionedRecord } from "holdfast";
import type { Redis } from "ioredis";
import { epochMs } from "../clock.js";
import { KEY_LIFE_S, type Sale, type StoreOptions } from "./store.js";

export class FencedStock {
  readonly #redis: Redis;
  readonly #ledger: VersionedRecord<number>;
  readonly #whileHeld: StoreOptions["whileHeld"];

  constructor(holdfast: Holdfast, options: StoreOptions) {
    this.#redis = options.redis;
    this.#ledger = holdfast.record<number>(options.stockName);
    this.#whileHeld = options.whileHeld;
  }

  async left(): Promise<number> {
    return (await this.#ledger.get())?.value ?? 0;
  }

  async put(units: number, lease: Lease): Promise<void> {
    await this.#ledger.put(units, { fence: lease });
    // A record with a fence has no expiry of its own: it must outlive every holder. None of this sale lives that long.
    await this.#redis.expire(this.#ledger.key, KEY_LIFE_S);
  }

  /** Entering shuts out every earlier holder and reads in one step, so that what was read stays true until the write. */
  async sellOne(lease: Lease): Promise<Sale> {
    const left = (await this.#ledger.get({ fence: lease }))?.value ?? 0;
    await this.#whileHeld?.(left);
    if (left <= 0) return { sold: false, left: 0, atMs: epochMs() };
    await this.#ledger.put(left - 1, { fence: lease });
    return { sold: true, left: left - 1, atMs: epochMs() };
  }
}
