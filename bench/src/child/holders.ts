/**
 * What is done under a lock that several may hold: each holder has a byte in a shared file, sets it, counts the bytes that are set, stays
 * for a while, and clears it. The last of too many at a time sees all of them, and nobody sees a holder that has left.
 */
import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { HoldersSection } from "./messages.js";
import type { OpenSection } from "./open-section.js";

const [AWAY, READER, WRITER] = [0, 1, 2].map((state) => Uint8Array.of(state)) as [
  Uint8Array,
  Uint8Array,
  Uint8Array,
];
const MOST_CALLERS = 256;

export function openHolders({ path, from, most, stayMs }: HoldersSection): OpenSection {
  const file = openSync(path, "r+");
  const bytes = new Uint8Array(MOST_CALLERS);
  let overlaps = 0;
  return {
    async work(caller, isWrite) {
      writeSync(file, isWrite ? WRITER : READER, 0, 1, from + caller);
      if (isBroken(bytes.subarray(0, readSync(file, bytes, 0, MOST_CALLERS, 0)), most, isWrite))
        overlaps += 1;
      // An empty section is no shorter than a turn of the event loop's own queue, as that of a caller who awaits something.
      await (stayMs > 0 ? sleep(stayMs) : null);
      writeSync(file, AWAY, 0, 1, from + caller);
    },
    overlaps: () => overlaps,
    lostUpdates: () => 0,
    close: async () => closeSync(file),
  };
}

function isBroken(states: Uint8Array, most: number | null, isWrite: boolean): boolean {
  let [readers, writers] = [0, 0];
  for (const state of states) {
    if (state === READER[0]) readers += 1;
    else if (state === WRITER[0]) writers += 1;
  }
  if (most !== null) return readers + writers > most;
  return isWrite ? readers + writers > 1 : writers > 0;
}
