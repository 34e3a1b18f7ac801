/** Parcels: the deliveries of a process, whichever noun they are of: their leases, those that nothing has brought yet, and their bodies. */
import { replyRow } from "../redis/reply.js";
import type { DeliveryCalls } from "./delivery-calls.js";
import { lateOf } from "./delivery-replies.js";
import type { Given } from "./delivery-scripts.js";
import { script as extendScript } from "./lua/extend.lua.js";
import { script as fetchScript } from "./lua/fetch.lua.js";
import { script as leaveScript } from "./lua/leave.lua.js";

/** Handles in one request. */
const MOST = 200;

/** Keeps deliveries until `leaseMs` from now. Returns the handles of those that are over. */
export async function extend(
  calls: DeliveryCalls,
  handles: readonly string[],
  leaseMs: number,
): Promise<readonly string[]> {
  const args = [String(Math.ceil(leaseMs)), ...handles];
  const [late] = replyRow(await calls.run(extendScript, calls.keys(["about", "away"]), args));
  return lateOf(
    late,
    handles.map((handle) => ({ handle })),
  );
}

/** Gives up the free places of this process. Returns its deliveries, but for those that are known. */
export async function leave(
  calls: DeliveryCalls,
  isKnown: (handle: string) => boolean = () => false,
): Promise<readonly Given[]> {
  const keys = calls.keys(["about", "away", "idle"]);
  const found = new Set<string>();
  let cursor = "0";
  do {
    const reply = replyRow(await calls.run(leaveScript, keys, [calls.process, cursor]), 1);
    const [next, ...handles] = reply.map(String);
    cursor = next ?? "0";
    for (const handle of handles) if (!isKnown(handle)) found.add(handle);
  } while (cursor !== "0");
  return fetch(calls, [...found]);
}

/** The bodies of deliveries, but for those that are over. Each request brings one at least. */
export async function fetch(calls: DeliveryCalls, handles: readonly string[]): Promise<readonly Given[]> {
  const keys = calls.keys(["off"]);
  const given: Given[] = [];
  for (let place = 0; place < handles.length; ) {
    const some = handles.slice(place, place + MOST);
    const bodies = replyRow(await calls.run(fetchScript, keys, some), 1);
    for (const [at, body] of bodies.entries()) {
      const handle = some[at];
      if (handle !== undefined && body !== "") given.push({ handle, body: String(body) });
    }
    place += bodies.length;
  }
  return given;
}
