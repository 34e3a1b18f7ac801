/** What is told of a row: by the second, or of one unit of work. */
import type { Row } from "./load.js";

/** Null where the way of the row does not know. */
export type Rate = (row: Row) => number | null;

type Count = "requests" | "commands" | "dataBytes";

export function perSecond(count: Count): Rate {
  return (row) => divided(row[count], row.seconds);
}

export function perUnit(count: Count): Rate {
  return (row) => divided(row[count], row.done);
}

/** In percent of a core. */
export const clientShare: Rate = (row) => divided(row.clientCpuMs, row.seconds * 10);
export const serverShare: Rate = (row) => divided(row.serverCpuMs, row.seconds * 10);
export const clientUsEach: Rate = (row) => divided(row.clientCpuMs, row.done / 1_000);

function divided(sum: number | null, by: number): number | null {
  return sum === null ? null : sum / by;
}
