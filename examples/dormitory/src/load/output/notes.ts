/** Sentences below the table, the same on the terminal and in the report. */
import type { RunFacts } from "../run-facts.js";
import { count, milliseconds } from "./figures.js";

/** A defect can make thousands of them. */
const MOST_DIFFERENCES = 12;

export function notesOf({ outcomes, archive }: RunFacts): string[] {
  const notes: string[] = [];
  for (const { result, differences } of outcomes) {
    const kills = result.killed.map(
      ({ program, pid, atMs }) => `${program} ${pid} after ${milliseconds(atMs)} ms`,
    );
    if (kills.length > 0) notes.push(`${result.way}: SIGKILL to ${kills.join(" and ")}`);
    notes.push(
      `${result.way}: ${count(result.withRoom)} students have a room, ${count(result.withoutRoom)} have none`,
    );
    for (const { kind, text } of differences.slice(0, MOST_DIFFERENCES))
      notes.push(`${result.way}: ${kind}: ${text}`);
    const rest = differences.length - MOST_DIFFERENCES;
    if (rest > 0) notes.push(`${result.way}: ${count(rest)} differences more`);
  }
  notes.push(`archive: ${count(archive.differences)} differences between Redis and PostgreSQL`);
  return notes;
}
