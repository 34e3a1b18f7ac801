/** Every nemesis there is. */
import { eviction, flushAll, powerLoss, serverAmnesia, serverClock } from "./memory.js";
import type { Nemesis } from "./nemesis.js";
import { cut, delay, hold, partition, refuse, strand, swallow } from "./network.js";
import {
  busyScript,
  clientKill,
  clientPause,
  outOfMemory,
  scriptFlush,
  serverPause,
  serverRestart,
} from "./servers.js";
import { workerClock, workerKill, workerPause } from "./workers.js";

export const roster: readonly Nemesis[] = [
  ...[workerPause, workerKill, workerClock],
  ...[cut, swallow, refuse, hold, delay, strand, partition],
  ...[serverPause, serverRestart, clientKill, clientPause, busyScript, outOfMemory, scriptFlush],
  ...[flushAll, serverAmnesia, powerLoss, eviction, serverClock],
];

/** Whether there are faults among these kinds, or among all where none is named, that a canary may not survive. */
export function mayBite(kinds: readonly string[]): boolean {
  return roster.some(
    ({ kind, bites }) => bites !== undefined && (kinds.length === 0 || kinds.includes(kind)),
  );
}

export function faultKinds(): string[] {
  return roster.map(({ kind }) => kind);
}
