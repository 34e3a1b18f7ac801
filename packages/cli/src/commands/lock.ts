/** `holdfast lock NAME -- COMMAND…`: runs a command while this process holds the lock. */
import { subscribe } from "node:diagnostics_channel";
import { basename } from "node:path";
import {
  AcquireTimeoutError,
  HoldfastError,
  type HoldfastEvents,
  type Lease,
  type LeaseLostError,
  type Mutex,
} from "holdfast";
import { showDuration } from "../duration.js";
import { EXIT } from "../exit-codes.js";
import { interruptible, takeOverSignals } from "../interrupt.js";
import { startJob } from "../job/job.js";
import { note, noteEvent } from "../output/output.js";
import { ownerText } from "../output/owner.js";
import { printable } from "../output/text.js";
import { newSession, type Session } from "../session.js";
import type { Settings } from "../settings.js";

const LONGEST_LABEL = 200;

export interface LockTerms {
  readonly name: string;
  readonly command: readonly string[];
  readonly ttlMs: number;
  readonly waitMs: number;
  /** Between SIGTERM and SIGKILL when the lease is lost. */
  readonly graceMs: number;
  readonly label: string | undefined;
}

/** @returns the command's exit code, or 70 when the lease was lost. */
export async function lock(terms: LockTerms, settings: Settings): Promise<number> {
  const label = terms.label ?? labelOf(terms.command[0] ?? "");
  takeOverSignals();
  const session = newSession(settings, label);
  try {
    const mutex = session.hf.mutex(terms.name, { ttl: terms.ttlMs, localTurns: 1 });
    await interruptible((signal) => session.connect(signal));
    const lease = await acquire(mutex, terms, session, settings);
    return lease ? await runUnder(lease, terms, session, settings) : EXIT.busy;
  } finally {
    // A terminal that closes now, or an impatient Ctrl-C, must not leave the lock behind; the second one ends it.
    await interruptible(() => session.close());
  }
}

/** A file's name may be longer than a label. Nobody asked for this one, so it is cut, between two characters. */
function labelOf(program: string): string {
  return basename(program)
    .slice(0, LONGEST_LABEL)
    .replace(/[\ud800-\udbff]$/, "");
}

/** Null: busy, which has been said. */
async function acquire(
  mutex: Mutex,
  { name, waitMs }: LockTerms,
  session: Session,
  settings: Settings,
): Promise<Lease | null> {
  let told = false;
  subscribe("holdfast:lock:waiting", (message) => {
    if (told) return;
    told = true;
    const { ahead } = message as HoldfastEvents["holdfast:lock:waiting"];
    if (settings.json) noteEvent({ event: "waiting", lock: name, ahead });
    else if (process.stderr.isTTY)
      note(`waiting for '${printable(name)}'${ahead > 0 ? `, ${ahead} ahead in line` : ""}`);
  });
  const stop = session.onBreak(() => {
    stop();
    if (settings.json) noteEvent({ event: "away", lock: name });
    else note(`the connection to Redis broke: waiting for Redis, and for '${printable(name)}'`);
  });
  try {
    return await interruptible(async (signal) => {
      const lease = await mutex.acquire({ wait: waitMs, signal });
      if (!signal.aborted) return lease;
      await lease.release(); // It came together with the signal.
      throw signal.reason;
    });
  } catch (error) {
    // The known holder is from before the connection broke.
    const away = error instanceof HoldfastError && session.away();
    if (away) throw away;
    if (!(error instanceof AcquireTimeoutError)) throw error;
    const { owner } = error;
    if (settings.json) noteEvent({ event: "busy", lock: name, waitMs, owner });
    else note(`'${printable(name)}' is held by ${owner ? ownerText(owner) : "somebody else"}`);
    return null;
  } finally {
    stop();
  }
}

async function runUnder(
  lease: Lease,
  terms: LockTerms,
  session: Session,
  settings: Settings,
): Promise<number> {
  try {
    return await runJob(lease, terms, settings);
  } finally {
    if ((await interruptible(() => lease.release())) === "unknown") {
      session.giveUp();
      if (settings.json) noteEvent({ event: "unreleased", lock: lease.name, ttlMs: terms.ttlMs });
      else
        note(
          `Redis did not answer the release of '${printable(lease.name)}': the lock is free within ${showDuration(terms.ttlMs)}`,
        );
    }
  }
}

async function runJob(lease: Lease, terms: LockTerms, settings: Settings): Promise<number> {
  if (settings.json) noteEvent({ event: "acquired", lock: lease.name, fence: lease.fence });
  const env = { ...process.env, HOLDFAST_LOCK: lease.name, HOLDFAST_FENCE: String(lease.fence) };
  // After a stop, the look at the clock ends the lease before the command runs on.
  const job = await startJob(terms.command, env, terms.graceMs, () => lease.valid);
  let stopping: Promise<void> | null = null;
  const stop = (): void => {
    tellLost(lease.signal.reason as LeaseLostError, settings);
    stopping = job.stop();
  };
  if (lease.signal.aborted) stop();
  else lease.signal.addEventListener("abort", stop, { once: true });
  const exitCode = await job.ended;
  const lost = !lease.valid;
  lease.signal.removeEventListener("abort", stop);
  await stopping;
  job.dismiss();
  if (settings.json) noteEvent({ event: "ended", lock: lease.name, lost, exitCode });
  return lost ? EXIT.lost : exitCode;
}

function tellLost({ lock, fence, reason }: LeaseLostError, settings: Settings): void {
  if (settings.json) noteEvent({ event: "lost", lock, fence, reason });
  else note(`the lease on '${printable(lock)}' (fence ${fence}) is over (${reason}): stopping the command`);
}
