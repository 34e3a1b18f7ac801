/** What a line of callers is made with. */
import type { Owner } from "../errors.js";
import type { Keeper } from "../lease/keeper.js";
import type { LockNoun } from "../telemetry/events.js";
import type { Random } from "../time/random.js";
import type { Schedule } from "../time/schedule.js";
import type { Claim, LockBackend } from "./backend.js";
import type { PossessionSettings } from "./possession.js";

/** The part of a name that a claim takes, see `Claim`. */
export interface Share extends Pick<Claim, "mode" | "weight" | "permits"> {
  readonly noun: LockNoun;
}

/** What the options of a lock say of its lines. */
export interface LineTerms extends Partial<PossessionSettings> {
  readonly name: string;
  readonly ttlMs: number;
  readonly maxHoldMs: number;
  readonly localTurns: number;
}

export interface LineSettings extends Required<LineTerms> {
  readonly share: Share;
}

export interface LineParts {
  readonly backend: Pick<LockBackend, "claim" | "longestTtl" | "away" | "onAway">;
  readonly keeper: Keeper;
  readonly schedule: Schedule;
  readonly random: Random;
  /** This process, as the owner that errors name when callers here wait for a holder in the same process. */
  readonly self: Pick<Owner, "host" | "pid" | "label">;
}
