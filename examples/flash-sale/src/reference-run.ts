/**
 * The sale that this example rebuilds: a flash sale in C# behind nginx, with Redis, 1600 requests on 200 items,
 * measured by its author with JMeter. It shows the scale of things. Another machine: no yardstick for this one.
 */
import type { SaleOptions } from "./options.js";

export const REFERENCE_RUN = {
  stock: 200,
  requests: 1_600,
  sold: 200,
  oversold: 0,
  requestsPerSecond: 126.8,
  meanMs: 77,
  worstMs: 8_921,
  note:
    "the C# flash sale behind nginx that this example rebuilds: 1600 requests on 200 items, " +
    "measured by its author with JMeter on another machine; not compared",
} as const;

/** Only beside a sale of the same size does it mean anything. */
export function hasReference({ stock, requests }: Pick<SaleOptions, "stock" | "requests">): boolean {
  return stock === REFERENCE_RUN.stock && requests === REFERENCE_RUN.requests;
}
