/**
 * The pictures of the report, as SVG text: drawn by Observable Plot on a DOM in memory, so that the page needs no
 * script. Colours are CSS variables and follow the reader's light or dark setting.
 */
import * as Plot from "@observablehq/plot";
import { parseHTML } from "linkedom";
import { type WayOutcome, WISH_PLACES } from "../result.js";

/** Each picture is drawn twice: one for wide screens that is scaled down cannot be read on a telephone. */
export const SCREENS = ["wide", "narrow"] as const;
export type Screen = (typeof SCREENS)[number];

const WIDTH: Readonly<Record<Screen, number>> = { wide: 860, narrow: 400 };
/** Of one line. */
const MOST_POINTS: Readonly<Record<Screen, number>> = { wide: 2_000, narrow: 500 };

/** Students who have their result, over time. A dashed line marks each kill. */
export function resultsOverTime(screen: Screen, outcomes: readonly WayOutcome[]): string {
  const points = outcomes.flatMap(({ result, trace }) => [
    { seconds: 0, students: 0, way: result.way },
    ...thinned(
      screen,
      trace.decidedAtMs.map((atMs, at) => ({ seconds: atMs / 1_000, students: at + 1, way: result.way })),
    ),
  ]);
  const kills = outcomes.flatMap(({ result }) =>
    result.killed.map(({ atMs }) => ({ seconds: atMs / 1_000, way: result.way })),
  );
  return draw(screen, {
    height: 300,
    x: { label: "seconds since the start", labelOffset: 40, grid: true },
    y: { label: "students with a result", grid: true },
    color: colorsOf(outcomes),
    marks: [
      Plot.ruleY([0]),
      Plot.ruleX(kills, { x: "seconds", stroke: "way", strokeDasharray: "3 4", strokeOpacity: 0.8 }),
      Plot.line(points, { x: "seconds", y: "students", stroke: "way", curve: "step-after", strokeWidth: 2 }),
    ],
  });
}

/** The share of the students who had their result within a given time. */
export function latencyDistribution(screen: Screen, outcomes: readonly WayOutcome[]): string {
  const points = outcomes.flatMap(({ result, trace }) => {
    const { latenciesMs } = trace;
    const shares = latenciesMs.map((ms, at) => ({
      ms: Math.max(1, ms),
      share: (at + 1) / latenciesMs.length,
      way: result.way,
    }));
    return thinned(screen, shares);
  });
  const ticks = ticksWithin(screen, points);
  return draw(screen, {
    height: 320,
    x: { type: "log", axis: null },
    y: { label: "% of the students", domain: [0, 100], percent: true, grid: true },
    color: colorsOf(outcomes),
    marks: [
      Plot.ruleY([0]),
      // An axis of its own: Plot leaves the text out at every other tick of a logarithmic scale.
      Plot.axisX(ticks, { text: String, label: "result within, ms", labelOffset: 40 }),
      Plot.gridX(ticks),
      Plot.line(points, { x: "ms", y: "share", stroke: "way", curve: "step-after", strokeWidth: 2 }),
    ],
  });
}

/** Students by the place of their room among their wishes, both ways side by side. */
export function roomsByWish(screen: Screen, outcomes: readonly WayOutcome[]): string {
  const names = [...Array.from({ length: WISH_PLACES }, (_, at) => placeOf(at + 1)), "other", "no room"];
  const bars = outcomes.flatMap(({ result, trace }) =>
    trace.byWish.map((students, at) => ({ wish: names[at], students, way: result.way })),
  );
  return draw(screen, {
    height: 110 * outcomes.length + (screen === "wide" ? 60 : 80),
    marginBottom: screen === "wide" ? 46 : 66,
    marginRight: screen === "wide" ? 80 : 60,
    x: { label: null, domain: names, ...(screen === "narrow" ? { tickRotate: -40 } : {}) },
    y: { label: "students", ticks: 4, grid: true },
    fy: { label: null, domain: waysOf(outcomes), padding: 0.18 },
    color: colorsOf(outcomes),
    marks: [Plot.ruleY([0]), Plot.barY(bars, { x: "wish", y: "students", fy: "way", fill: "way" })],
  });
}

function placeOf(place: number): string {
  return place < WISH_PLACES ? `wish ${place}` : `wish ${place}+`;
}

function draw(screen: Screen, options: Plot.PlotOptions): string {
  const { document } = parseHTML("<html></html>");
  const style = { fontSize: "12px", background: "none" };
  const margins = { marginTop: 30, marginLeft: 52, marginBottom: 46 };
  return Plot.plot({ width: WIDTH[screen], ...margins, ...options, document, style }).outerHTML;
}

function waysOf(outcomes: readonly WayOutcome[]): string[] {
  return outcomes.map(({ result }) => result.way);
}

function colorsOf(outcomes: readonly WayOutcome[]): { domain: string[]; range: string[] } {
  const ways = waysOf(outcomes);
  return { domain: ways, range: ways.map((way) => `var(--way-${way})`) };
}

/** Every so-many-th point and the last. */
function thinned<Point>(screen: Screen, points: readonly Point[]): Point[] {
  const step = Math.max(1, Math.ceil(points.length / MOST_POINTS[screen]));
  return points.filter((_, at) => at % step === 0 || at === points.length - 1);
}

/** As many in every decade as there is room for their text. */
function ticksWithin(screen: Screen, points: readonly { readonly ms: number }[]): number[] {
  const steps = screen === "wide" ? [1, 2, 5] : [1, 3];
  const least = points.reduce((low, { ms }) => Math.min(low, ms), Infinity);
  const most = points.reduce((high, { ms }) => Math.max(high, ms), 1);
  return [1, 10, 100, 1_000, 10_000, 100_000]
    .flatMap((decade) => steps.map((step) => step * decade))
    .filter((ms) => ms >= least && ms <= most);
}
