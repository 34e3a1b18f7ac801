import Redlock, { type Lock } from "redlock4";
import { connect } from "./client.js";
import { type Contestant, TTL_MS } from "./contestant.js";

/** It has no renewal. */
export async function open(port: number): Promise<Contestant<Lock>> {
  const client = await connect(port);
  const redlock = new Redlock([client]);
  redlock.on("clientError", () => {});
  return {
    acquire: (name) => redlock.lock(name, TTL_MS),
    release: (lock) => lock.unlock(),
    close: async () => client.disconnect(),
  };
}
