/** `holdfast release NAME --force`: takes the lock from its holder, after asking. */
import type { ForceReleaseResult, Inspector, LockHolder, PermitHolder, RevokeResult } from "holdfast";
import { confirmed } from "../confirm.js";
import { showDuration } from "../duration.js";
import { EXIT } from "../exit-codes.js";
import { Failure } from "../failure.js";
import { interruptible } from "../interrupt.js";
import { newLockHome } from "../lock-home.js";
import { jsonOf, note, printLine } from "../output/output.js";
import { ownerText } from "../output/owner.js";
import { printable } from "../output/text.js";
import type { Settings } from "../settings.js";

export interface ReleaseTerms {
  readonly kind: "lock" | "semaphore" | "rwlock";
  readonly name: string;
  /** Only from the holder of this token. */
  readonly fence: bigint | undefined;
  /** Do not ask. */
  readonly yes: boolean;
}

export async function release(terms: ReleaseTerms, settings: Settings): Promise<number> {
  const home = newLockHome(settings, "", terms.kind);
  try {
    return await interruptible(async (signal) => {
      await home.connect(signal);
      const inspector = await home.inspector();
      if (terms.kind !== "lock") return await revoke(inspector, terms, settings, signal);
      const { name, fence } = terms;
      const { holder } = await inspector.lock(name);
      if (!(await mayTake(holder, terms, signal))) return EXIT.no;
      // A process that became the holder during the question is not the holder that the user meant.
      const meant = fence ?? holder?.fence;
      const result = await inspector.forceRelease(name, meant === undefined ? {} : { fence: meant });
      if (settings.json) printLine(jsonOf({ lock: name, ...result }));
      else printLine(toldOf(name, result));
      return result.outcome === "changed" ? EXIT.busy : EXIT.ok;
    });
  } finally {
    await home.close();
  }
}

/** Takes permits of a semaphore, or a side of a read-write lock, from one of its holders. */
async function revoke(
  inspector: Inspector,
  terms: ReleaseTerms,
  settings: Settings,
  signal: AbortSignal,
): Promise<number> {
  const { kind, name, fence } = terms;
  const isSemaphore = kind === "semaphore";
  const { holders } = await (isSemaphore ? inspector.semaphore(name) : inspector.rwLock(name));
  const holder = holderOf(terms, holders);
  if (!(await mayTake(holder, terms, signal))) return EXIT.no;
  const result: RevokeResult = !holder
    ? { holder: null, told: false }
    : await (isSemaphore
        ? inspector.forceReleasePermits(name, holder.fence)
        : inspector.forceReleaseRwLock(name, holder.fence));
  if (settings.json) printLine(jsonOf({ [kind]: name, ...result }));
  else printLine(toldOfPermits(name, result, holders.length > 0));
  return result.holder || (holders.length === 0 && fence === undefined) ? EXIT.ok : EXIT.busy;
}

/** The one that the user means; null: there is none. */
function holderOf(
  { kind, name, fence }: ReleaseTerms,
  holders: readonly PermitHolder[],
): PermitHolder | null {
  if (fence !== undefined) return holders.find((holder) => holder.fence === fence) ?? null;
  if (holders.length < 2) return holders[0] ?? null;
  const told = `'${printable(name)}' has ${holders.length} holders: name one by --fence, as \`holdfast show --kind ${kind}\` prints it`;
  throw new Failure("USAGE", EXIT.usage, told);
}

/** Asks, unless the user has said yes. */
async function mayTake(
  holder: LockHolder | null,
  { name, yes }: ReleaseTerms,
  signal: AbortSignal,
): Promise<boolean> {
  if (yes || !holder || (await confirmed(questionOf(name, holder), signal))) return true;
  note("left as it is");
  return false;
}

function toldOfPermits(name: string, { holder, told }: RevokeResult, isHeld: boolean): string {
  const lock = `'${printable(name)}'`;
  if (!holder) return isHeld ? `nobody holds ${lock} with this fence: left as it is` : `${lock} is free`;
  return `${lock} was taken from ${ownerText(holder.process)}, fence ${holder.fence}.\n${heardText(holder, told)}`;
}

function questionOf(name: string, holder: LockHolder): string {
  return (
    `'${printable(name)}' is held by ${ownerText(holder.process)}, fence ${holder.fence}, ` +
    `for ${showDuration(holder.heldMs)}.\nTake it away?`
  );
}

function toldOf(name: string, { outcome, holder, told, next, lastFence }: ForceReleaseResult): string {
  const lock = `'${printable(name)}'`;
  if (!holder) return `${lock} is free`;
  const old = ownerText(holder.process);
  if (outcome === "changed") return `${lock} is held by ${old} with fence ${holder.fence}: left as it is`;
  const now = next
    ? `given to ${ownerText(next.process)}, fence ${next.fence}`
    : `free; the next fence is above ${lastFence}`;
  return `${lock} was taken from ${old}, and is ${now}.\n${heardText(holder, told)}`;
}

function heardText({ ttlMs }: LockHolder, told: boolean): string {
  return told
    ? "Its holder has been told, and learns of it at once."
    : `Its holder does not listen yet: it learns of it when it renews, within ${showDuration(ttlMs)}.`;
}
