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
import { type VARIANT_NAMES, variantOf } from "../variants.js";

const WIDTH = 860;
const PANEL_HEIGHT = 130;
/** Of one line. */
const MOST_POINTS = 2_000;
/** Below this a latency is drawn as this: the scale is logarithmic. */
const LEAST_MS = 0.1;

function colorOf(outcome: VariantOutcome): string {
  return `var(--variant-${outcome.result.name})`;
}

function titleOf(outcome: VariantOutcome): string {
  return variantOf(outcome.result.name).title;
}

/** Every so-many-th point and the last: a large sale must not make a file that no browser likes. */
function thinned<Point>(points: readonly Point[]): Point[] {
  const step = Math.max(1, Math.ceil(points.length / MOST_POINTS));
  return points.filter((_, index) => index % step === 0 || index === points.length - 1);
}

function draw(options: Plot.PlotOptions): string {
  const { document } = parseHTML("<html></html>");
  const style = { fontSize: "12px", background: "none" };
  return Plot.plot({
    width: WIDTH,
    marginTop: 30,
    marginLeft: 48,
    marginBottom: 46,
    ...options,
    document,
    style,
  }).outerHTML;
}

/** How many buyers have bought, beside how many could. */
export function soldOverTime(outcomes: readonly VariantOutcome[], stock: number): string {
  const points = outcomes.flatMap((outcome) => {
    const title = titleOf(outcome);
    const sales = outcome.trace.soldAtMs.map((atMs, index) => ({
      seconds: atMs / 1_000,
      sold: index + 1,
      title,
    }));
    return [{ seconds: 0, sold: 0, title }, ...thinned(sales)];
  });
  return draw({
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

/** One panel per variant: what every sale left, in the order of time. A rising line is a write that undid others. */
export function stockOverTime(outcomes: readonly VariantOutcome[], stock: number): string {
  const points = outcomes.flatMap((outcome) =>
    thinned(outcome.trace.stock).map(({ atMs, left }) => ({
      seconds: atMs / 1_000,
      left,
      title: titleOf(outcome),
    })),
  );
  return draw({
    height: PANEL_HEIGHT * outcomes.length + 60,
    marginRight: 150,
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

/** For each variant, which share of the buyers was answered within a given time. */
export function latencyDistribution(outcomes: readonly VariantOutcome[]): string {
  const points = outcomes.flatMap((outcome) => {
    const { latenciesMs } = outcome.trace;
    const title = titleOf(outcome);
    const shares = latenciesMs.map((ms, index) => ({ ms, share: (index + 1) / latenciesMs.length, title }));
    return thinned(shares).map(({ ms, ...point }) => ({ ...point, ms: Math.max(ms, LEAST_MS) }));
  });
  return draw({
    height: 320,
    x: {
      type: "log",
      label: "answered within, ms",
      labelOffset: 40,
      ticks: ticksWithin(points),
      tickFormat: String,
    },
    y: { label: "% of the buyers", domain: [0, 100], percent: true, grid: true },
    color: { domain: outcomes.map(titleOf), range: outcomes.map(colorOf) },
    marks: [
      Plot.ruleY([0]),
      Plot.gridX(ticksWithin(points)),
      Plot.line(points, { x: "ms", y: "share", stroke: "title", curve: "step-after", strokeWidth: 2 }),
    ],
  });
}

/** 1, 2 and 5 in every decade: what a logarithmic scale marks by itself is too dense to read. */
function ticksWithin(points: readonly { readonly ms: number }[]): number[] {
  const all = points.map(({ ms }) => ms);
  const [least, most] = all.reduce(
    ([low, high], ms) => [Math.min(low, ms), Math.max(high, ms)],
    [Infinity, LEAST_MS],
  );
  const decades = [0.1, 1, 10, 100, 1_000, 10_000];
  return decades
    .flatMap((decade) => [decade, 2 * decade, 5 * decade])
    .filter((ms) => ms >= least && ms <= most);
}

/** Colours that are told apart in either setting and with weak colour sight (after Okabe and Ito). */
export const VARIANT_COLORS: Readonly<
  Record<(typeof VARIANT_NAMES)[number], { light: string; dark: string }>
> = {
  none: { light: "#c2410c", dark: "#ff8a5c" },
  mutex: { light: "#0072b2", dark: "#5cb8f0" },
  fenced: { light: "#00795a", dark: "#3fd0a2" },
  script: { light: "#8e4585", dark: "#e29ad8" },
};
