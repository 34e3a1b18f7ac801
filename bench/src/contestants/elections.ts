/** A leadership as a lock: campaign and resign. */
import { Holdfast, type Leadership } from "holdfast";
import { connect } from "./client.js";
import type { Contestant } from "./contestant.js";
import { TERM_MS } from "./elections-by-hand.js";

export async function open(port: number): Promise<Contestant<Leadership>> {
  const client = await connect(port);
  const hf = new Holdfast(client);
  return {
    acquire: (name) => hf.election(name, { term: TERM_MS }).campaign(),
    release: (leadership) => leadership.resign(),
    async close() {
      await hf.close();
      client.disconnect();
    },
  };
}
