/** A table as wide as there is room: long texts are cut first, then the least important columns go. */
import type { Ruler } from "./width.js";

export interface Column {
  readonly head: string;
  readonly align: "left" | "right";
  /** Whether its texts may be cut. */
  readonly shrinks: boolean;
  /** The lower, the sooner it is left out. */
  readonly rank: number;
}

const GAP = 2;
const LEAST_SHRUNK = 8;

/** The lines of the table, the head first. Cells are plain text. */
export function tableOf(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number,
  ruler: Ruler,
): string[] {
  const naturals = columns.map((_, place) => naturalWidth(columns, place, rows, ruler));
  const places = placesThatFit(columns, naturals, width);
  const widths = shrunk(columns, places, naturals, width);
  const line = (cells: readonly string[]): string =>
    places
      .map((place, at) => {
        const room = widths[at] as number;
        return ruler.padded(ruler.clipped(cells[place] ?? "", room), room, (columns[place] as Column).align);
      })
      .join(" ".repeat(GAP))
      .trimEnd();
  return [columns.map(({ head }) => head), ...rows].map(line);
}

function naturalWidth(
  columns: readonly Column[],
  place: number,
  rows: readonly (readonly string[])[],
  ruler: Ruler,
): number {
  const head = ruler.widthOf(columns[place]?.head ?? "");
  return rows.reduce((widest, row) => Math.max(widest, ruler.widthOf(row[place] ?? "")), head);
}

function placesThatFit(
  columns: readonly Column[],
  naturals: readonly number[],
  width: number,
): readonly number[] {
  const least = (place: number): number => {
    const natural = naturals[place] as number;
    return columns[place]?.shrinks ? Math.min(natural, LEAST_SHRUNK) : natural;
  };
  const byRank = columns.map((_, place) => place).sort((a, b) => rankOf(columns, a) - rankOf(columns, b));
  for (let gone = 0; gone < byRank.length; gone += 1) {
    const kept = byRank.slice(gone).sort((a, b) => a - b);
    if (kept.reduce((sum, place) => sum + least(place), GAP * (kept.length - 1)) <= width) return kept;
  }
  return byRank.slice(-1);
}

function rankOf(columns: readonly Column[], place: number): number {
  return columns[place]?.rank ?? 0;
}

/** Cuts the excess width from the widest columns that may be cut. */
function shrunk(
  columns: readonly Column[],
  places: readonly number[],
  naturals: readonly number[],
  width: number,
): readonly number[] {
  const widths = places.map((place) => naturals[place] as number);
  const over = (): number => widths.reduce((sum, each) => sum + each, GAP * (widths.length - 1)) - width;
  while (over() > 0) {
    const widest = places
      .map((place, at) => ({ at, width: columns[place]?.shrinks ? (widths[at] as number) : 0 }))
      .reduce((a, b) => (b.width > a.width ? b : a));
    if (widest.width <= 1) break;
    widths[widest.at] = widest.width - 1;
  }
  return widths;
}
