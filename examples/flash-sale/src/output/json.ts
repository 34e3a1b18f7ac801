/** The one line for programs. Fields may be added, none changes its meaning. */
import type { Engine } from "../engine.js";
import type { SaleOptions } from "../options.js";
import type { VariantResult } from "../result.js";

export function jsonOf(options: SaleOptions, engine: Engine, results: readonly VariantResult[]): string {
  const { stock, requests, servers, concurrency, ttlMs, kill, nginx, redlock } = options;
  const conditions = {
    server: engine.server,
    redis: engine.address,
    concurrency,
    ttlMs,
    kill,
    nginx,
    redlock,
  };
  return JSON.stringify({ stock, requests, servers, variants: results, ...conditions });
}
