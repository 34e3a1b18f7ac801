// A process that holds one lock of each compat module until it is killed. Runs the compiled library, as users do.
import { MasterLock } from "@holdfast/compat/master-lock";
import { Mutex } from "@holdfast/compat/redis-semaphore";
import { Redlock } from "@holdfast/compat/redlock";
import { Redis } from "ioredis";

const [url, key, ttlMs] = process.argv.slice(2);
const redis = new Redis(url);
const forever = () => new Promise(() => {});

MasterLock.configure((config) => {
  config.redis = redis;
  config.logger = { debug() {}, info() {}, warn() {} };
});
MasterLock.start();
const held = new Promise((resolve) => {
  void MasterLock.synchronize(key, { ttl: ttlMs / 1_000, extendInterval: 0 }, () => {
    resolve();
    return forever();
  });
});
await new Redlock([redis]).acquire([key], Number(ttlMs));
await new Mutex(redis, key, { lockTimeout: Number(ttlMs) }).acquire();
await held;
process.send("held");
