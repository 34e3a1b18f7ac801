/** Orders of administrators to the archive's leader, whichever process that is, and its reports. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Store } from "../check/read.js";
import type { ArchiveReport } from "../domain/upkeep.js";

export interface Order {
  readonly id: string;
  readonly batchId: string;
  readonly by: string;
}

const LOOK_MS = 100;
const REPORT_LIFE_S = 600;

/**
 * Until the report is in Redis the order stays: a leader that dies in between leaves it to the next one. Whoever gives up takes the order
 * back.
 */
export class Orders {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Waits for the leader. @throws the signal's reason */
  async place(batchId: string, by: string, signal: AbortSignal): Promise<ArchiveReport> {
    const order: Order = { id: randomUUID(), batchId, by };
    const { redis, keys } = this.#store;
    await redis.hset(keys.archiveOrders, order.id, JSON.stringify(order));
    try {
      for (;;) {
        const report = await redis.get(keys.archiveReport(order.id));
        if (report !== null) return JSON.parse(report) as ArchiveReport;
        await sleep(LOOK_MS, undefined, { signal });
      }
    } catch (error) {
      await redis.hdel(keys.archiveOrders, order.id).catch(() => 0);
      signal.throwIfAborted();
      throw error;
    }
  }

  async open(): Promise<Order[]> {
    const orders = await this.#store.redis.hvals(this.#store.keys.archiveOrders);
    return orders.map((order) => JSON.parse(order) as Order);
  }

  async close(order: Order, report: ArchiveReport): Promise<void> {
    const { redis } = this.#store;
    await redis.set(this.#store.keys.archiveReport(order.id), JSON.stringify(report), "EX", REPORT_LIFE_S);
    await redis.hdel(this.#store.keys.archiveOrders, order.id);
  }
}
