/** What was measured, as it is kept in bench/results/capacity.json. */
import type { Row, Scale } from "./load.js";

export type PartName = "virtual" | "real" | "server";

/** One run of a part; the parts can be run again separately. */
export interface Part {
  readonly at: string;
  readonly command: string;
  readonly machine: Machine;
  readonly scale: Scale;
  readonly rows: readonly Row[];
  /** Loads that have no figures, and why. */
  readonly failed: readonly string[];
}

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly node: string;
  /** Of the server; of the virtual part: of the engine. */
  readonly server: string;
  /** Average number of programs that wanted a core when the run began. */
  readonly loadBefore: number;
  readonly commit: string | null;
}

export interface CapacityRecord {
  readonly schema: 1;
  readonly virtual: Part;
  readonly real: Part;
  readonly server: Part;
}

export type Way = Row["way"];

export function rowOf(
  record: CapacityRecord,
  way: Way,
  load: string,
  phase: string,
  processes: number,
): Row | undefined {
  return record[way].rows.find(
    (row) => row.load === load && row.phase === phase && row.processes === processes,
  );
}

/** The numbers of processes that were measured, from few to many. */
export function processesOf({ rows }: Part): number[] {
  return [...new Set(rows.map(({ processes }) => processes))].sort((a, b) => a - b);
}

/** With three digits that count. */
export function short(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  const digits = size >= 100 || value === 0 ? 0 : size >= 10 ? 1 : size >= 0.1 ? 2 : 3;
  const shown = size >= 10_000 ? Number(value.toPrecision(3)) : value;
  return shown.toLocaleString("en-US", { minimumFractionDigits: 0, maximumFractionDigits: digits });
}
