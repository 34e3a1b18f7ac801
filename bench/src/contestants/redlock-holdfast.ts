/** holdfast over several servers. */
import type { Lease } from "holdfast";
import { Redlock } from "holdfast/redlock";
import { connectAll, disconnectAll } from "./client.js";
import type { Contestant } from "./contestant.js";

export async function openOver(ports: readonly number[]): Promise<Contestant<Lease>> {
  const clients = await connectAll(ports);
  // The servers have only just been started, and no lock is older than they are: there is nothing to forget.
  const redlock = new Redlock(clients, { quarantine: 0 });
  return {
    acquire: (name) => redlock.mutex(name).acquire(),
    release: (lease) => lease.release(),
    async close() {
      await redlock.close();
      disconnectAll(clients);
    },
  };
}
