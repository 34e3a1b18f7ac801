/** The picture of a run: one HTML file without script and without anything to load. */
import type { CaseResult, ContestantResult, QuestionResult, RunResult, Target } from "../result.js";
import { columnsOf } from "./columns.js";
import { drawnOf, pictureOf, SCREENS } from "./pictures.js";

const STYLE = `
:root { --ink: #1c2126; --soft: #5b6670; --line: #d9dee3; --paper: #ffffff; --bad: #b42318; --good: #1a7f37;
  --holdfast: #0072b2; --peer: #c2703d; --by-hand: #8a949e; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ec; --soft: #9aa5b0; --line: #343c44; --paper: #14181c; --bad: #ff8a80; --good: #5fd07f;
    --holdfast: #5cb8f0; --peer: #f0a56e; --by-hand: #6f7a84; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 940px; margin: 0 auto; padding: 32px 24px 64px; }
h1 { margin: 0; font-size: 30px; }
h2 { margin: 48px 0 4px; font-size: 22px; }
h3 { margin: 28px 0 4px; font-size: 16px; }
p { margin: 4px 0 12px; max-width: 76ch; }
.soft { color: var(--soft); font-size: 14px; }
.legend span { margin-right: 20px; white-space: nowrap; }
.legend i { display: inline-block; width: 11px; height: 11px; border-radius: 50%; margin-right: 7px; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: 13px; }
th, td { padding: 4px 6px; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
thead th { color: var(--soft); font-weight: 600; font-size: 12px; white-space: normal; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
.targets td { text-align: left; font-size: 15px; white-space: normal; }
.own td { font-weight: 700; }
.good { color: var(--good); font-weight: 700; }
.bad { color: var(--bad); font-weight: 700; }
figure { margin: 8px 0; color: var(--ink); }
figure svg { max-width: 100%; height: auto; }
.narrow { display: none; }
@media (max-width: 700px) { main { padding: 20px 16px 48px; } .wide { display: none; } .narrow { display: block; } }
`;

export function pageOf(run: RunResult): string {
  const { machine } = run;
  const conditions = [
    run.at.slice(0, 16).replace("T", " "),
    `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGb} GB`,
    machine.os,
    `Node.js ${machine.node}`,
    `Redis ${machine.redis}`,
    `${run.rounds} rounds of ${run.secondsPerSlice} s`,
    `load before ${machine.loadBefore}`,
    ...(machine.commit === null ? [] : [machine.commit]),
  ];
  const versions = Object.entries(machine.packages).map(([name, version]) => `${name} ${version}`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>holdfast benchmark</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>holdfast benchmark</h1>
<p class="soft">${escaped(conditions.join(" · "))}</p>
<p class="soft">${escaped(versions.join(" · "))}</p>
<p class="soft"><code>${escaped(run.command)}</code></p>
<p class="legend">${legend()}</p>
<p class="soft">Medians over the rounds; the thin line reaches from the least to the most.</p>
<table class="targets"><tbody>${run.questions.flatMap(({ targets }) => targets.map(targetRow)).join("")}</tbody></table>
${run.questions.map(section).join("\n")}
</main>
</body>
</html>
`;
}

function legend(): string {
  const kinds = [
    ["holdfast", "holdfast"],
    ["peer", "other libraries, at their defaults"],
    ["by-hand", "by hand: the floor"],
  ];
  return kinds
    .map(([kind, text]) => `<span><i style="background:var(--${kind})"></i>${text}</span>`)
    .join("");
}

function targetRow({ text, found, reached }: Target): string {
  const [tone, word] =
    reached === null ? ["soft", "not measured"] : reached ? ["good", "reached"] : ["bad", "missed"];
  return `<tr><td class="${tone}">${word}</td><td>${escaped(text)}</td><td>${escaped(found)}</td></tr>`;
}

function section(question: QuestionResult): string {
  return `<section>
<h2>${escaped(question.title)}</h2>
<p class="soft">${escaped(question.method)}</p>
${question.cases.map(caseSection).join("\n")}
</section>`;
}

function caseSection(result: CaseResult): string {
  const pictures = drawnOf(result)
    .flatMap((figure) =>
      SCREENS.map((screen) => `<figure class="${screen}">${pictureOf(screen, result, figure)}</figure>`),
    )
    .join("\n");
  return `<h3>${escaped(result.title)}</h3>\n${pictures}\n<div class="scroll">${tableOf(result)}</div>`;
}

function tableOf(result: CaseResult): string {
  const columns = columnsOf(result);
  const heads = ["", ...columns.map(({ head }) => head.replaceAll("\n", " "))];
  const cells = (each: ContestantResult) => [each.title, ...columns.map(({ of }) => of(each))];
  const row = (each: ContestantResult) =>
    `<tr${each.kind === "holdfast" ? ' class="own"' : ""}>${cells(each)
      .map((cell) => `<td>${escaped(cell)}</td>`)
      .join("")}</tr>`;
  const remarks = result.contestants.flatMap(({ title, failed }) => [
    ...(failed === null ? [] : [`${title} failed: ${failed}`]),
  ]);
  return `<table><thead><tr>${heads.map((head) => `<th>${escaped(head)}</th>`).join("")}</tr></thead>
<tbody>${result.contestants.map(row).join("\n")}</tbody></table>
${remarks.map((remark) => `<p class="soft">${escaped(remark)}</p>`).join("\n")}`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
