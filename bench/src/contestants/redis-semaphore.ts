import { Mutex, RedlockMutex } from "redis-semaphore";
import { connect, connectAll, disconnectAll } from "./client.js";
import { type Contestant, takeAll } from "./contestant.js";

export async function open(port: number): Promise<Contestant<Mutex>> {
  const client = await connect(port);
  return {
    async acquire(name) {
      const mutex = new Mutex(client, name);
      await mutex.acquire();
      return mutex;
    },
    release: (mutex) => mutex.release(),
    async hold(names, lockTimeout) {
      let lost = 0;
      const onLockLost = () => {
        lost += 1;
      };
      const held = await takeAll(names, async (name) => {
        const mutex = new Mutex(client, name, { lockTimeout, onLockLost });
        await mutex.acquire();
        return mutex;
      });
      return {
        lost: () => lost,
        release: async () => void (await Promise.all(held.map((mutex) => mutex.release()))),
      };
    },
    close: async () => client.disconnect(),
  };
}

/** Over several servers. */
export async function openOver(ports: readonly number[]): Promise<Contestant<RedlockMutex>> {
  const clients = await connectAll(ports);
  return {
    async acquire(name) {
      const mutex = new RedlockMutex(clients, name);
      await mutex.acquire();
      return mutex;
    },
    release: (mutex) => mutex.release(),
    close: async () => disconnectAll(clients),
  };
}
