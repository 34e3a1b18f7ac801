/** The report: one HTML file without script and without anything to load. */
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { dirname, resolve } from "node:path";
import { count } from "../output/figures.js";
import { notesOf } from "../output/notes.js";
import { HEADS, type Row, rowOf } from "../output/rows.js";
import type { RunFacts } from "../run-facts.js";
import { latencyDistribution, resultsOverTime, roomsByWish, SCREENS, type Screen } from "./pictures.js";
import { STYLE } from "./style.js";

/** @returns where the report is. */
export function writeReport(file: string, facts: RunFacts): string {
  const path = resolve(file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, pageOf(facts));
  return path;
}

export function pageOf(facts: RunFacts): string {
  const { outcomes } = facts;
  const ways = outcomes.map(({ result }) => `<span><i class="dot ${result.way}"></i>${result.way}</span>`);
  const legend = `<p class="legend">${ways.join("")}</p>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Dormitory selection</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Dormitory selection</h1>
<p class="conditions">${conditionsOf(facts).map(escaped).join(" · ")}</p>
<table>
<thead><tr><th></th>${HEADS.map((head) => `<th scope="col">${head}</th>`).join("")}</tr></thead>
<tbody>${outcomes.map(({ result }) => tableRow(rowOf(result))).join("\n")}</tbody>
</table>
<ul class="notes">${notesOf(facts)
    .map((note) => `<li>${escaped(note)}</li>`)
    .join("")}</ul>
<h2>Results over time</h2>
<p>Students who know their result. A dashed line marks the moment at which a process was killed.</p>
${legend}
${figure((screen) => resultsOverTime(screen, outcomes))}
<h2>Waiting time</h2>
<p>The share of the students who had their result within a given time after their click. The scale is logarithmic.</p>
${legend}
${figure((screen) => latencyDistribution(screen, outcomes))}
<h2>Rooms by wish</h2>
<p>The place of each student's room among the wishes of the student's team. All wishes want the same good rooms.</p>
${figure((screen) => roomsByWish(screen, outcomes))}
</main>
</body>
</html>
`;
}

function conditionsOf({ options, batches, server, at }: RunFacts): string[] {
  return [
    `${count(options.students)} students in ${batches} batches`,
    `${options.servers} web servers behind one port`,
    `${options.workers} workers`,
    server,
    `Node.js ${process.versions.node}`,
    `${cpus().length} cores, ${count(totalmem() / 2 ** 30)} GB`,
    at.toISOString().slice(0, 16).replace("T", " "),
  ];
}

function tableRow({ title, cells }: Row): string {
  const figures = cells.map(
    ({ text, tone }, column) => `<td class="${tone}" data-head="${HEADS[column]}">${text}</td>`,
  );
  return `<tr><th scope="row"><i class="dot ${title}"></i>${title}</th>${figures.join("")}</tr>`;
}

function figure(draw: (screen: Screen) => string): string {
  return `<figure>${SCREENS.map((screen) => `<div class="${screen}">${draw(screen)}</div>`).join("")}</figure>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
