/** Records: a counter that everybody raises, one value read or written, a hundred written at once. */
import { Holdfast, type VersionedRecord } from "holdfast";
import type { Contestant } from "./contestant.js";
import { type OneCall, oneCall } from "./one-call.js";
import { MANY, VALUE } from "./records-by-hand.js";

interface Counted {
  readonly count: number;
}

export const openUpdate = (port: number): Promise<Contestant> =>
  openWith(port, (hf) => ({
    call: (name) => hf.record<Counted>(name).update((old) => ({ count: (old?.count ?? 0) + 1 })),
    count: async (name) => (await hf.record<Counted>(name).get())?.value.count ?? 0,
  }));

export const openGet = (port: number): Promise<Contestant> =>
  openWith(port, (hf) => {
    const known = new Map<string, Promise<VersionedRecord>>();
    const written = async (name: string) => {
      const record = hf.record(name);
      await record.put(VALUE);
      return record;
    };
    return {
      async call(name) {
        const record = known.get(name) ?? written(name);
        known.set(name, record);
        return (await record).get();
      },
    };
  });

export const openPut = (port: number): Promise<Contestant> =>
  openWith(port, (hf) => ({ call: (name) => hf.record(name).put(VALUE) }));

export const openPutMany = (port: number): Promise<Contestant> =>
  openWith(port, (hf) => ({
    call: (name) =>
      hf.records.putMany(
        Array.from({ length: MANY }, (_, index) => ({ name: `${name}:${index}`, value: VALUE })),
      ),
  }));

function openWith(port: number, callsOn: (hf: Holdfast) => OneCall): Promise<Contestant> {
  return oneCall(port, (client) => {
    const hf = new Holdfast(client);
    return { ...callsOn(hf), close: () => hf.close() };
  });
}
