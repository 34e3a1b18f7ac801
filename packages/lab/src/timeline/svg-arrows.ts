/** The messages of a drawing, and what they say where there is room for it. */
import { BAR_WIDTH, type Grid, type PlacedRow, widthOf } from "./grid.js";
import { type Box, boxOf, type Labels } from "./labels.js";
import type { RowArrow } from "./rows.js";
import { line, text } from "./svg-shapes.js";
import type { Arrow, Timeline } from "./timeline.js";

/** From the lane of the sender to that of the receiver, or to where the message is lost. */
interface Way {
  readonly arrow: Arrow;
  readonly part: RowArrow["part"];
  readonly x: number;
  readonly y: number;
  readonly endX: number;
  readonly endY: number;
}

const HALF_BAR = BAR_WIDTH / 2;
const SIZE = 12;
/** How near the time of a row a message is drawn that was sent longer before than rows are apart. */
const STEEPEST = 40;
const LEVEL = 16;

export function drawArrows(timeline: Timeline, grid: Grid, labels: Labels): string[] {
  const ways = grid.rows.flatMap((row) => row.arrows.flatMap((one) => wayOf(one, row, timeline, grid) ?? []));
  return ways.flatMap((way) => [
    ...drawLine(way),
    labelOf(
      way,
      ways.filter((other) => other !== way),
      grid,
      labels,
    ),
  ]);
}

function wayOf({ arrow, part }: RowArrow, row: PlacedRow, timeline: Timeline, grid: Grid): Way | undefined {
  // Drawn where it arrives.
  if (part === "sent") return undefined;
  const step = Math.sign(grid.x(arrow.to) - grid.x(arrow.from)) || 1;
  const x = edge(arrow.from, arrow.sentMs, step, timeline, grid);
  const to = edge(arrow.to, row.atMs, -step, timeline, grid);
  if (part === "lost") {
    const endX = x + step * Math.min(Math.abs(to - x) / 2, grid.laneGap * 0.55);
    return { arrow, part, x, y: row.y, endX, endY: row.y + 12 };
  }
  const sentY = Math.min(grid.y(arrow.sentMs), row.y);
  const isNear = part === "received" || row.y - sentY <= STEEPEST;
  return { arrow, part, x, y: isNear ? sentY : row.y - LEVEL, endX: to, endY: row.y };
}

/** Where a message leaves or reaches a lane: at the side of what is drawn on it. */
function edge(
  lane: string,
  atMs: number,
  step: number,
  { bars = [], marks = [] }: Timeline,
  grid: Grid,
): number {
  const own = bars.filter(
    (bar) => bar.lane === lane && bar.kind !== "wait" && bar.fromMs <= atMs && atMs <= bar.toMs,
  );
  const isMarked = marks.some((mark) => mark.lane === lane && mark.atMs === atMs && mark.kind !== "note");
  const isPaused = own.some(({ kind }) => kind === "pause");
  const bar = own.length === 0 ? 1 : isPaused ? HALF_BAR + 5 : HALF_BAR;
  return grid.x(lane) + step * Math.max(bar, isMarked ? 12 : 0);
}

function drawLine({ part, x, y, endX, endY }: Way): string[] {
  if (part === "lost") {
    const cross = `<path class="cross" d="M${endX - 6} ${endY - 6}l12 12m0 -12l-12 12"/>`;
    return [line("arrow lost", x, y, endX, endY), cross];
  }
  const angle = ((Math.atan2(endY - y, endX - x) * 180) / Math.PI).toFixed(1);
  const tip = `<path class="tip" d="M0 0L-10 -4.5V4.5Z" transform="translate(${endX} ${endY}) rotate(${angle})"/>`;
  return [line(part === "received" ? "arrow late" : "arrow", x, y, endX, endY), tip];
}

/** Along the line, above or below it, in the first space between two lanes that has room; the story has it anyway. */
function labelOf(way: Way, others: readonly Way[], grid: Grid, labels: Labels): string {
  const { label } = way.arrow;
  const half = widthOf(label, SIZE) / 2;
  const step = Math.sign(way.endX - way.x);
  const slope = (way.endY - way.y) / (way.endX - way.x || 1);
  const room = grid.laneGap - BAR_WIDTH - 8;
  const length = Math.abs(way.endX - way.x);
  if (2 * half > Math.min(room, length - 14)) return "";
  for (let from = 4; from + 2 * half <= length - 10; from += grid.laneGap) {
    const x = way.x + step * (from + half + 4);
    const ends = [way.y + slope * (x - half - way.x), way.y + slope * (x + half - way.x)];
    // An answer begins where its request arrives, so there the room is below.
    const [above, below] = [Math.min(...ends) - 4, Math.max(...ends) + 13];
    for (const y of step > 0 ? [above, below] : [below, above]) {
      const box = boxOf(label, x, y, SIZE);
      if (others.some((other) => isCrossed(box, other)) || !labels.take(box)) continue;
      return text("said", x, y, label);
    }
  }
  return "";
}

/** Whether the line runs through the box: it is there at the box's sides, or between them. */
function isCrossed({ x, y, width, height }: Box, way: Way): boolean {
  const [left, right] = [Math.min(way.x, way.endX), Math.max(way.x, way.endX)];
  const [fromX, toX] = [Math.max(x, left), Math.min(x + width, right)];
  if (fromX > toX) return false;
  const slope = (way.endY - way.y) / (way.endX - way.x || 1);
  const ends = [way.y + slope * (fromX - way.x), way.y + slope * (toX - way.x)];
  return Math.max(...ends) > y && Math.min(...ends) < y + height;
}
