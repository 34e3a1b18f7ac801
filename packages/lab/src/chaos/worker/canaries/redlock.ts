/** redlock 5 over one server, at its defaults. */
import type { Redis } from "ioredis";
import Redlock from "redlock5";
import { monoMs, wallMs } from "../../time.js";
import type { Canary } from "./canary.js";

export function redlock(client: Redis): Canary {
  const locks = new Redlock([client]);
  locks.on("error", () => {});
  return {
    async acquire(key, ttlMs) {
      const lock = await locks.acquire([key], ttlMs);
      return {
        // It knows its end by the wall clock alone.
        believedUntilMs: () => monoMs() + (lock.expiration - wallMs()),
        release: async () => void (await lock.release()),
      };
    },
  };
}
