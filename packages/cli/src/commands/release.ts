/** `holdfast release NAME --force`: takes the lock from its holder, after asking. */
import type { ForceReleaseResult, LockHolder } from "holdfast";
import { confirmed } from "../confirm.js";
import { showDuration } from "../duration.js";
import { EXIT } from "../exit-codes.js";
import { interruptible } from "../interrupt.js";
import { jsonOf, note, printLine } from "../output/output.js";
import { ownerText } from "../output/owner.js";
import { printable } from "../output/text.js";
import { newSession } from "../session.js";
import type { Settings } from "../settings.js";

export interface ReleaseTerms {
  readonly name: string;
  /** Only from the holder of this token. */
  readonly fence: bigint | undefined;
  /** Do not ask. */
  readonly yes: boolean;
}

export async function release({ name, fence, yes }: ReleaseTerms, settings: Settings): Promise<number> {
  const session = newSession(settings);
  try {
    return await interruptible(async (signal) => {
      await session.connect(signal);
      const inspector = await session.hf.inspector();
      const { holder } = await inspector.lock(name);
      if (!yes && holder && !(await confirmed(questionOf(name, holder), signal))) {
        note("left as it is");
        return EXIT.no;
      }
      // A process that became the holder during the question is not the holder that the user meant.
      const meant = fence ?? holder?.fence;
      const result = await inspector.forceRelease(name, meant === undefined ? {} : { fence: meant });
      if (settings.json) printLine(jsonOf({ lock: name, ...result }));
      else printLine(toldOf(name, result));
      return result.outcome === "changed" ? EXIT.busy : EXIT.ok;
    });
  } finally {
    await session.close();
  }
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
  const heard = told
    ? "Its holder has been told."
    : `Its holder does not listen: it learns of it when it renews, within ${showDuration(holder.ttlMs)}.`;
  return `${lock} was taken from ${old}, and is ${now}.\n${heard}`;
}
