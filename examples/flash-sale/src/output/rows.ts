/** The rows of the table, the same on the terminal and in the report. */
import type { SaleOptions } from "../options.js";
import { hasReference, REFERENCE_RUN } from "../reference-run.js";
import type { VariantResult } from "../result.js";
import { type VariantName, variantOf } from "../variants.js";
import { count, milliseconds, perSecond } from "./figures.js";

export type Tone = "plain" | "good" | "warn" | "bad";

export interface Cell {
  readonly text: string;
  readonly tone: Tone;
}

export interface Row {
  /** Null: the reference run. */
  readonly name: VariantName | null;
  readonly title: string;
  readonly cells: readonly Cell[];
}

export function rowsOf(results: readonly VariantResult[], options: SaleOptions): Row[] {
  return [...results.map(rowOf), ...(hasReference(options) ? [referenceRow()] : [])];
}

function rowOf({ name, killedPids, latencyMs, ...result }: VariantResult): Row {
  const { title } = variantOf(name);
  return {
    name,
    title: killedPids.length > 0 ? `${title} †` : title,
    cells: [
      plain(count(result.sold)),
      { text: count(result.oversold), tone: result.oversold > 0 ? "bad" : "good" },
      { text: count(result.lost), tone: result.lost > 0 ? "warn" : "plain" },
      { text: count(result.errors), tone: result.errors > 0 ? "warn" : "plain" },
      plain(perSecond(result.requestsPerSecond)),
      ...[latencyMs.mean, latencyMs.p50, latencyMs.p99, latencyMs.max].map((ms) => plain(milliseconds(ms))),
    ],
  };
}

function referenceRow(): Row {
  const { sold, oversold, requestsPerSecond, meanMs, worstMs } = REFERENCE_RUN;
  const throughput = [count(sold), count(oversold), "", "", perSecond(requestsPerSecond)];
  const latency = [milliseconds(meanMs), "", "", milliseconds(worstMs)];
  return { name: null, title: "reference *", cells: [...throughput, ...latency].map(plain) };
}

function plain(text: string): Cell {
  return { text, tone: "plain" };
}
