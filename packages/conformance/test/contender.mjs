// A process that takes part in a case: does what its parent orders, one answer per order.
import { AcquireTimeoutError, Holdfast } from "holdfast";
import { Redis } from "ioredis";

let redis = null;
let holdfast = null;
let lease = null;

const verbs = {
  start({ url, prefix }) {
    redis = new Redis(url);
    holdfast = new Holdfast(redis, { prefix, label: "contender" });
    return redis.ping();
  },
  async leave() {
    await holdfast.close();
    await redis.quit();
    lease = null;
  },
  async acquire({ name, ttlMs, waitMs }) {
    try {
      lease = await holdfast.mutex(name, { ttl: ttlMs }).acquire({ wait: waitMs });
      return String(lease.fence);
    } catch (error) {
      if (error instanceof AcquireTimeoutError) return null;
      throw error;
    }
  },
  holds: () => lease.valid,
  release: () => lease.release(),
  async count({ name, ttlMs, waitMs, key, rounds }) {
    const mutex = holdfast.mutex(name, { ttl: ttlMs });
    for (let round = 0; round < rounds; round++) {
      await mutex.run(
        async (held) => {
          const seen = Number(await redis.get(key));
          held.check();
          await redis.set(key, seen + 1);
        },
        { wait: waitMs },
      );
    }
  },
  exit: () => process.exit(0),
};

process.on("message", async ({ order, verb, ...terms }) => {
  try {
    process.send({ order, value: (await verbs[verb](terms)) ?? null });
  } catch (error) {
    process.send({ order, error: String(error) });
  }
});
process.on("disconnect", () => process.exit(0));
