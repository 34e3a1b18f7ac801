/**
 * WaitRecord: what a process says of a lease whose holder waits for another lock. Other processes find it by the id of the lease, which the
 * state of the lock names.
 */
import type { ProcessRecord } from "../../process-record.js";
import type { GraphWait } from "./graph.js";

/** A wait, as its process told of it last. */
export interface ToldWait extends GraphWait {
  /** Rises with every look of this wait. */
  readonly beat: number;
  /** The waits that its last look found in a circle with it, and the beats that it read of them: proof that this was written later. */
  readonly seen: Readonly<Record<string, number>>;
}

export interface WaitRecord {
  /** The token of the turn whose holder waits. */
  readonly fence: bigint;
  /** All waits of the code that holds. */
  readonly waits: readonly ToldWait[];
}

/** A lock for which the holder of another one waits. */
export type HolderWait = Pick<GraphWait, "noun" | "name" | "permits">;

type Told = Pick<ToldWait, "id" | "noun" | "name" | "permits" | "beat" | "seen">;

/** The record as Redis keeps it. */
export function formatWaits(process: ProcessRecord, { fence, waits }: WaitRecord): string {
  const { host, pid, label } = process;
  const told = waits.map(
    ({ id, noun, name, permits, beat, seen }): Told => ({ id, noun, name, permits, beat, seen }),
  );
  return JSON.stringify({ host, pid, label, fence: String(fence), waits: told });
}

/** Null: holdfast did not write this. */
export function parseWaits(text: string): WaitRecord | null {
  try {
    const { host, pid, label, fence, waits } = JSON.parse(text) as ProcessRecord & {
      readonly fence: string;
      readonly waits: readonly Told[];
    };
    const process = { host: String(host), pid: Number(pid), label: String(label) };
    const read = waits.map(({ id, noun, name, permits, beat, seen }): ToldWait => {
      if (noun !== "mutex" && noun !== "semaphore" && noun !== "rwlock")
        throw new TypeError("an unknown noun");
      return {
        id: String(id),
        noun,
        name: String(name),
        permits: Number(permits),
        beat: Number(beat),
        seen: { ...seen },
        process,
      };
    });
    return read.length > 0 ? { fence: BigInt(fence), waits: read } : null;
  } catch {
    return null;
  }
}

/** What a record says to people. */
export function waitsIn(text: string): readonly HolderWait[] {
  return (parseWaits(text)?.waits ?? []).map(({ noun, name, permits }) => ({ noun, name, permits }));
}
