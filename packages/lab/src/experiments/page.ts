/** An outcome as a page of its own, which loads nothing; light or dark as the reader has it. */
import { drawSvg } from "../timeline/svg.js";
import type { Outcome, TrialOutcome } from "./experiment.js";
import { signOf } from "./report.js";

export function drawPage(outcome: Outcome): string {
  const { id, title, question, remark, command, trials } = outcome;
  const name = `${id}: ${title}`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(name)} · holdfast lab</title>
<style>${style}</style>
<main>
<header>
<h1>${escaped(name)}</h1>
<p class="question">${escaped(question)}</p>
<p class="seed">${escaped(command)}</p>
</header>
${trials.map((trial, place) => trialOf(trial, place, trials.find(isDrawn) === trial)).join("\n")}
${remark === "" ? "" : `<p class="remark">${escaped(remark)}</p>`}
<footer>L1 and the like are the properties that a lock must have: SAFETY.md of the repository names them all, and what is promised. Read next: docs/guides/lab.md, about what each experiment shows, and docs/guides/locks.md.</footer>
</main>
</html>
`;
}

/** The timelines alone, as files beside the page: "D1-naive.svg", "D1-holdfast.svg", "D6-naive-2.svg". */
export function drawingsOf({ id, trials }: Outcome): { readonly name: string; readonly svg: string }[] {
  const places = new Map<string, number>();
  return trials.map(({ side, timeline }) => {
    const place = (places.get(side) ?? 0) + 1;
    places.set(side, place);
    return { name: `${id}-${side}${place > 1 ? `-${place}` : ""}.svg`, svg: drawSvg(timeline) };
  });
}

function isDrawn({ timeline }: TrialOutcome): boolean {
  return timeline.lanes.length > 0;
}

function trialOf(trial: TrialOutcome, place: number, isFirstDrawn: boolean): string {
  const { side, name, verdict, steps, sentence, figures, checks, notPromised = [] } = trial;
  const left = notPromised.map((title) => `<li class="left">– not promised here: ${escaped(title)}</li>`);
  const facts = Object.entries(figures).map(([what, value]) => {
    const shown = typeof value === "number" ? value.toLocaleString("en-US") : value;
    return `<div><dt>${escaped(what)}</dt><dd>${escaped(shown)}</dd></div>`;
  });
  return `<section class="${verdict}">
<h2><span class="sign">${signOf(verdict)} ${side}</span> ${escaped(name)}</h2>
<p class="sentence">${escaped(sentence)}</p>
<dl>${facts.join("")}</dl>
<pre>${escaped(steps.join("\n"))}</pre>
${isDrawn(trial) ? `<div class="picture">${pictureOf(trial, place, isFirstDrawn)}</div>` : ""}
<ul>${[...checks.map(checkOf), ...left].join("")}</ul>
</section>`;
}

function checkOf({ title, findings }: TrialOutcome["checks"][number]): string {
  const shown = findings.slice(0, 3).map(({ message }) => `<small>${escaped(message)}</small>`);
  const sign = findings.length === 0 ? '<b class="good">✓</b>' : '<b class="bad">✗</b>';
  return `<li>${sign} ${escaped(title)}${shown.join("")}</li>`;
}

/** Several drawings in one page: each id once, and the style of the first is that of all. */
function pictureOf({ timeline }: TrialOutcome, place: number, isFirst: boolean): string {
  const svg = drawSvg(timeline)
    .replace('id="title"', `id="title-${place}"`)
    .replace('id="story"', `id="story-${place}"`)
    .replace('aria-labelledby="title story"', `aria-labelledby="title-${place} story-${place}"`);
  return isFirst
    ? svg
    : svg.replace(/<style>[\s\S]*?<\/style>\n?/, "").replace(/<defs>[\s\S]*?<\/defs>\n?/, "");
}

function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

const style = `
  :root { --page: #ffffff; --ink: #1b2330; --soft: #5a6675; --line: #d5dce4; --box: #f5f7f9; --bad: #c2252b; --good: #14743f; }
  @media (prefers-color-scheme: dark) {
    :root { --page: #10151b; --ink: #e7ecf3; --soft: #9da9b8; --line: #2c3642; --box: #171e26; --bad: #ff7a76; --good: #5fd394; }
  }
  body { margin: 0; background: var(--page); color: var(--ink);
    font: 16px/1.5 system-ui, "Segoe UI", Roboto, "Liberation Sans", Arial, sans-serif; }
  main { max-width: 1200px; margin: 0 auto; padding: 24px 20px 48px; }
  h1 { font-size: 28px; line-height: 1.2; margin: 8px 0 12px; }
  h2 { font-size: 20px; line-height: 1.3; margin: 0 0 8px; }
  p { max-width: 46em; margin: 0 0 12px; }
  .question { font-size: 17px; } .seed, .remark, .left, footer { color: var(--soft); } .seed { font-family: ui-monospace, monospace; font-size: 13px; }
  section { border-top: 1px solid var(--line); padding: 24px 0; }
  .sign { margin-right: 6px; } .fails .sign, .bad { color: var(--bad); } .holds .sign, .good { color: var(--good); }
  .sentence { font-weight: 500; }
  dl { display: flex; flex-wrap: wrap; gap: 8px 28px; margin: 0 0 16px; } dt { color: var(--soft); font-size: 13px; }
  dd { margin: 0; font-size: 22px; font-variant-numeric: tabular-nums; } .fails dd { color: var(--bad); }
  pre { background: var(--box); border: 1px solid var(--line); border-radius: 6px; padding: 10px 14px; overflow-x: auto;
    font: 13px/1.5 ui-monospace, "Cascadia Mono", "Liberation Mono", monospace; }
  .picture { overflow-x: auto; margin: 16px 0; } .picture svg { display: block; overflow: visible; }
  ul { list-style: none; padding: 0; margin: 0; } li { margin: 0 0 6px; } small { display: block; color: var(--soft); margin-left: 22px; }
`;
