/** The floor: PUBLISH, and one connection that stays subscribed to each name from the first wait on. A word that comes between two waits is lost. */
import { connect } from "../contestants/client.js";
import { HEAR_MS, Missed, type Teller } from "./teller.js";

export async function open(port: number): Promise<Teller> {
  const client = await connect(port);
  const ears = await connect(port);
  const subscribed = new Map<string, Promise<unknown>>();
  const waiting = new Map<string, () => void>();
  ears.on("message", (name: string) => {
    waiting.get(name)?.();
    waiting.delete(name);
  });
  return {
    async hear(name) {
      if (!subscribed.has(name)) subscribed.set(name, ears.subscribe(name));
      await subscribed.get(name);
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((heard, missed) => {
        waiting.set(name, heard);
        timer = setTimeout(() => missed(new Missed(name)), HEAR_MS);
      });
      clearTimeout(timer);
    },
    tell: async (name) => (await client.publish(name, "")) > 0,
    async close() {
      client.disconnect();
      ears.disconnect();
    },
  };
}
