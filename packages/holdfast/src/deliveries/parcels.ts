/** Parcels: the scripts about the deliveries of a process, in steps of a bounded size. */
import { replyRow } from "../redis/reply.js";
import type { DeliveryCalls } from "./delivery-calls.js";
import { lateOf } from "./delivery-replies.js";
import type { Given, ParcelScripts } from "./delivery-scripts.js";
import { script as extendScript } from "./lua/extend.lua.js";
import { script as fetchScript } from "./lua/fetch.lua.js";
import { script as leaveScript } from "./lua/leave.lua.js";

/** Handles in one request. */
const MOST = 200;

export class Parcels implements ParcelScripts {
  readonly #calls: DeliveryCalls;
  readonly #extendKeys: readonly string[];

  constructor(calls: DeliveryCalls) {
    this.#calls = calls;
    this.#extendKeys = calls.keys(["about", "away"]);
  }

  async extend(handles: readonly string[], leaseMs: number): Promise<readonly string[]> {
    const args = [String(Math.ceil(leaseMs)), ...handles];
    const [late] = replyRow(await this.#calls.run(extendScript, this.#extendKeys, args));
    return lateOf(
      late,
      handles.map((handle) => ({ handle })),
    );
  }

  async leave(isKnown: (handle: string) => boolean = () => false): Promise<readonly Given[]> {
    const keys = this.#calls.keys(["about", "away", "idle"]);
    const found = new Set<string>();
    let cursor = "0";
    do {
      const reply = replyRow(await this.#calls.run(leaveScript, keys, [this.#calls.process, cursor]), 1);
      const [next, ...handles] = reply.map(String);
      cursor = next ?? "0";
      for (const handle of handles) if (!isKnown(handle)) found.add(handle);
    } while (cursor !== "0");
    return this.fetch([...found]);
  }

  /** Each request brings one at least. */
  async fetch(handles: readonly string[]): Promise<readonly Given[]> {
    const keys = this.#calls.keys(["off"]);
    const given: Given[] = [];
    for (let place = 0; place < handles.length; ) {
      const some = handles.slice(place, place + MOST);
      const bodies = replyRow(await this.#calls.run(fetchScript, keys, some), 1);
      for (const [at, body] of bodies.entries()) {
        const handle = some[at];
        if (handle !== undefined && body !== "") given.push({ handle, body: String(body) });
      }
      place += bodies.length;
    }
    return given;
  }
}
