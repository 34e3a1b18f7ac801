/** `holdfast once KEY -- COMMAND…`: runs a command once for a key, on all machines together. */
import { hostname } from "node:os";
import {
  AcquireTimeoutError,
  HoldfastError,
  type Lease,
  OnceFailedError,
  ResultNotStoredError,
} from "holdfast";
import { codeOfExit, EXIT, type Exit } from "../exit-codes.js";
import { interruptible, takeOverSignals } from "../interrupt.js";
import { runDuring } from "../job/tenure.js";
import { speakingAside } from "../output/aside.js";
import { tellOfLine } from "../output/line.js";
import { note, noteEvent, printLine } from "../output/output.js";
import { ownerText } from "../output/owner.js";
import { printable } from "../output/text.js";
import { labelOf, newSession, type Session } from "../session.js";
import type { Settings } from "../settings.js";

const LARGEST_EXIT_CODE = 255;

export interface OnceTerms {
  readonly key: string;
  readonly command: readonly string[];
  readonly keepMs: number;
  readonly waitMs: number;
  readonly ttlMs: number;
  /** Between SIGTERM and SIGKILL when the lease is lost. */
  readonly graceMs: number;
  readonly label: string | undefined;
  /** Whether a command that fails has run all the same. */
  readonly storesFailures: boolean;
}

/** What is stored of a command that ran. */
interface Ended {
  readonly exitCode: number;
  readonly host: string;
}

/** A command that must run again. */
class NotDone extends Error {
  readonly exit: Exit;

  constructor(exit: Exit) {
    super(`the command ended with ${exit}`);
    this.exit = exit;
  }
}

/** @returns how the command ended, now or when it ran. */
export function once(terms: OnceTerms, settings: Settings): Promise<Exit> {
  return speakingAside(settings.json, () => runUnlessDone(terms, settings));
}

async function runUnlessDone(terms: OnceTerms, settings: Settings): Promise<Exit> {
  takeOverSignals();
  const session = newSession(settings, terms.label ?? labelOf(terms.command[0] ?? ""));
  const key = printable(terms.key);
  const endLine = tellOfLine(
    settings,
    { key: terms.key },
    () => `somebody else runs '${key}': waiting for its end`,
  );
  try {
    await interruptible((signal) => session.connect(signal));
    return await runOnce(terms, session, settings);
  } finally {
    endLine();
    await interruptible(() => session.close());
  }
}

/** @returns 0; 1 when there was nothing to forget. */
export async function forget(key: string, settings: Settings): Promise<number> {
  const session = newSession(settings);
  try {
    return await interruptible(async (signal) => {
      await session.connect(signal);
      const forgotten = await session.hf.once.forget(key);
      if (settings.json) printLine(JSON.stringify({ key, forgotten }));
      else note(forgotten ? `'${key}' is forgotten: the next one runs` : `nothing is known of '${key}'`);
      return forgotten ? EXIT.ok : EXIT.no;
    });
  } finally {
    await interruptible(() => session.close());
  }
}

async function runOnce(terms: OnceTerms, session: Session, settings: Settings): Promise<Exit> {
  const { key, keepMs: keep, waitMs: wait, ttlMs: ttl } = terms;
  const begun = new AbortController();
  try {
    // A signal ends the wait. From when the command runs, signals are the command's.
    const { ran, value } = await untilBegun(begun.signal, (signal) =>
      session.hf.once<Ended>(
        key,
        (lease) => {
          begun.abort();
          signal.throwIfAborted();
          return run(lease, terms, settings);
        },
        { keep, wait, ttl, signal },
      ),
    );
    if (ran) return value.exitCode;
    return tellSkipped(key, value, settings);
  } catch (error) {
    return told(error, terms, session, settings);
  }
}

/** A program may have done it, with a result of its own. */
function tellSkipped(key: string, value: unknown, settings: Settings): number {
  const found = (value ?? {}) as Readonly<Record<keyof Ended, unknown>>;
  const exitCode = isExitCode(found.exitCode) ? found.exitCode : EXIT.ok;
  const host = typeof found.host === "string" ? found.host : null;
  if (settings.json) noteEvent({ event: "skipped", key, exitCode, host });
  else
    note(
      `'${key}' has run${host ? ` on ${host}` : ""}, with exit code ${exitCode}: the command is not run again`,
    );
  return exitCode;
}

function isExitCode(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= LARGEST_EXIT_CODE;
}

/** Runs `work` with a signal that aborts when the user wants it to end, until `begun` aborts. */
async function untilBegun<Value>(
  begun: AbortSignal,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  let done: Promise<Value> | null = null;
  await interruptible(async (signal) => {
    done = work(signal);
    await new Promise<void>((resolve) => {
      begun.addEventListener("abort", () => resolve(), { once: true });
      done?.then(
        () => resolve(),
        () => resolve(),
      );
    });
  });
  return done as unknown as Promise<Value>;
}

async function run(lease: Lease, terms: OnceTerms, settings: Settings): Promise<Ended> {
  const { key, command, graceMs, storesFailures } = terms;
  const { fence } = lease;
  const events = settings.json ? { key, fence } : null;
  if (events) noteEvent({ event: "running", ...events });
  const env = { ...process.env, HOLDFAST_ONCE: key, HOLDFAST_FENCE: String(fence) };
  const title = `the lease on '${printable(key)}' (fence ${fence})`;
  const { exit, loss } = await runDuring(lease, { command, env, graceMs, title, events });
  if (loss !== null) throw new NotDone(loss);
  // What a signal ended has not run to its end.
  if (exit !== EXIT.ok && (!storesFailures || typeof exit === "string")) throw new NotDone(exit);
  return { exitCode: codeOfExit(exit), host: hostname() };
}

function told(error: unknown, { key, waitMs }: OnceTerms, session: Session, settings: Settings): Exit {
  if (error instanceof NotDone) return error.exit;
  if (error instanceof ResultNotStoredError && error.reason === "overtaken") {
    if (settings.json) noteEvent({ event: "overtaken", key, fence: error.fence });
    else note(error.message);
    return EXIT.lost;
  }
  if (error instanceof OnceFailedError) {
    // A program has stored its failure: see its option `errors`.
    const { message } = error.failure;
    if (settings.json) noteEvent({ event: "failed", key, message });
    else note(`'${key}' has failed (${message}), and is not run again: add --forget to forget that`);
    return EXIT.no;
  }
  const away = error instanceof HoldfastError && session.away();
  if (away && !(error instanceof ResultNotStoredError)) throw away;
  if (!(error instanceof AcquireTimeoutError)) throw error;
  const { owner } = error;
  if (settings.json) noteEvent({ event: "busy", key, waitMs, owner });
  else note(`'${key}' is being run by ${owner ? ownerText(owner) : "somebody else"}`);
  return EXIT.busy;
}
