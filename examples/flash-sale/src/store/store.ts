/** What a web server needs of a shop: one stock of one item, sold piece by piece. */
import type { Redis } from "ioredis";

export interface Sale {
  readonly sold: boolean;
  /** Pieces left, as this sale saw it. */
  readonly left: number;
  /** When it was so, in milliseconds since 1970: under a lock, before the lock is given back. */
  readonly atMs: number;
}

export interface Store {
  stockUp(units: number): Promise<void>;
  /** Sells one piece, or says that there is none. */
  sell(): Promise<Sale>;
  left(): Promise<number>;
  /** Gives back what it holds. The Redis clients stay their owner's. */
  close(): Promise<void>;
}

export interface StoreOptions {
  /** The server of the stock. */
  readonly redis: Redis;
  /** The servers of the locks, for a variant whose locks are on several; else none. */
  readonly lockClients: readonly Redis[];
  /** Starts every key of the store. */
  readonly prefix: string;
  /** Which stock: the warm-up has one of its own. */
  readonly stockName: string;
  /** Life of a lease that is not renewed, in ms. */
  readonly ttlMs: number;
  /** Called between the read and the write of a sale, while the lock is held. */
  readonly whileHeld?: (left: number) => Promise<void>;
}

/** Longest wait of a buyer for the lock, in ms. */
export const WAIT_MS = 20_000;

/** If the whole program is killed, nobody cleans up: then the keys leave by themselves. In seconds. */
export const KEY_LIFE_S = 3_600;

export function stockKeyOf(options: StoreOptions): string {
  return `${options.prefix}:stock:${options.stockName}`;
}
