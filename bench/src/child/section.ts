/**
 * What is done under the lock: one counter, read and written back in two steps, with other callers let in between. Two
 * holders at a time lose an update.
 */
import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { connectUncounted } from "../contestants/client.js";
import { openHolders } from "./holders.js";
import type { HoldersSection, Section } from "./messages.js";
import type { OpenSection } from "./open-section.js";

export async function openSection(section: Section, port: number): Promise<OpenSection> {
  if (section.kind === "holders") return openHolders(section);
  const counter = await openCounter(section, port);
  if (counter === null) {
    return { work: null, overlaps: () => 0, lostUpdates: () => 0, close: async () => {} };
  }
  let inside = 0;
  let overlaps = 0;
  return {
    async work() {
      inside += 1;
      if (inside > 1) overlaps += 1;
      await counter.write((await counter.read()) + 1);
      inside -= 1;
    },
    overlaps: () => overlaps,
    lostUpdates: (cycles) => (section.kind === "memory" ? cycles - Number(counter.read()) : 0),
    close: () => counter.close(),
  };
}

interface Counter {
  read(): number | Promise<number>;
  write(value: number): unknown;
  close(): Promise<void>;
}

async function openCounter(section: Exclude<Section, HoldersSection>, port: number): Promise<Counter | null> {
  switch (section.kind) {
    case "none":
    case "own":
      return null;
    case "memory":
      return inMemory();
    case "file":
      return inFile(section.path);
    case "redis": {
      const client = await connectUncounted(port);
      return {
        read: async () => Number(await client.get(section.key)),
        write: (value) => client.set(section.key, value),
        close: async () => client.disconnect(),
      };
    }
  }
}

function inMemory(): Counter {
  let count = 0;
  return {
    read: () => count,
    write: (value) => {
      count = value;
    },
    close: async () => {},
  };
}

/** Eight bytes in the page cache, which all processes share: a few microseconds, so that the lock is what is measured. */
function inFile(path: string): Counter {
  const file = openSync(path, "r+");
  const bytes = new Float64Array(1);
  return {
    read: () => {
      readSync(file, bytes, 0, 8, 0);
      return bytes[0] as number;
    },
    write: (value) => {
      bytes[0] = value;
      writeSync(file, bytes, 0, 8, 0);
    },
    close: async () => closeSync(file),
  };
}
