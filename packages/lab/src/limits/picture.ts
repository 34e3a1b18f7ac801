/** What a limit admits over time, as SVG that needs nothing else; light or dark as the reader has it. */
import { escaped, line, rect, text } from "../timeline/svg-shapes.js";
import { type Admission, withinOf } from "./admission.js";

export interface Kind {
  readonly name: string;
  /** Beside others: the name, and what only this one has. */
  readonly row: string;
  readonly title: string;
  /** In any time of `perS`: what the type promises, and in words. */
  readonly bound: number;
  readonly boundText: string;
  readonly promise: string;
  readonly max: number;
  /** So much fits at once. */
  readonly room: number;
  readonly perS: number;
  /** What `perS` is, in two lines. */
  readonly within: readonly [string, string];
}

const LEFT = 164;
const RIGHT = 20;
const PER_SECOND = 4.6;
const CALLS = { top: 62, height: 22 };
const FREE = { top: 104, height: 64 };
const WITHIN = { top: 190, height: 92 };
const AXIS = 306;
/** What is admitted at a moment counts from then on, and no more at its end. */
const MOMENT_S = 0.001;

const STYLE = `
.limit { --page: #ffffff; --ink: #1b2330; --soft: #5a6675; --line: #b9c3cf; --guide: #e6ebf0; --yes: #2463c9;
  --no: #b4530a; --fill: #dbe7fb; --bad: #c2252b; --sans: system-ui, "Segoe UI", Roboto, "Liberation Sans", Arial,
  sans-serif; font: 13px var(--sans); }
@media (prefers-color-scheme: dark) {
  .limit { --page: #10151b; --ink: #e7ecf3; --soft: #9da9b8; --line: #465261; --guide: #1d252e; --yes: #6aa0ff;
    --no: #f0a35e; --fill: #1d3052; --bad: #ff7a76; }
}
.limit text { fill: var(--ink); }
.limit .page { fill: var(--page); }
.limit .title { font-size: 17px; font-weight: 650; }
.limit .soft { fill: var(--soft); } .limit .end { text-anchor: end; fill: var(--soft); font-size: 12px; }
.limit .row { font-weight: 600; }
.limit .tick { text-anchor: middle; fill: var(--soft); font-size: 12px; font-variant-numeric: tabular-nums; }
.limit .guide { stroke: var(--guide); } .limit .base { stroke: var(--line); }
.limit .yes { fill: var(--yes); } .limit .no { stroke: var(--no); stroke-width: 1.6; }
.limit .area { fill: var(--fill); } .limit .edge { fill: none; stroke: var(--yes); stroke-width: 1.6; }
.limit .max { stroke: var(--soft); stroke-dasharray: 2 4; }
.limit .bound { stroke: var(--bad); stroke-width: 1.4; stroke-dasharray: 7 4; }
.limit .bound-text { fill: var(--bad); font-size: 12px; text-anchor: end; }
`;

/** One kind: its answers, what was free, and what was admitted in the time before. */
export function drawKind(kind: Kind, admission: Admission, endS: number): string {
  const { calls, free } = admission;
  const { title, promise, max, room, perS, bound } = kind;
  const changesS = calls.flatMap(({ atS, ok }) => (ok ? [atS, atS + perS] : []));
  const within = [0, ...changesS.filter((atS) => atS <= endS).sort((a, b) => a - b)].map((atS) => ({
    atS,
    value: withinOf(calls, atS - perS + MOMENT_S, atS + MOMENT_S),
  }));
  const admitted = calls.filter(({ ok }) => ok).length;
  const highest = Math.max(bound, ...within.map(({ value }) => value)) * 1.08;
  const y = (value: number) => WITHIN.top + WITHIN.height * (1 - value / highest);
  const description =
    `${title}. ${promise}. Of ${calls.length} calls ${admitted} are admitted: at ` +
    `${calls.flatMap(({ atS, ok }) => (ok ? [Math.round(atS)] : [])).join(", ")} s.`;
  return svg(title, description, endS, AXIS + 30, [
    text("title", 16, 28, title),
    text("soft", 16, 46, promise),
    ...axis(endS, CALLS.top, AXIS),
    text("row", 16, CALLS.top + 16, "calls"),
    ...answers(calls, CALLS.top + CALLS.height / 2),
    text("row", 16, FREE.top + 14, "free"),
    ...stepped(
      free.map(({ atS, remaining }) => ({ atS, value: remaining })),
      (value) => FREE.top + FREE.height * (1 - value / room),
      endS,
    ),
    line("max", LEFT, FREE.top, x(endS), FREE.top),
    ...scale([
      [FREE.top, room],
      [FREE.top + FREE.height, 0],
      [y(max), max],
      [y(0), 0],
    ]),
    text("row", 16, WITHIN.top + 14, kind.within[0]),
    text("row", 16, WITHIN.top + 30, kind.within[1]),
    ...stepped(within, y, endS),
    ...(bound === max ? [] : [line("max", LEFT, y(max), x(endS), y(max))]),
    line("bound", LEFT, y(bound), x(endS), y(bound)),
    text("bound-text", x(endS), y(bound) - 5, kind.boundText),
  ]);
}

/** All kinds below each other, asked the same. */
export function drawKinds(
  title: string,
  caption: string,
  kinds: readonly { readonly kind: Kind; readonly admission: Admission }[],
  endS: number,
): string {
  const top = 66;
  const rowHeight = 34;
  const bottom = top + kinds.length * rowHeight;
  const told = kinds.map(
    ({ kind, admission: { calls } }) => `${kind.row}: ${calls.filter(({ ok }) => ok).length} admitted`,
  );
  return svg(title, `${caption} ${told.join(", ")}.`, endS, bottom + 30, [
    text("title", 16, 28, title),
    text("soft", 16, 46, caption),
    ...axis(endS, top, bottom),
    ...kinds.flatMap(({ kind, admission }, place) => {
      const middle = top + place * rowHeight + rowHeight / 2;
      return [text("row", 16, middle + 5, kind.row), ...answers(admission.calls, middle)];
    }),
  ]);
}

function svg(
  title: string,
  description: string,
  endS: number,
  height: number,
  parts: readonly string[],
): string {
  const width = Math.round(x(endS) + RIGHT);
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" class="limit" role="img" viewBox="0 0 ${width} ${height}" ` +
      `width="${width}" height="${height}">`,
    `<title>${escaped(title)}</title>`,
    `<desc>${escaped(description)}</desc>`,
    `<style>${STYLE}</style>`,
    `<rect class="page" width="${width}" height="${height}"/>`,
    ...parts,
    "</svg>",
  ].join("\n")}\n`;
}

function x(atS: number): number {
  return LEFT + atS * PER_SECOND;
}

/** Each value beside its height. */
function scale(values: readonly (readonly [y: number, value: number])[]): string[] {
  return values.map(([y, value]) => text("end", LEFT - 8, y + 4, `${value}`));
}

function axis(endS: number, top: number, bottom: number): string[] {
  const ticks = Array.from({ length: Math.floor(endS / 30) + 1 }, (_, place) => place * 30);
  return [
    ...ticks.map((atS) => line("guide", x(atS), top, x(atS), bottom)),
    line("base", LEFT, bottom, x(endS), bottom),
    ...ticks.map((atS) => text("tick", x(atS), bottom + 18, atS === 0 ? "0 s" : `${atS} s`)),
  ];
}

/** Told apart by shape as well: a disc is admitted, a stroke is refused. */
function answers(calls: Admission["calls"], middle: number): string[] {
  return calls.map(({ atS, ok }) =>
    ok
      ? `<circle class="yes" cx="${Math.round(x(atS) * 10) / 10}" cy="${middle}" r="4"/>`
      : line("no", x(atS), middle - 3.5, x(atS), middle + 3.5),
  );
}

function stepped(
  points: readonly { readonly atS: number; readonly value: number }[],
  y: (value: number) => number,
  endS: number,
): string[] {
  const round = (value: number) => Math.round(value * 10) / 10;
  const path = points
    .filter(({ value }, place) => place === 0 || value !== points[place - 1]?.value)
    .map(
      ({ atS, value }, place) =>
        `${place === 0 ? "M" : "H"}${round(x(atS))}${place === 0 ? " " : "V"}${round(y(value))}`,
    )
    .join("");
  const edge = `${path}H${round(x(endS))}`;
  return [
    `<path class="area" d="${edge}V${round(y(0))}H${round(x(0))}Z"/>`,
    `<path class="edge" d="${edge}"/>`,
    rect("base", x(0), y(0), x(endS) - x(0), 1),
  ];
}
