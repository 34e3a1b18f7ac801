/** The table on the terminal. */
import Table from "cli-table3";
import colors from "picocolors";
import { REFERENCE_RUN } from "../reference-run.js";
import type { VariantResult } from "../result.js";
import { variantOf } from "../variants.js";
import { count, milliseconds, perSecond } from "./figures.js";

const HEADS = ["", "sold", "oversold", "lost", "errors", "requests/s", "mean ms", "p50 ms", "p99 ms", "worst ms"];

export function tableOf(results: readonly VariantResult[]): string {
  const table = new Table({
    head: HEADS,
    colAligns: HEADS.map((_, column) => (column === 0 ? "left" : "right")),
    style: { head: colors.isColorSupported ? ["bold"] : [], border: colors.isColorSupported ? ["gray"] : [], compact: true },
  });
  for (const result of results) table.push(rowOf(result));
  const { requestsPerSecond, meanMs, worstMs } = REFERENCE_RUN;
  const reference = ["reference run *", "200", "0", "", "", perSecond(requestsPerSecond), milliseconds(meanMs), "", "", milliseconds(worstMs)];
  table.push(reference.map((cell) => colors.dim(cell)));
  return table.toString();
}

function rowOf(result: VariantResult): string[] {
  const { title } = variantOf(result.name);
  const { latencyMs } = result;
  return [
    result.killedPids.length > 0 ? `${title}, 1 killed` : title,
    count(result.sold),
    result.oversold > 0 ? colors.red(colors.bold(count(result.oversold))) : colors.green("0"),
    result.lost > 0 ? colors.yellow(count(result.lost)) : "0",
    result.errors > 0 ? colors.yellow(count(result.errors)) : "0",
    perSecond(result.requestsPerSecond),
    milliseconds(latencyMs.mean),
    milliseconds(latencyMs.p50),
    milliseconds(latencyMs.p99),
    milliseconds(latencyMs.max),
  ];
}
