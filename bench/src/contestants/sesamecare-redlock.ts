import { type Lock, Redlock } from "@sesamecare-oss/redlock";
import { connect } from "./client.js";
import { type Contestant, TTL_MS } from "./contestant.js";
import { holdByUsing } from "./using.js";

export async function open(port: number): Promise<Contestant<Lock>> {
  const client = await connect(port);
  const redlock = new Redlock([client]);
  redlock.on("error", () => {});
  return {
    acquire: (name) => redlock.acquire([name], TTL_MS),
    release: (lock) => lock.release(),
    hold: (names, ttlMs) => holdByUsing(names, (name, work) => redlock.using([name], ttlMs, work)),
    close: async () => client.disconnect(),
  };
}
