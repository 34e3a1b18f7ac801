/** A timeline's moments in their order, and what is told of each: one row of a drawing, whatever draws it. */
import type { Arrow, Band, Bar, Mark, Timeline } from "./timeline.js";

export type Tone = "plain" | "good" | "fault" | "bad";

/** A message that is drawn in this row. "sent": it arrives in a later one; "received": it was sent in an earlier one. */
export interface RowArrow {
  readonly arrow: Arrow;
  readonly part: "whole" | "sent" | "received" | "lost";
}

export interface Row {
  readonly atMs: number;
  readonly arrows: RowArrow[];
  readonly marks: Mark[];
  readonly bars: Bar[];
  readonly told: Sentence[];
}

/** Without its full stop. */
export interface Sentence {
  readonly text: string;
  readonly tone: Tone;
}

interface Moment {
  readonly atMs: number;
  /** At one time: what ends, what arrives, what it does, what begins, and what is wrong with that. */
  readonly rank: number;
  readonly arrow?: RowArrow;
  readonly mark?: Mark;
  readonly bar?: Bar;
  readonly told: string;
  readonly tone: Tone;
}

const BEGINNING = 3;

export function rowsOf(timeline: Timeline): Row[] {
  const titles = new Map(timeline.lanes.map(({ id, title }) => [id, title ?? id]));
  const nameOf = (lane: string): string => {
    const title = titles.get(lane);
    if (title === undefined) throw new Error(`there is no lane ${lane}`);
    return title;
  };
  const moments: Moment[] = [
    ...(timeline.bars ?? []).flatMap((bar) => momentsOfBar(bar, nameOf)),
    ...(timeline.marks ?? []).map((mark) => momentOfMark(mark, nameOf)),
    ...(timeline.bands ?? []).map(momentOfBand),
  ];
  moments.push(...momentsOfArrows(timeline.arrows ?? [], moments, nameOf));
  // An end that nobody tells of is seen in the drawing, and needs no row.
  const seen = moments.filter(
    ({ told, arrow, mark, rank }) => told !== "" || arrow || mark || rank === BEGINNING,
  );
  return joined(seen.sort((a, b) => a.atMs - b.atMs || a.rank - b.rank));
}

/** What happens at one time is one row, unless two messages would lie on each other. */
function joined(moments: readonly Moment[]): Row[] {
  const rows: Row[] = [];
  for (const moment of moments) {
    const { atMs, arrow, mark, bar, told, tone } = moment;
    let at = placeOf(moment, rows);
    if (at === -1) at = rows.push({ atMs, arrows: [], marks: [], bars: [], told: [] }) - 1;
    const row = rows[at]!;
    if (arrow) row.arrows.push(arrow);
    if (mark) row.marks.push(mark);
    if (bar) row.bars.push(bar);
    const isNew = told !== "" && row.told.every(({ text }) => text !== told);
    if (isNew) row.told.push({ text: told, tone });
  }
  return rows;
}

/** The row of the message that brought it about, else the last of that time. -1: a row of its own. */
function placeOf({ atMs, arrow, mark, bar }: Moment, rows: readonly Row[]): number {
  const last = rows.length - 1;
  if (rows[last]?.atMs !== atMs || (arrow && rows[last].arrows.length > 0)) return -1;
  const lane = mark?.lane ?? bar?.lane;
  const cause = rows.findLastIndex(
    (row) => row.atMs === atMs && row.arrows.some(({ arrow: { to } }) => to === lane),
  );
  return cause === -1 ? last : cause;
}

function momentsOfBar(bar: Bar, nameOf: (lane: string) => string): Moment[] {
  const name = nameOf(bar.lane);
  const label = bar.label ? ` ${bar.label}` : "";
  const notes = {
    hold: [`${name} has the lock${label && `, token${label}`}`, `${name} no longer has it`],
    stale: [`${name} still believes that it has the lock`, ""],
    wait: [`${name} waits`, ""],
    pause: [`${name} is paused`, `${name} goes on`],
  }[bar.kind];
  const tone = bar.kind === "pause" ? "fault" : bar.kind === "stale" ? "bad" : "plain";
  const begin = { atMs: bar.fromMs, rank: BEGINNING, bar, told: bar.note ?? notes[0]!, tone } as const;
  if (bar.toMs === Infinity) return [begin];
  return [begin, { atMs: bar.toMs, rank: 0, bar, told: bar.endNote ?? notes[1]!, tone: "plain" }];
}

function momentOfMark(mark: Mark, nameOf: (lane: string) => string): Moment {
  nameOf(mark.lane);
  const tone = { violation: "bad", refused: "good", note: "plain", restart: "plain" } as const;
  const own = mark.kind in tone ? tone[mark.kind as keyof typeof tone] : "fault";
  return { atMs: mark.atMs, rank: own === "bad" ? 5 : 2, mark, told: mark.label, tone: own };
}

function momentOfBand(band: Band): Moment {
  const tone = band.kind === "violation" ? "bad" : "fault";
  return { atMs: band.fromMs, rank: 4, told: band.label, tone };
}

/** How much longer than usual a message takes that is told twice: when it is sent, and when it arrives. */
const LONG = 4;

function momentsOfArrows(
  arrows: readonly Arrow[],
  others: readonly Moment[],
  nameOf: (lane: string) => string,
): Moment[] {
  const times = others.map(({ atMs }) => atMs);
  const usualMs = middleOf(arrows.map(({ sentMs, receivedMs }) => (receivedMs ?? sentMs) - sentMs));
  return arrows.flatMap((arrow): Moment[] => {
    const { from, to, sentMs, receivedMs, label } = arrow;
    const way = `${nameOf(from)} → ${nameOf(to)}: ${label}`;
    const at = (atMs: number, part: RowArrow["part"], told: string, tone: Tone = "plain"): Moment => ({
      atMs,
      rank: 1,
      arrow: { arrow, part },
      told,
      tone,
    });
    if (receivedMs === null) return [at(sentMs, "lost", `${way} (lost)`, "fault")];
    const tookMs = receivedMs - sentMs;
    const isOvertaken = times.some((timeMs) => timeMs > sentMs && timeMs < receivedMs);
    if (!isOvertaken || tookMs <= LONG * usualMs) return [at(receivedMs, "whole", way)];
    return [
      at(sentMs, "sent", `${way} (on its way)`),
      at(receivedMs, "received", `${way} (arrives ${lasting(tookMs)} later)`),
    ];
  });
}

function middleOf(values: readonly number[], share = 0.5): number {
  const sorted = values.filter((value) => value > 0).sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
}

/** `12 s`, `3.5 ms`: two or three digits tell a reader enough. */
export function lasting(timeMs: number): string {
  if (timeMs >= 1000) return `${Number((timeMs / 1000).toPrecision(3))} s`;
  if (timeMs >= 1 || timeMs === 0) return `${Number(timeMs.toPrecision(3))} ms`;
  return `${Number((timeMs * 1000).toPrecision(3))} µs`;
}

/** The times of all rows in one unit, with as many digits as tell them apart. */
export function clockOf(rows: readonly Row[]): {
  readonly unit: "ms" | "s";
  readonly show: (atMs: number) => string;
} {
  const [first, last] = [rows[0]?.atMs ?? 0, rows.at(-1)?.atMs ?? 0];
  const unit = last - first >= 10_000 ? "s" : "ms";
  const scale = unit === "s" ? 1000 : 1;
  const gaps = rows.map(({ atMs }, at) => atMs - (rows[at - 1]?.atMs ?? -Infinity)).filter((gap) => gap > 0);
  const least = Math.min(...gaps) / scale;
  const digits = Math.max(0, Math.min(3, Math.ceil(-Math.log10(least))));
  const isWhole = rows.every(({ atMs }) => Number.isInteger(atMs / scale));
  return { unit, show: (atMs) => (atMs / scale).toFixed(isWhole ? 0 : Number.isFinite(digits) ? digits : 0) };
}

/** Long waits are drawn short, and said: whether the time before this row is one, for the picture and beside the others. */
export function isLongGap(rows: readonly Row[], at: number): boolean {
  const gaps = rows.slice(1).map((row, before) => row.atMs - rows[before]!.atMs);
  const usualMs = middleOf(gaps, 0.4);
  const allMs = (rows.at(-1)?.atMs ?? 0) - (rows[0]?.atMs ?? 0);
  return at > 0 && usualMs > 0 && gaps[at - 1]! >= Math.max(20 * usualMs, allMs / 20);
}

/** Lines of at most `columns`, broken at spaces; a longer word goes over. No-break spaces hold. */
export function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const word of text === "" ? [] : text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= columns)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.map((line) => line.replaceAll(NO_BREAK, " "));
}

export const NO_BREAK = "\u00a0";
