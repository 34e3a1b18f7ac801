/** `holdfast elect NAME -- COMMAND…`: runs a command while this process leads. */
import { type Election, HoldfastError, type Leadership } from "holdfast";
import { showDuration } from "../duration.js";
import { EXIT, type Exit } from "../exit-codes.js";
import { interruptible, noteInterrupts, takeOverSignals } from "../interrupt.js";
import { runDuring, type TenureEnd } from "../job/tenure.js";
import { speakingAside } from "../output/aside.js";
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

/** @returns how the command ended; 70 when the leadership was lost and `--once` was given; 77 when it was lost and the command worked on. */
export function elect(terms: ElectTerms, settings: Settings): Promise<Exit> {
  return speakingAside(settings.json, () => runElected(terms, settings));
}

async function runElected(terms: ElectTerms, settings: Settings): Promise<Exit> {
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
      const exit = await runLeading(leadership, terms, session, settings);
      if (exit !== null) return exit;
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
): Promise<Exit | null> {
  const endNotes = noteInterrupts();
  let interrupt: NodeJS.Signals | null = null;
  let ended: TenureEnd;
  try {
    ended = await runJob(leadership, terms, settings);
  } finally {
    interrupt = endNotes();
    await resign(leadership, terms, session, settings);
  }
  const { exit, loss } = ended;
  if (loss === null) return exit;
  if (loss === EXIT.unstopped) return loss;
  return interrupt ?? (terms.once ? loss : null);
}

async function runJob(
  leadership: Leadership<string>,
  { name, command, graceMs }: ElectTerms,
  { json }: Settings,
): Promise<TenureEnd> {
  const { term } = leadership;
  const events = json ? { election: name, term } : null;
  if (events) noteEvent({ event: "elected", ...events });
  const env = {
    ...process.env,
    HOLDFAST_ELECTION: name,
    HOLDFAST_TERM: String(term),
    HOLDFAST_FENCE: String(term),
  };
  const title = `the leadership of '${printable(name)}' (term ${term})`;
  return runDuring(leadership, { command, env, graceMs, title, events });
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
