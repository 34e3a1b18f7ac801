/** Takes a turn in a line for an owner: `acquire` and `tryAcquire` of every kind of lock. */
import type { Lease } from "../lease/lease.js";
import { type Attempt, type Share, WHOLE } from "./line-terms.js";
import type { LocalLine } from "./local-line.js";
import type { AcquireSettings, AttemptSettings } from "./lock-options.js";
import type { Ownership, Wanted } from "./ownership.js";

/** What callers of one process enter: a line, or a group. */
type Queue = Pick<LocalLine, "enter" | "tryEnter" | "busyError">;

/** The lock for which callers stand in a line. */
interface LockOfLine {
  readonly name: string;
  /** @default all of it, as a mutex takes */
  readonly share?: Share;
}

/** Waits for a turn, or makes one attempt where `waitMs` is 0. @throws as `acquire` of a mutex */
export function enter(
  line: Queue,
  lock: LockOfLine,
  ownership: Ownership,
  settings: AcquireSettings,
): Promise<Lease> {
  const { waitMs, signal, minFence } = settings;
  if (waitMs === 0) return enterAtOnce(line, lock, ownership, settings);
  const owner = ownership.of(settings.owner);
  if (owner === null) return line.enter(waitMs, signal, minFence);
  const wait = (until: AbortSignal | undefined): Promise<Lease> => line.enter(waitMs, until, minFence);
  return noted(lock, ownership, settings, ownership.watch(owner, wantedOf(lock), { waitMs, signal }, wait));
}

async function enterAtOnce(
  line: Queue,
  lock: LockOfLine,
  ownership: Ownership,
  settings: AcquireSettings,
): Promise<Lease> {
  const lease = await tryEnter(line, lock, ownership, settings);
  if (!lease) throw line.busyError(settings.waitMs);
  return lease;
}

/**
 * Makes one attempt. Null when the name is held.
 * @param attempt makes it together with the attempts of other lines
 * @throws as `tryAcquire` of a mutex
 */
export function tryEnter(
  line: Queue,
  lock: LockOfLine,
  ownership: Ownership,
  settings: AttemptSettings,
  attempt?: Attempt,
): Promise<Lease | null> {
  const lease = line.tryEnter(settings.minFence, attempt);
  return settings.owner === undefined ? lease : noted(lock, ownership, settings, lease);
}

async function noted<Got extends Lease | null>(
  { share = WHOLE }: LockOfLine,
  ownership: Ownership,
  { owner }: AttemptSettings,
  granted: Promise<Got>,
): Promise<Got> {
  const lease = await granted;
  if (lease) ownership.holds(owner, share.noun, lease);
  return lease;
}

function wantedOf({ name, share = WHOLE }: LockOfLine): Wanted {
  const { noun, mode, weight, permits = 1 } = share;
  return { noun, name, weight, permits, isExclusive: mode === "exclusive" };
}
