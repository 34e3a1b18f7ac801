/** The curves by the number of processes, as SVG that needs nothing else; light or dark as the reader has it. */
import { escaped, line, text } from "../timeline/svg-shapes.js";
import { type Curve, type Panel, panels } from "./curves.js";
import type { Row } from "./load.js";
import { type CapacityRecord, short } from "./record.js";

const WIDTH = 920;
const PANEL = { width: 290, height: 236, left: 46, right: 12, top: 40, bottom: 60 } as const;
const COLUMNS = 3;
const TOP = 60;
const MOST_PROCESSES = 1_000;
/** A value that is hardly above a line of the scale needs no further line. */
const hair = 0.01;

const STYLE = `
.capacity { --page: #ffffff; --ink: #1b2330; --soft: #5a6675; --line: #b9c3cf; --guide: #e6ebf0; --c0: #2463c9;
  --c1: #b4530a; --c2: #1a7f5a; --c3: #8a3fa8; --sans: system-ui, "Segoe UI", Roboto, "Liberation Sans", Arial, sans-serif;
  font: 12px var(--sans); }
@media (prefers-color-scheme: dark) {
  .capacity { --page: #10151b; --ink: #e7ecf3; --soft: #9da9b8; --line: #465261; --guide: #1d252e; --c0: #6aa0ff;
    --c1: #f0a35e; --c2: #5cc79b; --c3: #cf94e6; }
}
.capacity text { fill: var(--ink); }
.capacity .page { fill: var(--page); }
.capacity .title { font-size: 17px; font-weight: 650; }
.capacity .head { font-weight: 600; font-size: 13px; }
.capacity .soft { fill: var(--soft); }
.capacity .tick { fill: var(--soft); font-size: 11px; text-anchor: middle; font-variant-numeric: tabular-nums; }
.capacity .scale { fill: var(--soft); font-size: 11px; text-anchor: end; font-variant-numeric: tabular-nums; }
.capacity .guide { stroke: var(--guide); } .capacity .base { stroke: var(--line); }
${[0, 1, 2, 3].map((n) => `.capacity .line${n} { fill: none; stroke: var(--c${n}); stroke-width: 1.8; } .capacity .dot${n} { fill: var(--c${n}); } .capacity .ring${n} { fill: none; stroke: var(--c${n}); stroke-width: 1.6; }`).join("\n")}
`;

interface Point {
  readonly processes: number;
  readonly value: number;
}

interface Drawn {
  readonly curve: Curve;
  readonly virtual: readonly Point[];
  readonly real: readonly Point[];
  /** The points of the line. CPU and bytes are those of the real server alone. */
  readonly along: readonly Point[];
}

export function drawCurves(record: CapacityRecord): string {
  const title = "What locks, limits and queues cost, by the number of processes";
  const caption =
    "Both scales are logarithmic. Discs: virtual time. Rings: real processes over a real redis-server, which alone has CPU and bytes.";
  const rows = Math.ceil(panels.length / COLUMNS);
  const height = TOP + rows * PANEL.height + 12;
  const drawn = panels.map((panel) => panel.curves.map((curve) => pointsOf(record, curve)));
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" class="capacity" role="img" viewBox="0 0 ${WIDTH} ${height}" ` +
      `width="${WIDTH}" height="${height}">`,
    `<title>${escaped(title)}</title>`,
    `<desc>${escaped(`${caption} ${panels.map((panel, n) => described(panel, drawn[n] ?? [])).join(" ")}`)}</desc>`,
    `<style>${STYLE}</style>`,
    `<rect class="page" width="${WIDTH}" height="${height}"/>`,
    text("title", 16, 28, title),
    text("soft", 16, 46, caption),
    ...panels.flatMap((panel, n) => {
      const [left, top] = [
        16 + (n % COLUMNS) * (PANEL.width + 10),
        TOP + Math.floor(n / COLUMNS) * PANEL.height,
      ];
      return [`<g transform="translate(${left} ${top})">`, ...drawPanel(panel, drawn[n] ?? []), "</g>"];
    }),
    "</svg>",
  ].join("\n")}\n`;
}

function pointsOf(record: CapacityRecord, curve: Curve): Drawn {
  const of = (rows: readonly Row[]): Point[] =>
    rows
      .filter(({ load, phase }) => load === curve.load && phase === curve.phase)
      .map((row) => ({ processes: row.processes, value: curve.value(row) ?? 0 }))
      .filter(({ value }) => value > 0)
      .sort((a, b) => a.processes - b.processes);
  const [virtual, real] = [of(record.virtual.rows), of(record.real.rows)];
  return { curve, virtual, real, along: virtual.length > 0 ? virtual : real };
}

function drawPanel({ title }: Panel, drawn: readonly Drawn[]): string[] {
  const values = drawn.flatMap(({ virtual, real }) => [...virtual, ...real].map(({ value }) => value));
  const lowest = Math.floor(Math.log10(Math.min(...values)));
  const highest = Math.max(lowest + 1, Math.ceil(Math.log10(Math.max(...values)) - hair));
  const right = PANEL.width - PANEL.right;
  const bottom = PANEL.height - PANEL.bottom;
  const x = (processes: number) =>
    PANEL.left + ((right - PANEL.left - 10) * Math.log10(processes)) / Math.log10(MOST_PROCESSES) + 5;
  const y = (value: number) =>
    bottom - ((bottom - PANEL.top) * (Math.log10(value) - lowest)) / (highest - lowest);
  const levels = Array.from({ length: highest - lowest + 1 }, (_, n) => 10 ** (lowest + n));
  return [
    text("head", 4, 16, title),
    ...levels.flatMap((level) => [
      line("guide", PANEL.left, y(level), right, y(level)),
      text("scale", PANEL.left - 6, y(level) + 4, short(level)),
    ]),
    line("base", PANEL.left, bottom, right, bottom),
    ...[1, 10, 100, 1_000].map((count) => text("tick", x(count), bottom + 16, short(count))),
    ...drawn.flatMap((each, place) => drawCurve(each, place, x, y)),
    ...drawn.flatMap(({ curve }, place) => legend(curve.name, place, drawn.length, bottom + 36)),
  ];
}

function drawCurve(
  { virtual, real, along }: Drawn,
  place: number,
  x: (processes: number) => number,
  y: (value: number) => number,
): string[] {
  const at = ({ processes, value }: Point) => `${tenth(x(processes))} ${tenth(y(value))}`;
  const disc = (kind: string, radius: number) => (point: Point) =>
    `<circle class="${kind}${place}" cx="${tenth(x(point.processes))}" cy="${tenth(y(point.value))}" r="${radius}"/>`;
  return [
    ...(along.length > 0 ? [`<path class="line${place}" d="M${along.map(at).join("L")}"/>`] : []),
    ...virtual.map(disc("dot", 2.6)),
    ...real.map(disc("ring", 5.5)),
  ];
}

/** Two in a line. */
function legend(name: string, place: number, count: number, top: number): string[] {
  const columns = Math.min(2, count);
  const left = PANEL.left + (place % columns) * 124 - 30;
  const y = top + Math.floor(place / columns) * 16;
  return [`<circle class="dot${place}" cx="${left}" cy="${y - 4}" r="4"/>`, text("soft", left + 9, y, name)];
}

function described({ title }: Panel, drawn: readonly Drawn[]): string {
  const told = drawn.map(
    ({ curve, along }) =>
      `${curve.name} ${along.map(({ processes, value }) => `${short(value)} with ${processes}`).join(", ")}`,
  );
  return `${title}: ${told.join("; ")}.`;
}

function tenth(value: number): number {
  return Math.round(value * 10) / 10;
}
