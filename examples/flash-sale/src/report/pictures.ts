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
import { VARIANT_NAMES, variantOf } from "../variants.js";

const WIDTH = 860;
const PANEL_HEIGHT = 120;
/** Below this a latency is drawn as this: the scale is logarithmic. */
const LEAST_MS = 0.1;

function colorOf(outcome: VariantOutcome): string {
  return `var(--variant-${outcome.result.name})`;
}

function titleOf(outcome: VariantOutcome): string {
  return variantOf(outcome.result.name).title;
}

function draw(options: Plot.PlotOptions): string {
  const { document } = parseHTML("<html></html>");
  const figure = Plot.plot({ ...options, document, width: WIDTH, style: { fontSize: "12px", background: "none" } });
  return figure.outerHTML;
}

/** One panel per variant: what every sale left, in the order of time. A rising line is a write that undid others. */
export function stockOverTime(outcomes: readonly VariantOutcome[], stock: number): string {
  const points = outcomes.flatMap((outcome) =>
    outcome.trace.stock.map(({ atMs, left }) => ({ seconds: atMs / 1_000, left, title: titleOf(outcome) })),
  );
  return draw({
    height: PANEL_HEIGHT * outcomes.length + 60,
    marginLeft: 48,
    marginRight: 150,
    x: { label: "seconds since the first request", grid: true },
    y: { label: "pieces left", domain: [0, stock], ticks: 4, grid: true },
    fy: { label: null, domain: outcomes.map(titleOf), padding: 0.18 },
    color: { domain: outcomes.map(titleOf), range: outcomes.map(colorOf) },
    marks: [
      Plot.frame({ strokeOpacity: 0.15 }),
      Plot.line(points, { x: "seconds", y: "left", fy: "title", stroke: "title", curve: "step-after", strokeWidth: 1.5 }),
    ],
  });
}

/** For each variant, which share of the buyers was answered within a given time. */
export function latencyDistribution(outcomes: readonly VariantOutcome[]): string {
  const points = outcomes.flatMap((outcome) =>
    outcome.trace.latenciesMs.map((ms, index, all) => ({
      ms: Math.max(ms, LEAST_MS),
      share: (index + 1) / all.length,
      title: titleOf(outcome),
    })),
  );
  return draw({
    height: 340,
    marginLeft: 48,
    marginRight: 20,
    x: { type: "log", label: "answered within, ms", grid: true, tickFormat: "~s" },
    y: { label: "share of the buyers", domain: [0, 1], percent: true, grid: true },
    color: { domain: outcomes.map(titleOf), range: outcomes.map(colorOf) },
    marks: [
      Plot.ruleY([0]),
      Plot.line(points, { x: "ms", y: "share", stroke: "title", curve: "step-after", strokeWidth: 2 }),
    ],
  });
}

/** Colours that are told apart in either setting and with weak colour sight (after Okabe and Ito). */
export const VARIANT_COLORS: Readonly<Record<(typeof VARIANT_NAMES)[number], { light: string; dark: string }>> = {
  none: { light: "#c2410c", dark: "#ff8a5c" },
  mutex: { light: "#0072b2", dark: "#5cb8f0" },
  fenced: { light: "#00795a", dark: "#3fd0a2" },
  script: { light: "#8e4585", dark: "#e29ad8" },
};
