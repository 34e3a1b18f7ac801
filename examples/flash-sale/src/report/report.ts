/** The report: one HTML file without script and without anything to load. */
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { dirname, resolve } from "node:path";
import type { SaleOptions } from "../options.js";
import { count } from "../output/figures.js";
import { notesOf } from "../output/notes.js";
import { type Row, rowsOf } from "../output/rows.js";
import type { VariantOutcome } from "../sale.js";
import { VARIANT_NAMES, variantOf } from "../variants.js";
import {
  firstSales,
  latencyDistribution,
  SCREENS,
  type Screen,
  soldOverTime,
  stockOverTime,
} from "./pictures.js";
import { STYLE, VARIANT_COLORS } from "./style.js";

export interface ReportFacts {
  readonly options: SaleOptions;
  readonly outcomes: readonly VariantOutcome[];
  readonly engineTitle: string;
  readonly at: Date;
}

const HEADS = [
  "",
  "sold",
  "oversold",
  "lost",
  "errors",
  "requests/s",
  "mean ms",
  "p50 ms",
  "p99 ms",
  "worst ms",
];

const SCRIPT_REMARK = `
The script sells in that order too; its line trembles because the servers hear of their sales in any order.`;

const KILL_REMARK = `
Where a server was killed the line stands still until its lease is over; the sales that it made before are not drawn, as
it took its records with it.`;

/** @returns where the report is. */
export function writeReport(file: string, facts: ReportFacts): string {
  const path = resolve(file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, pageOf(facts));
  return path;
}

function pageOf({ options, outcomes, engineTitle, at }: ReportFacts): string {
  const killed = outcomes.some(({ result }) => result.killedPids.length > 0);
  const legend = `<p class="legend">${outcomes.map(legendEntry).join("")}</p>`;
  const notes = notesOf(
    outcomes.map(({ result }) => result),
    options,
  );
  const conditions = [
    `${count(options.requests)} buyers, ${options.concurrency} at a time`,
    `${count(options.stock)} pieces`,
    `${options.servers} web servers ${options.nginx ? "behind nginx" : "behind one port"}`,
    engineTitle,
    `Node.js ${process.versions.node}`,
    `${cpus().length} cores, ${count(totalmem() / 2 ** 30)} GB`,
    at.toISOString().slice(0, 16).replace("T", " "),
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Flash sale</title>
<style>${STYLE}${colorRules()}</style>
</head>
<body>
<main>
<h1>Flash sale</h1>
<p class="conditions">${conditions.map(escaped).join(" · ")}</p>
${tableOf(outcomes, options)}
<ul class="notes">${notes.map((note) => `<li>${escaped(note)}</li>`).join("")}</ul>
<h2>Sold so far</h2>
<p>Buyers who were told that they have bought. The dashed line is all there is to sell.</p>
${legend}
${figure((screen) => soldOverTime(screen, outcomes, options.stock))}
<h2>Stock over time</h2>
<p>What every sale left behind. Without a lock the stock falls far too slowly for what is sold. Under a lock it falls
by one with every sale.${outcomes.some(({ result }) => result.name === "script") ? SCRIPT_REMARK : ""}${killed ? KILL_REMARK : ""}</p>
${figure((screen) => stockOverTime(screen, outcomes, options.stock))}
${firstSalesOf(outcomes)}
<h2>Latency</h2>
<p>The share of the buyers who had their answer within a given time. The scale is logarithmic.</p>
${legend}
${figure((screen) => latencyDistribution(screen, outcomes))}
</main>
</body>
</html>
`;
}

function tableOf(outcomes: readonly VariantOutcome[], options: SaleOptions): string {
  const rows = rowsOf(
    outcomes.map(({ result }) => result),
    options,
  );
  return `<div class="scroll"><table>
<thead><tr>${HEADS.map((head) => `<th scope="col">${head}</th>`).join("")}</tr></thead>
<tbody>
${rows.map(tableRow).join("\n")}
</tbody>
</table></div>`;
}

function tableRow({ name, title, cells }: Row): string {
  const dot = name === null ? "" : `<i class="dot ${name}"></i>`;
  const figures = cells
    .map(({ text, tone }, column) => `<td class="${tone}" data-head="${HEADS[column + 1]}">${text}</td>`)
    .join("");
  return `<tr${name === null ? ' class="reference"' : ""}><th scope="row">${dot}${title}</th>${figures}</tr>`;
}

function figure(draw: (screen: Screen) => string): string {
  return `<figure>${SCREENS.map((screen) => `<div class="${screen}">${draw(screen)}</div>`).join("")}</figure>`;
}

/** Why it is oversold: the same pieces, sold again and again. */
function firstSalesOf(outcomes: readonly VariantOutcome[]): string {
  const unlocked = outcomes.find(({ result }) => result.name === "none" && result.oversold > 0);
  if (!unlocked) return "";
  return `<h2>The first sales without a lock</h2>
<p>Every dot is one sale, at the number it left. Several buyers read the same number, and each writes it less one: a
<b class="bad">red</b> dot left a number that an earlier sale had left already. That piece was sold once more.</p>
${figure((screen) => firstSales(screen, unlocked))}`;
}

function legendEntry({ result }: VariantOutcome): string {
  return `<span><i class="dot ${result.name}"></i>${variantOf(result.name).title}</span>`;
}

function colorRules(): string {
  const variables = (scheme: "light" | "dark"): string =>
    VARIANT_NAMES.map((name) => `--variant-${name}:${VARIANT_COLORS[name][scheme]};`).join("");
  const dots = VARIANT_NAMES.map((name) => `.dot.${name}{background:var(--variant-${name})}`).join("");
  return `:root{${variables("light")}}@media (prefers-color-scheme:dark){:root{${variables("dark")}}}${dots}`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
