/** Semaphores and read-write locks of the libraries: a number of permits, and readers beside one writer. */
import { Holdfast, type Lease } from "holdfast";
import { MultiSemaphore, Semaphore } from "redis-semaphore";
import { connect } from "./client.js";
import { type Contestant, PERMITS } from "./contestant.js";

/** More than all callers of the benchmark, so that each may read at the same time. */
const ALL_PERMITS = 64;

export const openSemaphore = (port: number): Promise<Contestant<Lease>> =>
  openHoldfast(port, (hf, name) => hf.semaphore(name, { permits: PERMITS }).acquire());

export const openRwLock = (port: number): Promise<Contestant<Lease>> =>
  openHoldfast(port, (hf, name, isWrite) => {
    const lock = hf.rwLock(name);
    return (isWrite ? lock.write() : lock.read()).acquire();
  });

async function openHoldfast(
  port: number,
  acquire: (hf: Holdfast, name: string, isWrite: boolean) => Promise<Lease>,
): Promise<Contestant<Lease>> {
  const client = await connect(port);
  const hf = new Holdfast(client);
  return {
    acquire: (name, _, isWrite) => acquire(hf, name, isWrite),
    release: (lease) => lease.release(),
    async close() {
      await hf.close();
      client.disconnect();
    },
  };
}

export async function openRedisSemaphore(port: number): Promise<Contestant<Semaphore>> {
  const client = await connect(port);
  return {
    async acquire(name) {
      const semaphore = new Semaphore(client, name, PERMITS);
      await semaphore.acquire();
      return semaphore;
    },
    release: (semaphore) => semaphore.release(),
    close: async () => client.disconnect(),
  };
}

/** redis-semaphore has no read-write lock: a reader takes one permit of its MultiSemaphore, and a writer takes all. */
export async function openMultiSemaphore(port: number): Promise<Contestant<MultiSemaphore>> {
  const client = await connect(port);
  return {
    async acquire(name, _, isWrite) {
      const semaphore = new MultiSemaphore(client, name, ALL_PERMITS, isWrite ? ALL_PERMITS : 1);
      await semaphore.acquire();
      return semaphore;
    },
    release: (semaphore) => semaphore.release(),
    close: async () => client.disconnect(),
  };
}
