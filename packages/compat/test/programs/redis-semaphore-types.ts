/** A program in TypeScript that builds the options of redis-semaphore one by one, and passes its classes on. */
import { Redis } from "ioredis";
import {
  defaultTimeoutOptions,
  type LockLostCallback,
  type LockOptions,
  LostLockError,
  MultiSemaphore,
  Mutex,
  Semaphore,
  TimeoutError,
  type TimeoutOptions,
} from "redis-semaphore";

const client = new Redis();
const lost: LockLostCallback = function (error) {
  if (error instanceof LostLockError) console.error(this.identifier, this.isAcquired, error);
};

export function optionsOf(identifier: string | null): LockOptions {
  const times: TimeoutOptions = { ...defaultTimeoutOptions };
  times.lockTimeout = 5_000;
  times.acquireTimeout = 1_000;
  times.acquireAttemptsLimit = 3;
  times.retryInterval = 20;
  times.refreshInterval = 0;
  const options: LockOptions = { ...times };
  options.onLockLost = lost;
  if (identifier === null) return options;
  options.identifier = identifier;
  options.acquiredExternally = true;
  return options;
}

export async function within(lock: Mutex, signal: AbortSignal): Promise<boolean> {
  try {
    await lock.acquire(signal);
    lock.stopRefresh();
    return await lock.tryAcquire(signal);
  } catch (error) {
    if (error instanceof TimeoutError) return false;
    throw error;
  } finally {
    await lock.release();
  }
}

const { signal } = new AbortController();
console.log(await within(new Mutex(client, "a", optionsOf(null)), signal));
console.log(await within(new Semaphore(client, "b", 3, optionsOf("id")), signal));
console.log(await within(new MultiSemaphore(client, "b", 3, 2), signal));
// @ts-expect-error a limit is a number
new Semaphore(client, "b", "3");
