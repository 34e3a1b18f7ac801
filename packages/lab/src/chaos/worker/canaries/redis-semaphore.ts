/** The mutex of redis-semaphore, which renews by itself, at its defaults. */
import type { Redis } from "ioredis";
import { Mutex } from "redis-semaphore";
import { monoMs } from "../../time.js";
import type { Canary } from "./canary.js";

export function redisSemaphore(client: Redis): Canary {
  return {
    async acquire(key, ttlMs) {
      let lostMs = Number.POSITIVE_INFINITY;
      const onLockLost = () => {
        lostMs = Math.min(lostMs, monoMs());
      };
      const mutex = new Mutex(client, key, { lockTimeout: ttlMs, onLockLost });
      await mutex.acquire();
      return { believedUntilMs: () => lostMs, release: () => mutex.release() };
    },
  };
}
