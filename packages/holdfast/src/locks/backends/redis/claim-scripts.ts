/**
 * ClaimScripts: the scripts through which a claim is made, waits, and ends. Claims, waits, releases and the cleanup know no more of
 * a lock than this, so that they serve every kind of lock.
 */
import type { Acquisitions } from "./acquisitions.js";
import type { LockScripts } from "./lock-scripts.js";

export type ClaimScripts = Pick<
  LockScripts,
  | "account"
  | "partOf"
  | "acquire"
  | "adopt"
  | "heartbeat"
  | "release"
  | "renew"
  | "releaseMany"
  | "groupBySlot"
  | "banMs"
  | "mayBeResent"
  | "unsent"
  | "hasLeft"
  | "callTimeoutMs"
  | "disruptions"
>;

/** The first request of a claim, which may go in one call with others. */
export type FirstRequests = Pick<Acquisitions, "add">;
