/** SET NX PX with a value of one's own, compared before it is deleted, and a token by INCR: right but for the time. */
import type { Redis } from "ioredis";
import type { Canary } from "./canary.js";

const RELEASE = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) else return 0 end`;

export function fixedTtl(client: Redis, newValue: () => string): Canary {
  return {
    async acquire(key, ttlMs) {
      const value = newValue();
      if ((await client.set(key, value, "PX", ttlMs, "NX")) === null) return null;
      const token = BigInt(await client.incr(`${key}:token`));
      return {
        token,
        believedUntilMs: () => Number.POSITIVE_INFINITY,
        release: async () => void (await client.eval(RELEASE, 1, key, value)),
      };
    },
  };
}
