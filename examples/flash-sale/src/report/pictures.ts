/**
 * The pictures of the report, as SVG text.
 *
 * Drawn by Observable Plot on a DOM in memory, not in the browser: axes, scales and legends are a library's business,
 * and the page then needs no script, prints, and reads offline. Colours are CSS variables, so that they follow the
 * reader's light or dark setting.
 */
import * as Plot from "@observablehq/plot";
import { parseHTML } from "linkedom";
import type { VariantOutcome } from "../sale.js";
import { variantOf } from "../variants.js";

/** A picture is drawn for wide and for narrow screens: scaled down, one for both could not be read on a telephone. */
export const SCREENS = ["wide", "narrow"] as const;
export type Screen = (typeof SCREENS)[number];

const WIDTH: Readonly<Record<Screen, number>> = { wide: 860, narrow: 400 };
const PANEL_HEIGHT = 130;
/** Sales in the picture that shows single ones. */
const FIRST_SALES = 80;
/** Of one line. */
const MOST_POINTS: Readonly<Record<Screen, number>> = { wide: 2_000, narrow: 500 };
/** Below this a latency is drawn as this: the scale is logarithmic. */
const LEAST_MS = 0.1;

function colorOf(outcome: VariantOutcome): string {
  return `var(--variant-${outcome.result.name})`;
}

function titleOf(outcome: VariantOutcome): string {
  return variantOf(outcome.result.name).title;
}

/** Every so-many-th point and the last: a large sale must not make a file that no browser likes. */
function thinned<Point>(screen: Screen, points: readonly Point[]): Point[] {
  const step = Math.max(1, Math.ceil(points.length / MOST_POINTS[screen]));
  return points.filter((_, index) => index % step === 0 || index === points.length - 1);
}

function draw(screen: Screen, options: Plot.PlotOptions): string {
  const { document } = parseHTML("<html></html>");
  const style = { fontSize: "12px", background: "none" };
  return Plot.plot({
    width: WIDTH[screen],
    marginTop: 30,
    marginLeft: 48,
    marginBottom: 46,
    ...options,
    document,
    style,
  }).outerHTML;
}

/** The number of buyers that have bought, and the number that could have. */
export function soldOverTime(screen: Screen, outcomes: readonly VariantOutcome[], stock: number): string {
  const points = outcomes.flatMap((outcome) => {
    const title = titleOf(outcome);
    const sales = outcome.trace.soldAtMs.map((atMs, index) => ({
      seconds: atMs / 1_000,
      sold: index + 1,
      title,
    }));
    return [{ seconds: 0, sold: 0, title }, ...thinned(screen, sales)];
  });
  return draw(screen, {
    height: 300,
    x: { label: "seconds since the first request", labelOffset: 40, grid: true },
    y: { label: "sold", grid: true },
    color: { domain: outcomes.map(titleOf), range: outcomes.map(colorOf) },
    marks: [
      Plot.ruleY([0]),
      Plot.ruleY([stock], { strokeDasharray: "5 4", strokeOpacity: 0.7 }),
      Plot.line(points, { x: "seconds", y: "sold", stroke: "title", curve: "step-after", strokeWidth: 2 }),
    ],
  });
}

/** One panel per variant: what every sale left, in the order of time. */
export function stockOverTime(screen: Screen, outcomes: readonly VariantOutcome[], stock: number): string {
  const points = outcomes.flatMap((outcome) =>
    thinned(screen, outcome.trace.stock).map(({ atMs, left }) => ({
      seconds: atMs / 1_000,
      left,
      title: titleOf(outcome),
    })),
  );
  return draw(screen, {
    height: PANEL_HEIGHT * outcomes.length + 60,
    marginRight: screen === "wide" ? 150 : 100,
    x: { label: "seconds since the first request", labelOffset: 40, grid: true },
    y: { label: "pieces left", domain: [0, stock], ticks: 4, grid: true },
    fy: { label: null, domain: outcomes.map(titleOf), padding: 0.18 },
    color: { domain: outcomes.map(titleOf), range: outcomes.map(colorOf) },
    marks: [
      Plot.frame({ strokeOpacity: 0.15 }),
      Plot.line(points, {
        x: "seconds",
        y: "left",
        fy: "title",
        stroke: "title",
        curve: "step-after",
        strokeWidth: 1.5,
      }),
    ],
  });
}

/** The first sales one by one, each at the number it left. A number left twice is a piece sold twice. */
export function firstSales(screen: Screen, { trace }: VariantOutcome): string {
  const seen = new Set<number>();
  const sales = trace.stock.slice(1, 1 + FIRST_SALES).map(({ atMs, left }) => {
    const again = seen.has(left);
    seen.add(left);
    return { atMs, left, kind: again ? "again" : "first" };
  });
  return draw(screen, {
    height: 260,
    inset: 6,
    x: { label: "ms since the first request", labelOffset: 40, grid: true },
    y: { label: "pieces left", grid: true },
    color: { domain: ["first", "again"], range: ["var(--soft)", "var(--bad)"] },
    marks: [
      Plot.frame({ strokeOpacity: 0.15 }),
      Plot.dot(sales, { x: "atMs", y: "left", fill: "kind", r: screen === "wide" ? 3.5 : 2.5 }),
    ],
  });
}

/** For each variant, which share of the buyers was answered within a given time. */
export function latencyDistribution(screen: Screen, outcomes: readonly VariantOutcome[]): string {
  const points = outcomes.flatMap((outcome) => {
    const { latenciesMs } = outcome.trace;
    const title = titleOf(outcome);
    const shares = latenciesMs.map((ms, index) => ({ ms, share: (index + 1) / latenciesMs.length, title }));
    return thinned(screen, shares).map(({ ms, ...point }) => ({ ...point, ms: Math.max(ms, LEAST_MS) }));
  });
  const ticks = ticksWithin(screen, points);
  return draw(screen, {
    height: 320,
    x: { type: "log", axis: null },
    y: { label: "% of the buyers", domain: [0, 100], percent: true, grid: true },
    color: { domain: outcomes.map(titleOf), range: outcomes.map(colorOf) },
    marks: [
      Plot.ruleY([0]),
      // An axis of its own: Plot leaves the text out at every other tick of a logarithmic scale.
      Plot.axisX(ticks, { text: String, label: "answered within, ms", labelOffset: 40 }),
      Plot.gridX(ticks),
      Plot.line(points, { x: "ms", y: "share", stroke: "title", curve: "step-after", strokeWidth: 2 }),
    ],
  });
}

/** As many in every decade as there is room for their text. */
function ticksWithin(screen: Screen, points: readonly { readonly ms: number }[]): number[] {
  const steps = screen === "wide" ? [1, 2, 5] : [1, 3];
  const all = points.map(({ ms }) => ms);
  const [least, most] = all.reduce(
    ([low, high], ms) => [Math.min(low, ms), Math.max(high, ms)],
    [Infinity, LEAST_MS],
  );
  const decades = [0.1, 1, 10, 100, 1_000, 10_000];
  return decades
    .flatMap((decade) => steps.map((step) => Number((step * decade).toFixed(1))))
    .filter((ms) => ms >= least && ms <= most);
}
