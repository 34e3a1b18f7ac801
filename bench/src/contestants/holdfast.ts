import { Holdfast, type Lease } from "holdfast";
import { connect } from "./client.js";
import { type Contestant, takeAll } from "./contestant.js";

export async function open(port: number): Promise<Contestant<Lease>> {
  const client = await connect(port);
  const hf = new Holdfast(client);
  return {
    acquire: (name) => hf.mutex(name).acquire(),
    release: (lease) => lease.release(),
    async hold(names, ttlMs) {
      const leases = await takeAll(names, (name) => hf.mutex(name, { ttl: ttlMs }).acquire());
      return {
        lost: () => leases.filter((lease) => !lease.valid).length,
        release: async () => void (await Promise.all(leases.map((lease) => lease.release()))),
      };
    },
    async close() {
      await hf.close();
      client.disconnect();
    },
  };
}
