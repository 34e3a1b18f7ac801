/** A timeline for a terminal: one line for each row, in characters of one column; colour is not needed. */
import { clockOf, isLongGap, lasting, NO_BREAK, type Row, type RowArrow, rowsOf, wrap } from "./rows.js";
import { absences, type Bar, type Lane, type Mark, type Timeline } from "./timeline.js";

export interface TextOptions {
  /** Columns of the terminal, 60 at least. @default 100 */
  readonly columns?: number;
}

/** Columns for the sentences at least, and for a lane at most and at least. */
const TELLING = 34;
const WIDEST_LANE = 14;
const NARROWEST_LANE = 3;

const IDLE_PAUSE = "░";

const ofBars = { hold: "█", stale: "▓", wait: "┊", pause: "▒" } as const;
const ofMarks: Readonly<Record<Mark["kind"], string>> = {
  pause: "‖",
  crash: "✖",
  restart: "↻",
  clock: "◷",
  lost: "◇",
  refused: "⊘",
  violation: "!",
  note: "•",
};
const meanings = {
  ...{
    "█": "has the lock",
    "▓": "only believes that it has it",
    "┊": "waits",
    "▒": "has it and is paused",
    "░": "is paused",
  },
  ...{
    "✖": "crashed",
    "↻": "started again",
    "◷": "clock set",
    "◇": "lease lost",
    "⊘": "refused by the fence",
    "✗": "message lost",
  },
  "!": "a rule is broken",
} as const;
/** Where no rule is broken, or none is known to be. */
const MERE_DANGER = "here it can go wrong";

export function drawText(timeline: Timeline, options: TextOptions = {}): string {
  const drawing = new TextDrawing(timeline, Math.max(60, options.columns ?? 100));
  return drawing.draw();
}

class TextDrawing {
  readonly #timeline: Timeline;
  readonly #rows: readonly Row[];
  readonly #columns: number;
  readonly #laneWidth: number;
  readonly #timeWidth: number;
  readonly #show: (atMs: number) => string;
  readonly #unit: string;
  /** Labels of bars that have begun, and are not written yet. */
  #labels: Bar[] = [];

  constructor(timeline: Timeline, columns: number) {
    this.#timeline = timeline;
    this.#columns = columns;
    this.#rows = rowsOf(timeline);
    const { unit, show } = clockOf(this.#rows);
    this.#show = show;
    this.#unit = unit;
    this.#timeWidth = Math.max(unit.length, ...this.#rows.map(({ atMs }) => show(atMs).length));
    const room = columns - this.#timeWidth - 5 - TELLING;
    const lanes = Math.max(1, timeline.lanes.length);
    this.#laneWidth = Math.max(NARROWEST_LANE, Math.min(WIDEST_LANE, Math.floor(room / lanes)));
  }

  draw(): string {
    const lines = [this.#timeline.title, ...wrap(this.#timeline.caption ?? "", this.#columns), ""];
    lines.push(...this.#header());
    for (const [at, row] of this.#rows.entries()) {
      if (isLongGap(this.#rows, at)) lines.push(this.#gap(at));
      lines.push(...this.#row(row, this.#rows[at - 1]));
    }
    const drawn = lines.map((line) => line.trimEnd());
    const legend = this.#legend(drawn).map((line) => line.trimEnd());
    return `${[...drawn, "", ...legend].join("\n")}\n`;
  }

  /** Names in a line when they fit above their lanes, else each on a line of its own, as flags on poles. */
  #header(): string[] {
    const { lanes } = this.#timeline;
    const titles = lanes.map(titleOf);
    const margin = this.#line(this.#unit, " ", "", "")
      .trimEnd()
      .padEnd(this.#timeWidth + 3);
    const fit = titles.every((title, at) => title.length < this.#laneWidth || at === titles.length - 1);
    if (fit) return [margin + titles.map((title) => title.padEnd(this.#laneWidth)).join("")];
    const blank = " ".repeat(margin.length);
    return titles.map((title, at) => {
      const poles = "│".padEnd(this.#laneWidth).repeat(at);
      return (at === titles.length - 1 ? margin : blank) + poles + title;
    });
  }

  #row(row: Row, before: Row | undefined): string[] {
    const cells = this.#cells(row.atMs);
    for (const { lane, kind } of row.marks) cells[this.#columnOf(lane)] = ofMarks[kind];
    for (const arrow of row.arrows) this.#drawArrow(cells, arrow, row);
    this.#labels.push(...row.bars.filter(({ fromMs, label }) => fromMs === row.atMs && label));
    const flag = row.told.some(({ tone }) => tone === "bad") ? "!" : " ";
    const time = row.atMs === before?.atMs ? "" : this.#show(row.atMs);
    const told = wrap(
      row.told.map(({ text }) => text).join("; "),
      this.#columns - this.#timeWidth - 5 - cells.length,
    );
    return [told[0] ?? "", ...told.slice(1)].map((line, at) => {
      const drawn = at === 0 ? cells : this.#between(row.atMs);
      this.#writeLabels(drawn, row.atMs);
      return this.#line(at === 0 ? time : "", flag, drawn.join(""), line);
    });
  }

  #gap(at: number): string {
    const [before, after] = [this.#rows[at - 1]!, this.#rows[at]!];
    const cells = this.#between(before.atMs).map((cell) => (cell === "│" ? "⋮" : cell));
    this.#writeLabels(cells, before.atMs);
    return this.#line("⋮", " ", cells.join(""), `${lasting(after.atMs - before.atMs)} pass`);
  }

  #line(time: string, flag: string, lanes: string, told: string): string {
    return `${time.padStart(this.#timeWidth)} ${flag} ${lanes}  ${told}`;
  }

  /** The lanes at one moment. */
  #cells(atMs: number): string[] {
    return this.#lanesAs(({ id }) => {
      const ended = this.#barsOf(id).find(({ toMs, kind }) => toMs === atMs && kind !== "wait");
      const now = this.#glyph(id, atMs);
      return ended && now === "│" ? "▀" : now;
    });
  }

  /** The lanes just after it. */
  #between(atMs: number): string[] {
    return this.#lanesAs(({ id }) => this.#glyph(id, atMs));
  }

  #lanesAs(glyph: (lane: Lane) => string): string[] {
    return [...this.#timeline.lanes.map((lane) => glyph(lane).padEnd(this.#laneWidth)).join("")];
  }

  #glyph(lane: string, atMs: number): string {
    if (absences(this.#timeline, lane).some(({ fromMs, toMs }) => fromMs <= atMs && atMs < toMs)) return " ";
    const now = this.#barsOf(lane).filter(({ fromMs, toMs }) => fromMs <= atMs && atMs < toMs);
    const kinds = ["pause", "stale", "hold", "wait"] as const;
    const kind = kinds.find((one) => now.some((bar) => bar.kind === one));
    if (kind === "pause" && !now.some((bar) => bar.kind === "hold")) return IDLE_PAUSE;
    return kind ? ofBars[kind] : "│";
  }

  #barsOf(lane: string): readonly Bar[] {
    return (this.#timeline.bars ?? []).filter((bar) => bar.lane === lane);
  }

  #drawArrow(cells: string[], { arrow, part }: RowArrow, row: Row): void {
    const [from, to] = [this.#columnOf(arrow.from), this.#columnOf(arrow.to)];
    const step = Math.sign(to - from);
    const line = part === "whole" ? "─" : "┄";
    const isRefused = row.marks.some(({ lane, kind }) => lane === arrow.to && kind === "refused");
    const head = part === "lost" ? "✗" : step > 0 ? "▶" : "◀";
    for (let at = from + step; at !== to; at += step) {
      const crossed = cells[at] === " " ? line : cells[at] === "│" ? (line === "─" ? "┼" : "┆") : cells[at]!;
      cells[at] = crossed;
    }
    if (cells[from] === "│" && part !== "received") cells[from] = step > 0 ? "├" : "┤";
    if (part === "sent") return;
    const end = part === "lost" ? from + step * Math.max(1, Math.round(Math.abs(to - from) / 2)) : to - step;
    for (let at = end + step; part === "lost" && at !== to; at += step) {
      if (cells[at] === line) cells[at] = " ";
      else if (cells[at] === "┆") cells[at] = "│";
    }
    if (step !== 0) cells[end] = head;
    if (isRefused) cells[to] = ofMarks.refused;
  }

  /** Beside its bar, on the first line with room for it. */
  #writeLabels(cells: string[], atMs: number): void {
    this.#labels = this.#labels.filter(({ lane, label = "", toMs }) => {
      const start = this.#columnOf(lane) + 1;
      const room = cells.slice(start, start + this.#laneWidth - 1);
      const fits = label.length < this.#laneWidth - 1 && room.every((cell) => cell === " ");
      if (fits) for (const [at, letter] of [...label].entries()) cells[start + at] = letter;
      return !fits && toMs > atMs;
    });
  }

  #columnOf(lane: string): number {
    return this.#timeline.lanes.findIndex(({ id }) => id === lane) * this.#laneWidth;
  }

  get #isBroken(): boolean {
    const { marks = [], bands = [] } = this.#timeline;
    return [...marks, ...bands].some(({ kind }) => kind === "violation");
  }

  #named(glyph: string, meaning: string): string {
    return glyph === ofBars.hold ? (this.#timeline.held ?? meaning) : meaning;
  }

  /** What was drawn, and no more. */
  #legend(lines: readonly string[]): string[] {
    const text = lines.slice(1).join("");
    const used = Object.entries(meanings).filter(([glyph]) => text.includes(glyph));
    return wrap(
      used
        .map(([glyph, meaning]) =>
          glyph === "!" && !this.#isBroken ? [glyph, MERE_DANGER] : [glyph, this.#named(glyph, meaning)],
        )
        .map((row) => row.join(" ").replaceAll(" ", NO_BREAK))
        .join("  "),
      this.#columns,
    );
  }
}

function titleOf({ id, title }: Lane): string {
  return title ?? id;
}
