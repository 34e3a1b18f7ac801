/**
 * A published run of the same sale: several web servers behind a balancer, the stock in Redis under a lock, 1600
 * requests on 200 pieces. It shows the scale of things. Another machine: no yardstick for this one.
 */
export const REFERENCE_RUN = {
  sold: 200,
  oversold: 0,
  requestsPerSecond: 126.8,
  meanMs: 77,
  worstMs: 8_921,
  note: "a published run of the same sale on another machine, not compared",
} as const;
