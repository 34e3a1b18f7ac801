/**
 * Load: a kind of work, done by a number of processes and counted at the server. The same program runs in real processes
 * over a real server, and in virtual processes over the engine, so that the two can be compared.
 */
import type { Holdfast } from "holdfast";

/** One of the processes of a load. */
export interface Member {
  /** From 0. Helpers come after the processes that are counted. */
  readonly place: number;
  /** Number of processes that are counted. */
  readonly processes: number;
  readonly hf: Holdfast;
  /** One more Holdfast over the client of this process. */
  another(): Holdfast;
  /** A command of the load itself. */
  send(...words: string[]): Promise<unknown>;
  /** Scripts that the process has called so far. */
  scripts(): number;
  /** The monotonic clock of the process. */
  nowMs(): number;
  sleep(ms: number): Promise<void>;
}

/** How large a load is, in all its processes together. */
export interface Scale {
  /** Names that are held, or waited for. */
  readonly names: number;
  /** For how long processes are watched that only keep what they have. */
  readonly watchMs: number;
  readonly callsPerSecond: number;
  readonly callsMs: number;
  readonly messages: number;
  readonly turnsMs: number;
}

export interface Phase {
  readonly name: string;
  /** False: what happens in it is not recorded. */
  readonly counted: boolean;
}

/** Does its part of a phase. Resolves to the number of units of work that it has done. */
export type Step = () => Promise<number>;

export interface Load {
  readonly id: string;
  /** Further processes, which are not counted. */
  readonly helpers: number;
  /** All processes are through with a phase before the next one begins. */
  readonly phases: readonly Phase[];
  /** The steps of a process by their phases. A process has no part in a phase that is missing. */
  join(member: Member, scale: Scale): Readonly<Record<string, Step>>;
  /** Why its rows show nothing; null: they do. Absent: they always do. */
  flaw?(rows: readonly Row[]): string | null;
}

/** What one phase of a load cost. */
export interface Row {
  readonly load: string;
  readonly phase: string;
  readonly way: "real" | "virtual";
  readonly processes: number;
  /** Units of work: names held, calls refused, messages, turns. */
  readonly done: number;
  readonly seconds: number;
  /** Commands that the clients sent; those of helpers are left out. */
  readonly requests: number;
  /** Commands that the server ran, those inside scripts included. */
  readonly commands: number;
  /** The rest is known of real servers only. */
  readonly clientCpuMs: number | null;
  readonly serverCpuMs: number | null;
  /** Time that the server spent in scripts. */
  readonly scriptMs: number | null;
  /** By how much the memory of the server grew, without the buffers of its clients. */
  readonly dataBytes: number | null;
  /** By how much all memory of the server grew. */
  readonly allBytes: number | null;
}

export function counted(name: string): Phase {
  return { name, counted: true };
}

export function uncounted(name: string): Phase {
  return { name, counted: false };
}

/** The part of a total that falls to one process. */
export function shareOf(total: number, { place, processes }: Pick<Member, "place" | "processes">): number {
  return Math.floor(((place + 1) * total) / processes) - Math.floor((place * total) / processes);
}

/** More at once than a program would ask for only measures how long the last one queues. */
const atOnce = 100;

/** Does something for each number below `total`, a hundred at a time. */
export async function inGroups<Value>(total: number, run: (n: number) => Promise<Value>): Promise<Value[]> {
  const values: Value[] = [];
  for (let from = 0; from < total; from += atOnce) {
    const size = Math.min(atOnce, total - from);
    values.push(...(await Promise.all(Array.from({ length: size }, (_, n) => run(from + n)))));
  }
  return values;
}

/** Holds a lock of its own until the second connection is open and the scripts of locks are loaded. */
export async function warmLocks({ hf, place, sleep }: Member): Promise<number> {
  const lease = await hf.mutex(`warm:${place}`).acquire();
  await sleep(warmMs);
  await lease.release();
  return 0;
}

/** A lease that is held for about a second opens the second connection. */
const warmMs = 2_000;
