/** The rows of the table, the same on the terminal and in the report. */
import type { WayResult } from "../result.js";
import { count, milliseconds, perSecond } from "./figures.js";

export const HEADS = [
  "requests/s",
  "p50 ms",
  "p99 ms",
  "worst ms",
  "retries",
  "beds given\ntwice",
  "students with\ntwo rooms",
  "teams torn\napart",
  "answers\nlost",
] as const;

export interface Cell {
  readonly text: string;
  readonly tone: "plain" | "good" | "bad";
}

export interface Row {
  readonly title: string;
  readonly cells: readonly Cell[];
}

export function rowOf(result: WayResult): Row {
  const { latencyMs, retries } = result;
  const { bedsGivenTwice, studentsWithTwoRooms, teamsTornApart, answersLost } = result;
  return {
    title: result.way,
    cells: [
      plain(perSecond(result.requestsPerSecond)),
      ...[latencyMs.p50, latencyMs.p99, latencyMs.max].map((ms) => plain(milliseconds(ms))),
      plain(count(retries)),
      ...[bedsGivenTwice, studentsWithTwoRooms, teamsTornApart, answersLost].map(judged),
    ],
  };
}

function plain(text: string): Cell {
  return { text, tone: "plain" };
}

function judged(number: number): Cell {
  return { text: count(number), tone: number > 0 ? "bad" : "good" };
}
