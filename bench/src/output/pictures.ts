/**
 * The pictures of a result, as SVG text: bars for a figure of a case.
 *
 * Drawn by Observable Plot on a DOM in memory, so that the page needs no script. Colours are CSS variables, which follow
 * the reader's light or dark setting.
 */
import * as Plot from "@observablehq/plot";
import { parseHTML } from "linkedom";
import { type FigureName, figures } from "../figures.js";
import type { CaseResult, ContestantResult } from "../result.js";
import { number } from "./numbers.js";

/** Drawn for wide and for narrow screens: scaled down, one for both could not be read on a telephone. */
export const SCREENS = ["wide", "narrow"] as const;
export type Screen = (typeof SCREENS)[number];

const WIDTH: Readonly<Record<Screen, number>> = { wide: 860, narrow: 400 };
const NAMES_WIDTH: Readonly<Record<Screen, number>> = { wide: 190, narrow: 168 };
const ROW_HEIGHT = 26;
/** Larger than this from the least to the most, only a logarithmic scale shows both. */
const LOG_FROM = 30;

interface Row {
  readonly title: string;
  readonly value: number;
  readonly least: number;
  readonly most: number;
  readonly label: string;
  readonly color: string;
}

/** What is drawn of a case: what it is about, and how evenly it was shared. */
export function drawnOf({ primary, columns }: CaseResult): FigureName[] {
  return [primary, ...columns.filter((name) => name === "jain" || name === "p99Ms")];
}

export function pictureOf(screen: Screen, result: CaseResult, figure: FigureName): string {
  const rows = result.contestants.flatMap((each) => rowOf(each, figure));
  const values = rows.map(({ value }) => value);
  const isLog = Math.min(...values) > 0 && Math.max(...values) / Math.min(...values) > LOG_FROM;
  const { document } = parseHTML("<html></html>");
  const place = { x: "value", y: "title" };
  const spread = { x1: "least", x2: "most", y: "title", stroke: "var(--ink)", strokeOpacity: 0.55 };
  return Plot.plot({
    document,
    width: WIDTH[screen],
    height: rows.length * ROW_HEIGHT + 62,
    marginTop: 8,
    marginLeft: NAMES_WIDTH[screen],
    marginRight: 64,
    marginBottom: 44,
    style: { fontSize: "12px", background: "none" },
    x: {
      ...(isLog ? { type: "log" as const } : {}),
      label: headOf(figure) + (isLog ? ", logarithmic" : ""),
      labelOffset: 38,
      grid: true,
      ticks: screen === "wide" ? 6 : 3,
      tickFormat: short,
    },
    y: { type: "band", label: null, domain: rows.map(({ title }) => title), tickSize: 0, padding: 0.25 },
    marks: [
      isLog
        ? Plot.dotX(rows, { ...place, fill: "color", r: 5 })
        : Plot.barX(rows, { ...place, fill: "color" }),
      Plot.ruleY(rows, spread),
      Plot.text(rows, {
        x: "most",
        y: "title",
        text: "label",
        textAnchor: "start",
        dx: 6,
        fill: "var(--ink)",
      }),
      ...(isLog ? [] : [Plot.ruleX([0])]),
    ],
  }).outerHTML;
}

function rowOf({ title, kind, rounds, figures: all }: ContestantResult, figure: FigureName): Row[] {
  const value = all[figure];
  if (value === undefined || !Number.isFinite(value)) return [];
  const values = rounds.map((round) => round[figure] ?? value);
  const label = number(value, figures[figure].digits);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return [{ title, value, least, most, label, color: `var(--${kind})` }];
}

function headOf(name: FigureName): string {
  return figures[name].head.replaceAll("\n", " ").replaceAll(" /", "/");
}

function short(value: number): string {
  return value >= 1_000 ? `${value / 1_000}k` : String(value);
}
