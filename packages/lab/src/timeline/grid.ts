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

/** Wide: what is told stands beside its row. Narrow, for a phone: below the drawing, by its time. */
export type Layout = "wide" | "narrow";

const TIME_WIDTH = { wide: 84, narrow: 66 } as const;
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
  /** Where the times end, and the lanes begin. */
  readonly timeEnd: number;
  readonly laneGap: number;
  readonly lanesEnd: number;
  readonly storyX: number;
  readonly width: number;
  readonly layout: Layout;
  readonly #laneX: ReadonlyMap<string, number>;

  constructor(timeline: Timeline, top: number, layout: Layout = "wide") {
    const count = timeline.lanes.length;
    const longest = Math.max(0, ...timeline.lanes.map(({ id, title }) => (title ?? id).length));
    const least = layout === "narrow" ? 84 : count > 6 ? 92 : count > 4 ? 110 : 150;
    this.top = top;
    this.layout = layout;
    this.timeEnd = TIME_WIDTH[layout];
    this.laneGap = Math.max(least, longest * 7.4 + 24);
    this.#laneX = new Map(timeline.lanes.map(({ id }, at) => [id, this.timeEnd + this.laneGap * (at + 0.5)]));
    this.lanesEnd = this.timeEnd + this.laneGap * count;
    const beside = count > 6 ? NARROW_STORY_WIDTH : STORY_WIDTH;
    this.storyX = layout === "narrow" ? this.timeEnd + 6 : this.lanesEnd + 20;
    this.width = layout === "narrow" ? this.lanesEnd + 10 : this.storyX + beside + 16;
    const letters = Math.floor((this.width - this.storyX - (layout === "narrow" ? 6 : 16)) / LETTER);
    this.rows = placed(rowsOf(timeline), top + ROW, letters, layout);
    const last = this.rows.at(-1);
    const lines = layout === "narrow" ? 0 : (last?.lines.length ?? 0);
    this.bottom = last ? last.y + Math.max(ROW, lines * LINE) : top + ROW;
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

function placed(rows: readonly Row[], top: number, letters: number, layout: Layout): PlacedRow[] {
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
    y += layout === "narrow" ? ROW : Math.max(ROW, lines.length * LINE + 12);
    return own;
  });
}

/** What a text takes at most, in a font of this size. */
export function widthOf(text: string, size: number): number {
  return text.length * size * 0.6;
}
