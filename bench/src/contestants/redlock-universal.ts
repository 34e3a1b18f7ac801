import { createLock, createRedlock, IoredisAdapter, type Lock, type LockHandle } from "redlock-universal";
import { connect, connectAll, disconnectAll } from "./client.js";
import type { Contestant } from "./contestant.js";
import { holdByUsing } from "./using.js";

interface Held {
  readonly lock: Lock;
  readonly handle: LockHandle;
}

export async function open(port: number): Promise<Contestant<Held>> {
  const client = await connect(port);
  const adapter = new IoredisAdapter(client);
  return {
    async acquire(key) {
      const lock = createLock({ adapter, key });
      return { lock, handle: await lock.acquire() };
    },
    release: ({ lock, handle }) => lock.release(handle),
    hold: (names, ttl) => holdByUsing(names, (key, work) => createLock({ adapter, key, ttl }).using(work)),
    close: async () => client.disconnect(),
  };
}

/** Over several servers. */
export async function openOver(ports: readonly number[]): Promise<Contestant<Held>> {
  const clients = await connectAll(ports);
  const adapters = clients.map((client) => new IoredisAdapter(client));
  return {
    async acquire(key) {
      const lock = createRedlock({ adapters, key });
      return { lock, handle: await lock.acquire() };
    },
    release: ({ lock, handle }) => lock.release(handle),
    close: async () => disconnectAll(clients),
  };
}
