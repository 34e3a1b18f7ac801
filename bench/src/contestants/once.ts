/** Work that is carried out once for a key, here work that takes no time: the first call for a key, and each later one. */
import { Holdfast } from "holdfast";
import type { Contestant } from "./contestant.js";
import { type OneCall, oneCall } from "./one-call.js";

const KEEP = { keep: "1h" } as const;
const RESULT = { sent: true };

export const openFirst = (port: number): Promise<Contestant> =>
  openWith(port, (hf) => {
    let keys = 0;
    return { call: (name) => hf.once(`${name}:${keys++}`, () => RESULT, KEEP) };
  });

/** All calls but the first find the result. */
export const openDone = (port: number): Promise<Contestant> =>
  openWith(port, (hf) => ({ call: (name) => hf.once(name, () => RESULT, KEEP) }));

/** By hand: the caller that sets the key does the work, and puts the result in its place. A process that dies in between blocks the key for an hour. */
export const openSetOnce = (port: number): Promise<Contestant> =>
  oneCall(port, (client) => {
    let keys = 0;
    return {
      async call(name) {
        const key = `${name}:${keys++}`;
        if ((await client.set(key, "", "PX", 3_600_000, "NX")) !== "OK") return;
        await client.set(key, JSON.stringify(RESULT), "PX", 3_600_000);
      },
    };
  });

function openWith(port: number, callsOn: (hf: Holdfast) => OneCall): Promise<Contestant> {
  return oneCall(port, (client) => {
    const hf = new Holdfast(client);
    return { ...callsOn(hf), close: () => hf.close() };
  });
}
