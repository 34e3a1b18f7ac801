/** `holdfast leader NAME`: who leads, and who stands for election; with `--watch`, each change. */
import type { Candidate, Election, Leader } from "holdfast";
import { showDuration } from "../duration.js";
import { EXIT } from "../exit-codes.js";
import { host } from "../host.js";
import { interruptible } from "../interrupt.js";
import { colorsFor, jsonOf, printLine } from "../output/output.js";
import { ownerText } from "../output/owner.js";
import { printable } from "../output/text.js";
import { rulerFor } from "../output/width.js";
import { newSession } from "../session.js";
import type { Settings } from "../settings.js";
import { nowText } from "../time.js";
import { roomIn } from "./look.js";

export interface LeaderTerms {
  readonly name: string;
  readonly watch: boolean;
}

/** @returns 0 when somebody leads, 1 when nobody does; 0 when a watch ends. */
export async function leader({ name, watch }: LeaderTerms, settings: Settings): Promise<number> {
  const session = newSession(settings);
  try {
    const election = session.hf.election(name);
    return await interruptible(async (signal) => {
      await session.connect(signal);
      if (watch) {
        await follow(election, name, signal, settings);
        return EXIT.ok;
      }
      const [now, candidates] = await Promise.all([election.leader(), election.candidates()]);
      if (settings.json) printLine(jsonOf({ election: name, leader: now, candidates }));
      else await show(name, now, candidates);
      return now ? EXIT.ok : EXIT.no;
    });
  } finally {
    await session.close();
  }
}

/** Until the user ends it, or the reader of the output is gone. */
async function follow(
  election: Election,
  name: string,
  signal: AbortSignal,
  settings: Settings,
): Promise<void> {
  const end = new AbortController();
  signal.addEventListener("abort", () => end.abort(), { once: true });
  host().stdout.once("error", () => end.abort());
  for await (const now of election.observe({ signal: end.signal })) tellChange(name, now, settings);
}

function tellChange(name: string, now: Leader | null, settings: Settings): void {
  const at = nowText();
  if (settings.json) printLine(jsonOf({ at, election: name, leader: now }));
  else if (!now) printLine(`${at} nobody leads ${printable(name)}`);
  else printLine(`${at} ${ownerText(now)} leads ${printable(name)}, term ${now.term}${valueText(now)}`);
}

function valueText({ value }: Leader): string {
  return value === null ? "" : `: ${shown(value)}`;
}

function shown(value: unknown): string {
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  return printable(typeof value === "string" ? value : jsonOf(value));
}

const HEADING_WIDTH = 12;

async function show(name: string, now: Leader | null, candidates: readonly Candidate[]): Promise<void> {
  const colors = colorsFor(host().stdout);
  const ruler = await rulerFor(jsonOf([name, now, candidates]));
  const width = roomIn(host().stdout);
  const row = (heading: string, text: string): void =>
    printLine(
      `  ${colors.dim(heading.padEnd(HEADING_WIDTH))}${ruler.clipped(text, width - HEADING_WIDTH - 2)}`,
    );
  printLine(colors.bold(ruler.clipped(printable(name), width)));
  row("led by", now ? ownerText(now) : "nobody");
  if (now) {
    row("term", String(now.term));
    row("value", now.announced ? (now.value === null ? "none" : shown(now.value)) : "not announced yet");
    row("left", showDuration(now.remainingMs));
  }
  row("candidates", String(candidates.length));
  const numberWidth = String(candidates.length).length;
  for (const [place, candidate] of candidates.entries())
    row("", `${String(place + 1).padStart(numberWidth)}  ${ownerText(candidate)}`);
}
