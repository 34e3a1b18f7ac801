/** What a line and a group of callers have in common: settings, claims, and the errors of waits. */
import { ClosedError, HoldfastError, IndeterminateError, type Owner, UnavailableError } from "../errors.js";
import type { HeldLease } from "../lease/held-lease.js";
import type { Grant } from "../lease/hold.js";
import type { Keeper } from "../lease/keeper.js";
import { type LockNoun, publish } from "../telemetry/events.js";
import { type Clock, elapsedMs, type Instant } from "../time/clock.js";
import type { Random } from "../time/random.js";
import type { Schedule } from "../time/schedule.js";
import type { Busy, Claim, LockBackend, StoreClaim } from "./backend.js";
import type { Caller } from "./caller-queue.js";

export interface LineSettings {
  readonly name: string;
  readonly ttlMs: number;
  readonly lockDelayMs: number;
  readonly localTurns: number;
  readonly maxHoldMs: number;
  readonly lingerMs: number;
}

/** Makes one attempt with a claim: by itself, or together with the claims of other lines. */
export type Attempt = (claim: StoreClaim) => Promise<Grant | Busy>;

/** The part of a name that a claim takes, see `Claim`. */
export interface Share extends Pick<Claim, "mode" | "weight" | "permits"> {
  readonly noun: LockNoun;
}

export interface LineParts {
  readonly backend: Pick<LockBackend, "claim" | "longestTtl" | "away" | "onAway">;
  readonly keeper: Keeper;
  readonly schedule: Schedule;
  readonly random: Random;
  /** This process, as the owner that errors name when callers here wait for a holder in the same process. */
  readonly self: Pick<Owner, "host" | "pid" | "label">;
}

/** What an attempt together with others says where the store was not asked for this part. */
export const NOT_ASKED: Busy = { owner: null, ahead: null };
export const BY_ITSELF: Attempt = (claim) => claim.attempt();
export const WHOLE: Share = { noun: "mutex", mode: "exclusive", weight: 1 };

/** What an attempt with a new claim came to. @throws {HoldfastError} the outcome is unknown; the claim is abandoned */
export async function attempted(
  name: string,
  newClaim: () => StoreClaim,
  attempt: Attempt,
): Promise<{ readonly claim: StoreClaim; readonly outcome: Grant | Busy }> {
  let claim: StoreClaim | null = null;
  try {
    claim = newClaim();
    return { claim, outcome: await attempt(claim) };
  } catch (error) {
    claim?.abandon();
    throw errorOf(name, error);
  }
}

/** A new claim for the share, with the smallest acceptable token. */
export function claimOf(settings: LineSettings, share: Share, random: Random, minFence: bigint): Claim {
  const { name, ttlMs, lockDelayMs, localTurns: turns } = settings;
  const { mode, weight, permits } = share;
  return {
    name,
    id: random.id(),
    mode,
    weight,
    ...(permits === undefined ? {} : { permits }),
    ttlMs,
    storeTtlMs: ttlMs + lockDelayMs,
    turns,
    minFence,
  };
}

/** @param since when the caller came @param local whether the turn was passed on inside this process */
export function tellAcquired(
  clock: Clock,
  { name: lock, fence, context }: HeldLease,
  noun: LockNoun,
  since: Instant,
  local: boolean,
): void {
  const waitedMs = () => Math.round(elapsedMs(clock, since));
  publish("holdfast:lock:acquired", () => ({ lock, noun, fence, waitedMs: waitedMs(), local }), context);
}

/** @param first the caller who came first */
export function tellWaiting(
  lock: string,
  noun: LockNoun,
  ahead: number,
  first: Pick<Caller, "context"> | null,
): void {
  publish("holdfast:lock:waiting", () => ({ lock, noun, ahead }), first?.context ?? null);
}

export function closedError(name: string): ClosedError {
  return new ClosedError(`the wait for '${name}' was ended by close()`);
}

/** The error for a caller whose time is up, and whose claim the store has not answered. */
export function noAnswer(
  name: string,
  waitMs: number,
  claim: StoreClaim | null | undefined,
  trouble: HoldfastError | null = null,
): HoldfastError {
  const unsent = claim?.unsent?.();
  // A request that was not sent says nothing of a later one, which has left since.
  const isOutdated = trouble instanceof UnavailableError && unsent === null;
  if (trouble && !isOutdated) return trouble;
  return unsent ?? new IndeterminateError(`'${name}': no answer from the store within ${waitMs} ms`);
}

/** What an error of another author says of the store's work is not known here. */
export function errorOf(name: string, error: unknown): HoldfastError {
  if (error instanceof HoldfastError) return error;
  return new IndeterminateError(`'${name}': the store failed: ${error}`, { cause: error });
}
