/** The store in memory, through every case of the suite whose needs it can meet: the road that any other store takes. */
import { type LabStore, type LockPeek, mutexCases, runCase, StoreLab, whyNot } from "@holdfast/conformance";
import { type Clock, systemClock } from "holdfast/locks";
import { describe, it } from "vitest";
import { MemoryLocks, MemoryStore } from "./memory-locks.js";

class MemoryLab implements LabStore {
  readonly title = "memory";
  readonly #store = new MemoryStore(systemClock);
  readonly peek: LockPeek = {
    leftMs: async (name) => this.#store.leftMs(name) || null,
    waiting: async (name) => this.#store.lines.get(name)?.size ?? 0,
    residue: async (name) => (this.#store.leftMs(name) > 0 ? ["holder"] : []),
    everlasting: async () => [],
  };

  open(clock: Clock): MemoryLocks {
    return new MemoryLocks(this.#store, clock);
  }

  async settled(): Promise<void> {
    await new Promise(setImmediate);
  }
}

describe("memory", () => {
  for (const lockCase of mutexCases) {
    it(lockCase.name, async ({ skip }) => {
      const lab = new StoreLab(new MemoryLab());
      const reason = whyNot(lockCase, lab.lacks);
      if (reason !== null) {
        await lab.close();
        skip(reason);
      }
      await runCase(lockCase, lab);
    });
  }
});
