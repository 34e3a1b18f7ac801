/** `holdfast lock NAME -- COMMAND…`: runs a command while this process holds the lock. */
import { AcquireTimeoutError, HoldfastError, type Lease } from "holdfast";
import { showDuration } from "../duration.js";
import { EXIT, type Exit } from "../exit-codes.js";
import { interruptible, takeOverSignals } from "../interrupt.js";
import { runDuring } from "../job/tenure.js";
import { type AnyLock, type LockHome, type LockNoun, newLockHome } from "../lock-home.js";
import { speakingAside } from "../output/aside.js";
import { tellOfLine } from "../output/line.js";
import { note, noteEvent } from "../output/output.js";
import { ownerText } from "../output/owner.js";
import { printable } from "../output/text.js";
import { labelOf } from "../session.js";
import type { Settings } from "../settings.js";

export interface LockTerms {
  readonly name: string;
  readonly noun: LockNoun;
  readonly command: readonly string[];
  readonly ttlMs: number;
  readonly waitMs: number;
  /** Between SIGTERM and SIGKILL when the lease is lost. */
  readonly graceMs: number;
  readonly label: string | undefined;
}

/** @returns how the command ended; 70 or 77 when the lease was lost. */
export function lock(terms: LockTerms, settings: Settings): Promise<Exit> {
  return speakingAside(settings.json, () => runLocked(terms, settings));
}

async function runLocked(terms: LockTerms, settings: Settings): Promise<Exit> {
  const label = terms.label ?? labelOf(terms.command[0] ?? "");
  takeOverSignals();
  const home = newLockHome(settings, label);
  try {
    const wanted = home.lock(terms.name, terms.noun, terms.ttlMs);
    await interruptible((signal) => home.connect(signal));
    const lease = await acquire(wanted, terms, home, settings);
    return lease ? await runUnder(lease, terms, home, settings) : EXIT.busy;
  } finally {
    // A terminal that closes now, or an impatient Ctrl-C, must not leave the lock behind; the second one ends it.
    await interruptible(() => home.close());
  }
}

/** Null: busy, which has been said. */
async function acquire(
  wanted: AnyLock,
  { name, noun, waitMs }: LockTerms,
  home: LockHome,
  settings: Settings,
): Promise<Lease | null> {
  const endLine = tellOfLine(
    settings,
    { lock: name },
    (ahead) => `waiting for '${printable(name)}'${ahead > 0 ? `, ${ahead} ahead in line` : ""}`,
  );
  const stop = home.onBreak(() => {
    stop();
    if (settings.json) noteEvent({ event: "away", lock: name });
    else note(`the connection to Redis broke: waiting for Redis, and for '${printable(name)}'`);
  });
  try {
    return await interruptible(async (signal) => {
      const lease = await wanted.acquire({ wait: waitMs, signal });
      if (!signal.aborted) return lease;
      await lease.release(); // It came together with the signal.
      throw signal.reason;
    });
  } catch (error) {
    // The known holder is from before the connection broke.
    const away = error instanceof HoldfastError && home.away();
    if (away) throw away;
    if (!(error instanceof AcquireTimeoutError)) throw error;
    const { owner } = error;
    if (settings.json) noteEvent({ event: "busy", lock: name, waitMs, owner });
    else note(busyText(`'${printable(name)}'`, noun, owner ? ownerText(owner) : "somebody else"));
    return null;
  } finally {
    stop();
    endLine();
  }
}

function busyText(name: string, wanted: LockNoun, owner: string): string {
  if (wanted.noun === "semaphore") return `no permit of ${name} is free`;
  if (wanted.noun === "read") return `a writer holds ${name}, or waits for it`;
  if (wanted.noun === "write") return `others read or write ${name}`;
  return `${name} is held by ${owner}`;
}

async function runUnder(lease: Lease, terms: LockTerms, home: LockHome, settings: Settings): Promise<Exit> {
  try {
    return await runJob(lease, terms, settings);
  } finally {
    if ((await interruptible(() => lease.release())) === "unknown") {
      home.giveUp();
      if (settings.json) noteEvent({ event: "unreleased", lock: lease.name, ttlMs: terms.ttlMs });
      else
        note(
          `Redis did not answer the release of '${printable(lease.name)}': the lock is free within ${showDuration(terms.ttlMs)}`,
        );
    }
  }
}

async function runJob(lease: Lease, { command, graceMs }: LockTerms, { json }: Settings): Promise<Exit> {
  const { name, fence } = lease;
  const events = json ? { lock: name, fence } : null;
  if (events) noteEvent({ event: "acquired", ...events });
  const env = { ...process.env, HOLDFAST_LOCK: name, HOLDFAST_FENCE: String(fence) };
  const title = `the lease on '${printable(name)}' (fence ${fence})`;
  const { exit, loss } = await runDuring(lease, { command, env, graceMs, title, events });
  return loss ?? exit;
}
