/** What one unit of work costs a server, from the record. */
import type { Row } from "./load.js";
import { type CapacityRecord, rowOf } from "./record.js";

/** The numbers of processes between which the tables compare. */
export const few = 1;
export const many = 1_000;

export interface Cost {
  readonly title: string;
  /** Processor time of the server, in µs. */
  readonly serverUs: number;
  readonly scriptUs: number;
  /** What was reached in the run, and the share of a core that the server used then. */
  readonly perSecond: number;
  readonly share: number;
}

const titles: readonly (readonly [load: string, phase: string, title: string])[] = [
  ["get", "loop", "`GET`, for comparison"],
  ["empty-script", "loop", "a script that does nothing, for comparison"],
  ["cycle", "loop", "acquire and release of a free lock"],
  ["cycle-together", "loop", "the same, many callers of a process at a time"],
  ["crowd", "loop", "turn of a lock that others wait for: acquire, hand-over"],
  ["renew-together", "loop", "renewal, together with others of its process"],
  ["renew-alone", "loop", "renewal of the only lock of a process"],
  ["beat-together", "loop", "sign of life in line, together with 99 others"],
  ["beat-alone", "loop", "sign of life of the only caller in line of a process"],
  ["check", "loop", "check of a limit, admitted"],
  ["check-together", "loop", "the same, many callers of a process at a time"],
  ["refusal", "loop", "check of a limit, refused by the server"],
  ["queued", "push", "message pushed, one by one"],
  ["queued", "consume", "message consumed, one at a time"],
  ["queued-together", "push", "message pushed, 100 at once"],
  ["queued-together", "consume", "message consumed, 16 at a time"],
];

/** In the order of the table; what was not measured is left out. */
export function costsOf(record: CapacityRecord): ReadonlyMap<string, Cost> {
  const rows = [...record.server.rows, ...record.real.rows.filter(({ processes }) => processes === few)];
  return new Map(
    titles.flatMap(([load, phase, title]) => {
      const row = rows.find((each) => each.load === load && each.phase === phase);
      return row ? [[`${load} ${phase}`, costOf(title, row)] as const] : [];
    }),
  );
}

function costOf(title: string, row: Row): Cost {
  const { done, seconds, serverCpuMs, scriptMs } = row;
  return {
    title,
    serverUs: ((serverCpuMs ?? Number.NaN) * 1_000) / done,
    scriptUs: ((scriptMs ?? Number.NaN) * 1_000) / done,
    perSecond: done / seconds,
    share: (serverCpuMs ?? Number.NaN) / (seconds * 1_000),
  };
}

/** Bytes at the server. */
export interface Sizes {
  readonly held: number;
  readonly released: number;
  readonly waiting: number;
  readonly message: number;
  /** A connected process with its two connections. */
  readonly process: number;
}

export function sizesOf(record: CapacityRecord): Sizes {
  const row = (load: string, phase: string, processes = few) => rowOf(record, "real", load, phase, processes);
  const bytes = (part: Row | undefined) => part?.dataBytes ?? Number.NaN;
  const each = (load: string, ...phases: readonly string[]) =>
    phases.reduce((sum, phase) => sum + bytes(row(load, phase)), 0) / (row(load, phases[0] ?? "")?.done ?? 1);
  // What all processes share, as the scripts, is in the first of them: the others show what one occupies.
  const warm = record.real.rows
    .filter(({ load, phase }) => load === "held" && phase === "warm")
    .sort((a, b) => a.processes - b.processes);
  const [first, last] = [warm[0], warm.at(-1)];
  const process =
    first && last && last !== first
      ? ((last.allBytes ?? Number.NaN) - (first.allBytes ?? Number.NaN)) / (last.processes - first.processes)
      : Number.NaN;
  return {
    held: each("held", "take"),
    released: each("held", "take", "keep", "release"),
    waiting: each("waiting", "ask"),
    message: each("queued", "push"),
    process,
  };
}

/** How often one lock is renewed, or one caller in line gives a sign of life: seconds between two. */
export function intervalOf(record: CapacityRecord, load: "held" | "waiting"): number {
  const row = rowOf(record, "virtual", load, "keep", many);
  // With a sign of life goes a PING, over the other connection.
  const requestsEach = load === "held" ? 1 : 2;
  return row ? (row.done * row.seconds * requestsEach) / row.requests : Number.NaN;
}

/** µs of the server in a second for a consumer that has nothing to do, where most of them were measured. */
export function idleConsumerUs(record: CapacityRecord): number {
  const row = record.real.rows
    .filter(({ load, phase }) => load === "queued" && phase === "stand")
    .sort((a, b) => b.processes - a.processes)[0];
  return ((row?.serverCpuMs ?? Number.NaN) * 1_000) / (row?.seconds ?? 1) / (row?.processes ?? 1);
}
