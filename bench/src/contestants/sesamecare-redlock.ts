import { type Lock, Redlock } from "@sesamecare-oss/redlock";
import { connectAll, disconnectAll } from "./client.js";
import { type Contestant, TTL_MS } from "./contestant.js";
import { holdByUsing } from "./using.js";

export async function open(...ports: readonly number[]): Promise<Contestant<Lock>> {
  const clients = await connectAll(ports);
  const redlock = new Redlock(clients);
  redlock.on("error", () => {});
  return {
    acquire: (name) => redlock.acquire([name], TTL_MS),
    release: (lock) => lock.release(),
    hold: (names, ttlMs) => holdByUsing(names, (name, work) => redlock.using([name], ttlMs, work)),
    close: async () => disconnectAll(clients),
  };
}
