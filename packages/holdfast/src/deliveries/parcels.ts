/** Parcels: the deliveries of a process that no message and no reply has brought, and their bodies, in steps of a bounded size. */
import type { Reply } from "../redis/port.js";
import { replyRow } from "../redis/reply.js";
import type { Script } from "../redis/script.js";
import type { Given } from "./delivery-scripts.js";
import { script as fetchScript } from "./lua/fetch.lua.js";
import { script as leaveScript } from "./lua/leave.lua.js";

/** The keys of deliveries/lua/_deliveries.lua that these scripts use. */
export type ParcelKey = "about" | "off" | "away" | "idle";

export type ParcelCall = (
  script: Script,
  keys: readonly ParcelKey[],
  args: readonly string[],
) => Promise<Reply>;

/** Handles in one request. */
const MOST = 200;

/** Gives up the free places of a process. Returns its deliveries, but for those that are known. */
export async function leaveWith(
  call: ParcelCall,
  process: string,
  isKnown: (handle: string) => boolean,
): Promise<readonly Given[]> {
  const found = new Set<string>();
  let cursor = "0";
  do {
    const reply = replyRow(await call(leaveScript, ["about", "away", "idle"], [process, cursor]), 1);
    const [next, ...handles] = reply.map(String);
    cursor = next ?? "0";
    for (const handle of handles) if (!isKnown(handle)) found.add(handle);
  } while (cursor !== "0");
  return fetchWith(call, [...found]);
}

/** The bodies of deliveries, but for those that are over. Each request brings one at least. */
export async function fetchWith(call: ParcelCall, handles: readonly string[]): Promise<readonly Given[]> {
  const given: Given[] = [];
  for (let place = 0; place < handles.length; ) {
    const some = handles.slice(place, place + MOST);
    const bodies = replyRow(await call(fetchScript, ["off"], some), 1);
    for (const [at, body] of bodies.entries()) {
      const handle = some[at];
      if (handle !== undefined && body !== "") given.push({ handle, body: String(body) });
    }
    place += bodies.length;
  }
  return given;
}
