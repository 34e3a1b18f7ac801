/** Where things are in a drawing of a timeline: lanes by x, time by y, in units of one pixel. */
import { isLongGap, type Row, rowsOf, type Tone, wrap } from "./rows.js";
import type { Timeline } from "./timeline.js";

/** A row's place, and its sentences in lines. */
export interface PlacedRow extends Row {
  readonly y: number;
  readonly lines: readonly { readonly text: string; readonly tone: Tone }[];
  /** Where the long time before it is left out. */
  readonly gapY: number | undefined;
}

const TIME_WIDTH = 84;
const STORY_WIDTH = 390;
const NARROW_STORY_WIDTH = 330;
/** A column of text in the story: what a letter takes on average, and somewhat more. */
const LETTER = 6.9;
const BOLD = 0.88;
export const LINE = 17;
const ROW = 32;
const GAP = 40;
export const BAR_WIDTH = 44;

export class Grid {
  readonly rows: readonly PlacedRow[];
  readonly top: number;
  readonly bottom: number;
  readonly laneGap: number;
  readonly lanesEnd: number;
  readonly storyX: number;
  readonly width: number;
  readonly #laneX: ReadonlyMap<string, number>;

  constructor(timeline: Timeline, top: number) {
    const count = timeline.lanes.length;
    const longest = Math.max(0, ...timeline.lanes.map(({ id, title }) => (title ?? id).length));
    this.top = top;
    this.laneGap = Math.max(count > 6 ? 92 : count > 4 ? 110 : 150, longest * 7.4 + 24);
    this.#laneX = new Map(timeline.lanes.map(({ id }, at) => [id, TIME_WIDTH + this.laneGap * (at + 0.5)]));
    this.lanesEnd = TIME_WIDTH + this.laneGap * count;
    this.storyX = this.lanesEnd + 20;
    const story = count > 6 ? NARROW_STORY_WIDTH : STORY_WIDTH;
    this.width = this.storyX + story + 16;
    this.rows = placed(rowsOf(timeline), top + ROW, Math.floor(story / LETTER));
    const last = this.rows.at(-1);
    this.bottom = last ? last.y + Math.max(ROW, last.lines.length * LINE) : top + ROW;
  }

  x(lane: string): number {
    const x = this.#laneX.get(lane);
    if (x === undefined) throw new Error(`there is no lane ${lane}`);
    return x;
  }

  /** Between two rows time goes evenly. */
  y(atMs: number): number {
    const next = this.rows.findIndex((row) => row.atMs >= atMs);
    const after = this.rows[next];
    if (after === undefined) return this.bottom;
    const before = this.rows[next - 1];
    if (after.atMs === atMs || before === undefined) return after.y - (after.atMs === atMs ? 0 : ROW / 2);
    return before.y + ((after.y - before.y) * (atMs - before.atMs)) / (after.atMs - before.atMs);
  }
}

function placed(rows: readonly Row[], top: number, letters: number): PlacedRow[] {
  let y = top;
  return rows.map((row, at) => {
    const gapY = isLongGap(rows, at) ? y : undefined;
    if (gapY !== undefined) y += GAP;
    const lines = row.told.flatMap(({ text, tone }) =>
      wrap(text, tone === "bad" || tone === "good" ? Math.floor(letters * BOLD) : letters).map((line) => ({
        text: line,
        tone,
      })),
    );
    const own = { ...row, y, lines, gapY };
    y += Math.max(ROW, lines.length * LINE + 12);
    return own;
  });
}

/** What a text takes at most, in a font of this size. */
export function widthOf(text: string, size: number): number {
  return text.length * size * 0.6;
}
