/** `holdfast elect NAME -- COMMAND…`: runs a command while this process leads. */
import { type Election, HoldfastError, type Leadership, type LeaseLostError } from "holdfast";
import { showDuration } from "../duration.js";
import { EXIT } from "../exit-codes.js";
import { exitCodeOfSignal, interruptible, noteInterrupts, takeOverSignals } from "../interrupt.js";
import { runDuring } from "../job/tenure.js";
import { tellOfLine } from "../output/line.js";
import { note, noteEvent } from "../output/output.js";
import { printable } from "../output/text.js";
import { labelOf, newSession, type Session } from "../session.js";
import type { Settings } from "../settings.js";

export interface ElectTerms {
  readonly name: string;
  readonly command: readonly string[];
  readonly termMs: number;
  readonly waitMs: number;
  /** Between SIGTERM and SIGKILL when the leadership is lost. */
  readonly graceMs: number;
  readonly label: string | undefined;
  /** Announced to those who ask who leads. */
  readonly value: string | undefined;
  /** Ends after a loss, instead of standing for election again. */
  readonly once: boolean;
}

/** @returns the command's exit code, or 70 when the leadership was lost and `--once` was given. */
export async function elect(terms: ElectTerms, settings: Settings): Promise<number> {
  takeOverSignals();
  const session = newSession(settings, terms.label ?? labelOf(terms.command[0] ?? ""));
  const name = printable(terms.name);
  // Once for each campaign.
  const endLine = tellOfLine(
    { json: settings.json, again: true },
    { election: terms.name },
    (ahead) => `somebody else leads '${name}'${ahead > 0 ? `, ${ahead} ahead in line` : ""}`,
  );
  try {
    const election = session.hf.election(terms.name, { term: terms.termMs, value: terms.value });
    await interruptible((signal) => session.connect(signal));
    for (;;) {
      const leadership = await campaign(election, terms, session, settings);
      if (!leadership) return EXIT.busy;
      const exitCode = await runLeading(leadership, terms, session, settings);
      if (exitCode !== null) return exitCode;
    }
  } finally {
    endLine();
    await interruptible(() => session.close());
  }
}

/** Null: somebody else led for as long as it waited, which has been said. */
async function campaign(
  election: Election<string>,
  { name, waitMs }: ElectTerms,
  session: Session,
  settings: Settings,
): Promise<Leadership<string> | null> {
  const stop = session.onBreak(() => {
    stop();
    if (settings.json) noteEvent({ event: "away", election: name });
    else note(`the connection to Redis broke: waiting for Redis, and for the lead of '${printable(name)}'`);
  });
  try {
    const leadership = await interruptible(async (signal) => {
      const elected = await election.campaign({ wait: waitMs, signal });
      if (!signal.aborted) return elected;
      await elected?.resign(); // It came together with the signal.
      throw signal.reason;
    });
    if (leadership) return leadership;
    if (settings.json) noteEvent({ event: "busy", election: name, waitMs });
    else note(`somebody else leads '${printable(name)}'`);
    return null;
  } catch (error) {
    // What is known of the leader is from before the connection broke.
    const away = error instanceof HoldfastError && session.away();
    throw away || error;
  } finally {
    stop();
  }
}

/** Null: the leadership was lost, and this process may stand for election again. */
async function runLeading(
  leadership: Leadership<string>,
  terms: ElectTerms,
  session: Session,
  settings: Settings,
): Promise<number | null> {
  const endNotes = noteInterrupts();
  let interrupt: NodeJS.Signals | null = null;
  let ended: { readonly exitCode: number; readonly lost: boolean };
  try {
    ended = await runJob(leadership, terms, settings);
  } finally {
    interrupt = endNotes();
    await resign(leadership, terms, session, settings);
  }
  if (!ended.lost) return ended.exitCode;
  if (interrupt) return exitCodeOfSignal(interrupt);
  return terms.once ? EXIT.lost : null;
}

async function runJob(
  leadership: Leadership<string>,
  { name, command, graceMs }: ElectTerms,
  settings: Settings,
): Promise<{ readonly exitCode: number; readonly lost: boolean }> {
  const { term } = leadership;
  if (settings.json) noteEvent({ event: "elected", election: name, term });
  const env = {
    ...process.env,
    HOLDFAST_ELECTION: name,
    HOLDFAST_TERM: String(term),
    HOLDFAST_FENCE: String(term),
  };
  const onLost = ({ reason }: LeaseLostError): void => {
    if (settings.json) noteEvent({ event: "lost", election: name, term, reason });
    else
      note(`the leadership of '${printable(name)}' (term ${term}) is over (${reason}): stopping the command`);
  };
  const ended = await runDuring(leadership, { command, env, graceMs, onLost });
  if (settings.json) noteEvent({ event: "ended", election: name, term, ...ended });
  return ended;
}

async function resign(
  leadership: Leadership<string>,
  { name, termMs }: ElectTerms,
  session: Session,
  settings: Settings,
): Promise<void> {
  if ((await interruptible(() => leadership.resign())) !== "unknown") return;
  session.giveUp();
  if (settings.json) noteEvent({ event: "unreleased", election: name, termMs });
  else
    note(
      `Redis did not answer the resignation from '${printable(name)}': somebody else can lead within ${showDuration(termMs)}`,
    );
}
