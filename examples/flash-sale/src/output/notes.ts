/** What the table alone does not say, the same on the terminal and in the report. */
import type { SaleOptions } from "../options.js";
import { REFERENCE_RUN } from "../reference-run.js";
import type { VariantResult } from "../result.js";
import { variantOf } from "../variants.js";
import { count } from "./figures.js";

export function notesOf(results: readonly VariantResult[], options: SaleOptions): string[] {
  const notes = [`* ${REFERENCE_RUN.note}`];
  for (const result of results) {
    const { title } = variantOf(result.name);
    if (result.oversold > 0) {
      notes.push(`${title}: ${count(result.sold)} buyers were sold ${count(options.stock)} pieces.`);
    }
    if (result.killedPids.length > 0) {
      notes.push(`${title}: process ${result.killedPids.join(", ")} was killed while it held the lock (a lease lives ${options.ttlMs} ms).`);
    }
    if (result.unheardSales !== 0) notes.push(`${title}: ${count(result.unheardSales)} sales whose buyer never heard of it.`);
    if (result.staleRefusals > 0) notes.push(`${title}: the ledger refused ${count(result.staleRefusals)} writes of a holder that was too late.`);
  }
  return notes;
}
