import { Holdfast, type Lease, type MutexOptions } from "holdfast";
import { connect } from "./client.js";
import { type Contestant, takeAll } from "./contestant.js";

/** Longer than a caller takes to come back, and much shorter than a person notices. */
const LINGER: MutexOptions = { linger: "2ms" };

export function open(port: number): Promise<Contestant<Lease>> {
  return openWith(port);
}

export function openLingering(port: number): Promise<Contestant<Lease>> {
  return openWith(port, LINGER);
}

async function openWith(port: number, options?: MutexOptions): Promise<Contestant<Lease>> {
  const client = await connect(port);
  const hf = new Holdfast(client);
  return {
    acquire: (name) => hf.mutex(name, options).acquire(),
    release: (lease) => lease.release(),
    async hold(names, ttlMs) {
      const leases = await takeAll(names, (name) => hf.mutex(name, { ttl: ttlMs }).acquire());
      return {
        lost: () => leases.filter((lease) => !lease.valid).length,
        release: async () => void (await Promise.all(leases.map((lease) => lease.release()))),
      };
    },
    stand(names) {
      for (const name of names) void hf.mutex(name, options).acquire({ wait: "12h" });
    },
    async close() {
      await hf.close();
      client.disconnect();
    },
  };
}
