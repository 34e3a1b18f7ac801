import Redlock, { type Lock } from "redlock4";
import { connectAll, disconnectAll } from "./client.js";
import { type Contestant, TTL_MS } from "./contestant.js";

/** It has no renewal. */
export async function open(...ports: readonly number[]): Promise<Contestant<Lock>> {
  const clients = await connectAll(ports);
  const redlock = new Redlock(clients);
  redlock.on("clientError", () => {});
  return {
    acquire: (name) => redlock.lock(name, TTL_MS),
    release: (lock) => lock.unlock(),
    close: async () => disconnectAll(clients),
  };
}
