/** A timeline as SVG that needs nothing else: no script, no font, no other file; light or dark as the reader has it. */
import { BAR_WIDTH, Grid, type Layout, LINE, type PlacedRow, widthOf } from "./grid.js";
import { boxOf, Labels } from "./labels.js";
import { clockOf, lasting, type Tone, wrap } from "./rows.js";
import { drawArrows } from "./svg-arrows.js";
import { drawMark, meanings } from "./svg-marks.js";
import { escaped, line, rect, text } from "./svg-shapes.js";
import { style } from "./svg-style.js";
import { absences, type Bar, type Timeline } from "./timeline.js";

const HALF_BAR = BAR_WIDTH / 2;
const HEAD = 26;
const TITLE_LINE = 23;

export function drawSvg(timeline: Timeline, layout: Layout = "wide"): string {
  return new SvgDrawing(timeline, layout).draw();
}

class SvgDrawing {
  readonly #timeline: Timeline;
  readonly #grid: Grid;
  readonly #title: readonly string[];
  readonly #caption: readonly string[];
  readonly #captionY: number;
  readonly #top: number;
  readonly #labels = new Labels();

  constructor(timeline: Timeline, layout: Layout) {
    this.#timeline = timeline;
    const { width } = new Grid(timeline, 0, layout);
    this.#title =
      layout === "wide" ? [timeline.title] : wrap(timeline.title, Math.floor((width - 32) / 10.6));
    this.#caption = wrap(timeline.caption ?? "", Math.floor((width - 32) / 6.9));
    this.#captionY = 52 + (this.#title.length - 1) * TITLE_LINE;
    this.#top = this.#captionY + this.#caption.length * LINE;
    this.#grid = new Grid(timeline, this.#top + HEAD, layout);
  }

  draw(): string {
    const legend = this.#legend();
    const marks = this.#grid.rows.flatMap((row) => this.#marks(row));
    const barLabels = (this.#timeline.bars ?? []).map((bar) => this.#barLabel(bar));
    const { width, bottom, rows, layout } = this.#grid;
    const below = layout === "narrow" ? this.#storyBelow(bottom + 16 + legend.height) : undefined;
    const height = below?.bottom ?? bottom + 16 + legend.height;
    const { title, caption = "" } = this.#timeline;
    const parts = [
      `<svg xmlns="http://www.w3.org/2000/svg" class="timeline" role="img" ` +
        `viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">`,
      `<title>${escaped(title)}</title>`,
      `<desc>${escaped([caption, ...rows.flatMap(({ told }) => told.map(({ text: said }) => said))].join(". "))}</desc>`,
      `<style>${style}</style>`,
      '<defs><pattern id="hatch" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">' +
        '<path class="hatch" d="M0 0V7" stroke-width="4"/></pattern></defs>',
      `<rect class="page" width="${width}" height="${height}"/>`,
      ...this.#title.map((line, at) => text("title", 16, 30 + at * TITLE_LINE, line)),
      ...this.#caption.map((line, at) => text("caption", 16, this.#captionY + at * LINE, line)),
      ...this.#bands(),
      ...this.#lanes(),
      ...(this.#timeline.bars ?? []).toSorted(byDepth).map((bar) => this.#bar(bar)),
      ...drawArrows(this.#timeline, this.#grid, this.#labels),
      ...barLabels,
      ...marks,
      ...this.#times(),
      ...(below?.parts ?? this.#storyBeside()),
      ...legend.parts,
      "</svg>",
    ];
    return `${parts.filter((part) => part !== "").join("\n")}\n`;
  }

  #bands(): string[] {
    const left = 8;
    const width = this.#grid.lanesEnd - left;
    return (this.#timeline.bands ?? []).map(({ fromMs, toMs, kind }) => {
      const y = this.#grid.y(fromMs);
      return rect(`band-${kind}`, left, y - 8, width, this.#grid.y(toMs) - y + 16);
    });
  }

  #lanes(): string[] {
    const { rows, timeEnd, lanesEnd, laneGap, layout } = this.#grid;
    const guideEnd = lanesEnd + (layout === "wide" ? 14 : 0);
    const guides = rows.map(({ y }) => line("guide", timeEnd + 6, y, guideEnd, y));
    const lanes = this.#timeline.lanes.flatMap(({ id, title = id, kind }) => {
      const x = this.#grid.x(id);
      const half = laneGap / 2 - 5;
      const radius = { process: 13, server: 3, resource: 0 }[kind];
      return [
        ...this.#laneLines(id).map(([y, endY]) => line("lane", x, y, x, endY)),
        `<rect class="head ${kind}" x="${x - half}" y="${this.#top}" width="${half * 2}" height="${HEAD}" rx="${radius}"/>`,
        text("head-text", x, this.#top + 18, title),
      ];
    });
    return [...guides, ...lanes];
  }

  #laneLines(lane: string): [number, number][] {
    const lines: [number, number][] = [];
    let y = this.#top + HEAD;
    for (const { fromMs, toMs } of absences(this.#timeline, lane)) {
      lines.push([y, this.#grid.y(fromMs)]);
      y = this.#grid.y(toMs);
    }
    return y < this.#grid.bottom ? [...lines, [y, this.#grid.bottom]] : lines;
  }

  #bar({ lane, fromMs, toMs, kind }: Bar): string {
    const x = this.#grid.x(lane);
    const [y, endY] = [this.#grid.y(fromMs), this.#grid.y(toMs)];
    const height = Math.max(6, endY - y);
    const half = { hold: HALF_BAR, stale: HALF_BAR, wait: 6, pause: HALF_BAR + 5 }[kind];
    return `<rect class="${kind}" x="${x - half}" y="${y}" width="${half * 2}" height="${height}" rx="4"/>`;
  }

  #barLabel({ lane, fromMs, toMs, kind, label = "" }: Bar): string {
    if (label === "" || kind === "wait") return "";
    const x = this.#grid.x(lane);
    const [y, endY] = [this.#grid.y(fromMs), this.#grid.y(toMs)];
    const isInside = kind === "hold" && widthOf(label, 13) <= BAR_WIDTH;
    // Below a mark at its beginning, if there is one; where the bar is too short, nowhere: the story has the token too.
    for (const labelY of [y + 17, y + 27]) {
      const at = isInside ? x : x + HALF_BAR + 6 + widthOf(label, 12) / 2;
      const isOut = at + widthOf(label, 12) / 2 > this.#grid.lanesEnd;
      if (isOut || labelY + 3 > endY || !this.#labels.take(boxOf(label, at, labelY, 12))) continue;
      return text(isInside ? "on-hold" : "said", at, labelY, label);
    }
    return "";
  }

  /** Several on one lane stand side by side. */
  #marks(row: PlacedRow): string[] {
    const seen = new Map<string, number>();
    return row.marks.map(({ lane, kind }) => {
      const before = seen.get(lane) ?? 0;
      seen.set(lane, before + 1);
      const x = this.#grid.x(lane) + before * 24;
      if (kind !== "note") this.#labels.take({ x: x - 11, y: row.y - 11, width: 22, height: 22 });
      return drawMark(kind, x, row.y);
    });
  }

  /** The times, and where a long wait is left out. */
  #times(): string[] {
    const { rows, timeEnd } = this.#grid;
    const clock = clockOf(rows);
    return rows.flatMap(({ atMs, y, gapY }, at) => [
      ...(gapY === undefined ? [] : this.#skipped(gapY)),
      rows[at - 1]?.atMs === atMs
        ? ""
        : text("time", timeEnd - 2, y + 4, `${clock.show(atMs)} ${clock.unit}`),
    ]);
  }

  #skipped(y: number): string[] {
    return this.#timeline.lanes.map(({ id }) =>
      line("skipped", this.#grid.x(id) - 32, y + 14, this.#grid.x(id) + 32, y + 6),
    );
  }

  #storyBeside(): string[] {
    const { rows, storyX } = this.#grid;
    return rows.flatMap(({ y, gapY, lines }, at) => [
      ...(gapY === undefined ? [] : [text("key", storyX, gapY + 14, this.#passed(at))]),
      ...lines.map(({ text: told, tone }, line) => text(toldAs(tone), storyX, y + 4 + line * LINE, told)),
    ]);
  }

  #storyBelow(top: number): { readonly parts: string[]; readonly bottom: number } {
    const { rows, storyX, timeEnd } = this.#grid;
    const clock = clockOf(rows);
    const parts: string[] = [];
    let y = top + 18;
    for (const [at, { atMs, gapY, lines }] of rows.entries()) {
      if (gapY !== undefined) {
        parts.push(text("key", storyX, y, this.#passed(at)));
        y += LINE + 6;
      }
      if (rows[at - 1]?.atMs !== atMs)
        parts.push(text("time", timeEnd - 2, y, `${clock.show(atMs)} ${clock.unit}`));
      for (const { text: told, tone } of lines) {
        parts.push(text(toldAs(tone), storyX, y, told));
        y += LINE;
      }
      y += lines.length === 0 ? 0 : 6;
    }
    return { parts, bottom: y };
  }

  #passed(at: number): string {
    const { rows } = this.#grid;
    return `⋮ ${lasting(rows[at]!.atMs - rows[at - 1]!.atMs)} pass`;
  }

  #legend(): { readonly parts: string[]; readonly height: number } {
    const used = this.#used();
    const parts: string[] = [];
    let [x, y] = [30, this.#grid.bottom + 26];
    for (const { sample, meaning } of used) {
      const width = 30 + widthOf(meaning, 13);
      if (x + width > this.#grid.width) [x, y] = [30, y + 28];
      parts.push(sample(x, y), text("key", x + 18, y + 4, meaning));
      x += width + 14;
    }
    return { parts, height: used.length === 0 ? 0 : y - this.#grid.bottom + 14 };
  }

  #used(): Sample[] {
    const { bars = [], arrows = [], marks = [] } = this.#timeline;
    const kinds = new Set(bars.map(({ kind }) => kind));
    const box = (kind: string) => (x: number, y: number) =>
      `<rect class="${kind}" x="${x - 11}" y="${y - 9}" width="22" height="18" rx="4"/>`;
    const samples: Sample[] = [];
    const { held = "has the lock", labels = "with this token" } = this.#timeline;
    const meaning = labels === "" ? held : `${held}, ${labels}`;
    if (kinds.has("hold")) samples.push({ sample: box("hold"), meaning });
    if (kinds.has("stale")) samples.push({ sample: box("stale"), meaning: "only believes that it has it" });
    if (kinds.has("wait")) samples.push({ sample: box("wait"), meaning: "waits" });
    if (kinds.has("pause")) samples.push({ sample: box("pause"), meaning: "is paused" });
    if (arrows.some(({ receivedMs }) => receivedMs === null)) {
      const sample = (x: number, y: number) =>
        `<path class="cross" d="M${x - 6} ${y - 6}l12 12m0 -12l-12 12"/>`;
      samples.push({ sample, meaning: "message lost" });
    }
    for (const kind of new Set(marks.map((mark) => mark.kind))) {
      if (meanings[kind]) samples.push({ sample: (x, y) => drawMark(kind, x, y), meaning: meanings[kind] });
    }
    return samples;
  }
}

interface Sample {
  readonly sample: (x: number, y: number) => string;
  readonly meaning: string;
}

function toldAs(tone: Tone): string {
  return tone === "plain" ? "told" : `told-${tone}`;
}

/** What is drawn later lies above. */
const depth = { wait: 0, hold: 1, stale: 2, pause: 3 } as const;

function byDepth(a: Bar, b: Bar): number {
  return depth[a.kind] - depth[b.kind];
}
