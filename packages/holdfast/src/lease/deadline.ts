/** The deadline of a lease, by the clocks of this process. */
import { agedMs, type Instant } from "../time/clock.js";

const DRIFT_SHARE = 0.01;
const DRIFT_MS = 2;

/**
 * Milliseconds of a lease left: its ttl, counted from before the request that set it was *sent*, less
 * an allowance for clocks that run at different rates (1 % of the ttl and 2 ms).
 */
export function leaseLeftMs(now: Instant, sentAt: Instant, ttlMs: number): number {
  return ttlMs * (1 - DRIFT_SHARE) - DRIFT_MS - agedMs(now, sentAt);
}
