import { Holdfast } from "holdfast";
import { connect } from "../contestants/client.js";
import { HEAR_MS, Missed, type Teller } from "./teller.js";

type Calls = Omit<Teller, "close">;

export const openSignal = (port: number): Promise<Teller> =>
  openWith(port, (hf) => ({
    hear: async (name) => (await hf.signal(name).wait({ wait: HEAR_MS })) ?? missed(name),
    tell: async (name) => (await hf.signal(name).emit()) > 0,
  }));

export const openOne = (port: number): Promise<Teller> =>
  openWith(port, (hf) => ({
    hear: async (name) => (await hf.signal(name).wait({ wait: HEAR_MS })) ?? missed(name),
    tell: (name) => hf.signal(name).emitOne(),
  }));

export const openEvent = (port: number): Promise<Teller> =>
  openWith(port, (hf) => {
    const versions = new Map<string, bigint>();
    return {
      async hear(name) {
        const event = hf.event(name);
        const after = versions.get(name) ?? (await event.get()).version;
        const { version } = (await event.wait({ after, wait: HEAR_MS })) ?? missed(name);
        versions.set(name, version);
      },
      async tell(name) {
        await hf.event(name).set();
        return true;
      },
    };
  });

function missed(name: string): never {
  throw new Missed(name);
}

async function openWith(port: number, callsOn: (hf: Holdfast) => Calls): Promise<Teller> {
  const client = await connect(port);
  const hf = new Holdfast(client);
  return {
    ...callsOn(hf),
    async close() {
      await hf.close();
      client.disconnect();
    },
  };
}
