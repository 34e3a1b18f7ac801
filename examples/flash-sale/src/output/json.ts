/** The one line for programs. Fields may be added, none changes its meaning. */
import type { SaleOptions } from "../options.js";
import type { VariantResult } from "../result.js";

export function jsonOf({ stock, requests, servers }: SaleOptions, results: readonly VariantResult[]): string {
  return JSON.stringify({ stock, requests, servers, variants: results });
}
