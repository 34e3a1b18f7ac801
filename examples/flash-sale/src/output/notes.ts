/** What the table alone does not say, the same on the terminal and in the report. */
import type { SaleOptions } from "../options.js";
import { hasReference, REFERENCE_RUN } from "../reference-run.js";
import type { VariantResult } from "../result.js";
import { variantOf } from "../variants.js";
import { count } from "./figures.js";

export function notesOf(results: readonly VariantResult[], options: SaleOptions): string[] {
  const { stock, ttlMs } = options;
  const notes: string[] = hasReference(options) ? [`* ${REFERENCE_RUN.note}`] : [];
  if (results.some(({ killedPids }) => killedPids.length > 0)) {
    notes.push(`† one server was killed holding the lock; its lease of ${count(ttlMs)} ms had to end`);
  }
  for (const result of results) notes.push(...findings(result, stock));
  return notes;
}

function findings(result: VariantResult, stock: number): string[] {
  const { sold, oversold, unheardSales, staleRefusals, failures } = result;
  const { title, remark } = variantOf(result.name);
  const found: string[] = remark === undefined ? [] : [remark];
  if (oversold > 0) found.push(`${count(stock)} pieces were sold to ${count(sold)} buyers`);
  if (unheardSales !== 0) found.push(`${count(unheardSales)} sales whose buyers never heard of it`);
  if (staleRefusals > 0)
    found.push(`the fenced record refused ${count(staleRefusals)} holders that came too late`);
  return [...found, ...failures].map((finding) => `${title}: ${finding}`);
}
