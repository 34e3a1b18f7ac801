/** SETNX, then EXPIRE, then DEL: the oldest recipe, and still the most copied. */
import type { Redis } from "ioredis";
import type { Canary } from "./canary.js";

export function setnxExpire(client: Redis): Canary {
  return {
    async acquire(key, ttlMs) {
      if ((await client.setnx(key, "1")) === 0) return null;
      await client.pexpire(key, ttlMs);
      return {
        believedUntilMs: () => Number.POSITIVE_INFINITY,
        release: async () => void (await client.del(key)),
      };
    },
  };
}
