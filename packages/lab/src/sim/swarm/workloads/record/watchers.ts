/** Watchers: what processes see of a record that they watch. */
import { ClosedError, type RecordChange, type VersionedRecord } from "holdfast";
import type { Process } from "../../../process.js";
import type { Caller, Scene } from "../../workload.js";

interface Watching {
  readonly name: string;
  readonly process: Process;
  /** True time at which it last began. */
  sinceMs: number;
  /** The version that it saw last; 0n: no value. */
  seen: bigint | null;
}

const againMs = 200;

export class Watchers {
  readonly #scene: Scene;
  readonly #all = new Set<Watching>();

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  /** Watches until the caller's Holdfast is closed. */
  async follow<Value>(caller: Caller, record: VersionedRecord<Value>): Promise<void> {
    const { name, process } = caller;
    const watching: Watching = { name, process, sinceMs: process.nowMs, seen: null };
    this.#all.add(watching);
    for (;;) {
      try {
        for await (const change of record.watch({ signal: caller.endOfStream() })) {
          this.#scene.mustBeOurs(change, `what ${name} watches`);
          watching.seen = versionOf(change);
        }
      } catch (error) {
        if (error instanceof ClosedError) break;
      }
      // A refusal that will not pass ends the stream.
      await process.sleep(againMs);
      watching.sinceMs = process.nowMs;
    }
    this.#all.delete(watching);
  }

  /** V5: for that time nobody has written, and no fault was left. */
  judge(key: string, forMs: number): void {
    const there = this.#scene.node.peek("HGET", key, "version");
    for (const { name, process, sinceMs, seen } of this.#all) {
      const hadTime = process.isAwake && process.nowMs - Math.max(sinceMs, process.wokenMs) >= forMs;
      if (hadTime && seen !== BigInt(String(there ?? 0)))
        this.#scene.fail("V5", `version ${there} has lasted for ${forMs} ms, and ${name} sees ${seen}`);
    }
  }
}

function versionOf(change: RecordChange<unknown> | null): bigint {
  return change?.version ?? 0n;
}
