/** `holdfast ls` and `holdfast show`: who holds and who waits, at this moment. */
import type { LockState } from "holdfast";
import { EXIT } from "../exit-codes.js";
import { interruptible } from "../interrupt.js";
import { lockDetails, lockTable, rulerForLocks } from "../output/locks.js";
import { colorsFor, jsonOf, note, printLine } from "../output/output.js";
import { newSession } from "../session.js";
import type { Settings } from "../settings.js";

export interface ListTerms {
  readonly pattern: string;
  /** Also those that are free. */
  readonly all: boolean;
}

export async function list({ pattern, all }: ListTerms, settings: Settings): Promise<number> {
  const session = newSession(settings);
  try {
    const locks = await interruptible(async (signal) => {
      await session.connect(signal);
      const inspector = await session.hf.inspector();
      const found: LockState[] = [];
      for await (const lock of inspector.locks({ pattern, free: all })) {
        signal.throwIfAborted();
        found.push(lock);
      }
      return found.sort(byName);
    });
    if (settings.json) printLine(jsonOf({ locks }));
    else if (locks.length === 0) note("no lock is held or waited for");
    else {
      const ruler = await rulerForLocks(locks);
      const lines = lockTable(locks, roomIn(process.stdout), colorsFor(process.stdout), ruler);
      for (const line of lines) printLine(line);
    }
    return EXIT.ok;
  } finally {
    await session.close();
  }
}

export async function show(name: string, settings: Settings): Promise<number> {
  const session = newSession(settings);
  try {
    const lock = await interruptible(async (signal) => {
      await session.connect(signal);
      return (await session.hf.inspector()).lock(name);
    });
    if (settings.json) printLine(jsonOf(lock));
    else {
      const ruler = await rulerForLocks([lock]);
      const lines = lockDetails(lock, roomIn(process.stdout), colorsFor(process.stdout), ruler);
      for (const line of lines) printLine(line);
    }
    return EXIT.ok;
  } finally {
    await session.close();
  }
}

export function byName(a: LockState, b: LockState): number {
  return a.name < b.name ? -1 : 1;
}

/** A pipe has room for all. */
export function roomIn(stream: NodeJS.WriteStream): number {
  return stream.isTTY ? stream.columns || 80 : Number.POSITIVE_INFINITY;
}
