/** A stock kept as a plain number under one key, sold by read, check, write: correct for one buyer at a time. */
import type { Redis } from "ioredis";
import { epochMs } from "../clock.js";
import { KEY_LIFE_S, type Sale, type StoreOptions, stockKeyOf } from "./store.js";

export class PlainStock {
  readonly #redis: Redis;
  readonly #key: string;
  readonly #whileHeld: StoreOptions["whileHeld"];

  constructor(options: StoreOptions) {
    this.#redis = options.redis;
    this.#key = stockKeyOf(options);
    this.#whileHeld = options.whileHeld;
  }

  async left(): Promise<number> {
    return Number(await this.#redis.get(this.#key));
  }

  async put(units: number): Promise<void> {
    await this.#redis.set(this.#key, units, "EX", KEY_LIFE_S);
  }

  /** `checkLease` throws when the right to write has been lost since the read. */
  async sellOne(checkLease?: () => void): Promise<Sale> {
    const left = await this.left();
    await this.#whileHeld?.(left);
    if (left <= 0) return { sold: false, left: 0, atMs: epochMs() };
    checkLease?.();
    await this.put(left - 1);
    return { sold: true, left: left - 1, atMs: epochMs() };
  }
}
