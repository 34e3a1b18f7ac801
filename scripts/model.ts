/**
 * Explores the models of packages/lab and says of each whether it holds: docs/model.md.
 *
 *   npm run model                      all but the long ones
 *   npm run model -- --all             the long ones too: ten minutes, 1 GB of memory
 *   npm run model -- quorum-b quorum-g   that one, or all whose names begin so, with the steps of what is broken
 *
 *   --list     names and titles
 *   --steps    the steps to what is broken, for all
 *   --json     one JSON object a line
 *
 * Exit code 1: one that must hold is broken, or one that must be refuted is not. 64 when it was called wrongly.
 */
import { parseArgs } from "node:util";
import {
  asExpected,
  catalogue,
  type Entry,
  type Judgement,
  judge,
  type Progress,
  traceText,
} from "@holdfast/lab/model";
import { Misuse, runScript } from "./usage.ts";

interface Options {
  readonly json: boolean;
  readonly steps: boolean;
}

function chosen(names: readonly string[], all: boolean): readonly Entry[] {
  if (names.length === 0) return catalogue.filter(({ long }) => all || !long);
  const exact = catalogue.filter(({ name }) => names.includes(name));
  const begun = names.filter((name) => !exact.some((entry) => entry.name === name));
  return catalogue.filter(
    (entry) => exact.includes(entry) || begun.some((begin) => entry.name.startsWith(begin)),
  );
}

function run(entry: Entry, { json, steps }: Options): boolean {
  const sinceMs = performance.now();
  const showsProgress = !json && process.stdout.isTTY;
  const judgement = judge(entry, (progress) => {
    if (showsProgress)
      process.stdout.write(`\r\x1b[K  ${entry.name}: ${progressText(progress, performance.now() - sinceMs)}`);
  });
  if (showsProgress) process.stdout.write("\r\x1b[K");
  const tookMs = performance.now() - sinceMs;
  console.log(json ? jsonOf(judgement, tookMs) : lineOf(judgement, tookMs));
  const good = asExpected(judgement);
  if (!json && judgement.trace && (steps || !good)) console.log(`${traceText(judgement.trace)}\n`);
  return good;
}

function progressText({ states, open, depth }: Progress, ms: number): string {
  return `${number(states)} states, ${number(open)} to look at, depth ${depth}, ${number((states / ms) * 1000)} a second`;
}

function lineOf(judgement: Judgement, ms: number): string {
  const { entry, verdict, states, depth, bytes, rule } = judgement;
  const cost = `${number(states)} states, ${(ms / 1000).toFixed(1)} s, ${number(bytes / 1e6)} MB`;
  const wrong = asExpected(judgement) ? "" : `  EXPECTED: ${entry.expect}`;
  const said =
    verdict === "broken" ? `broken in ${depth} steps: ${rule}` : verdict === "holds" ? "holds" : "too large";
  return `${wrong ? "✗" : "✓"} ${entry.name.padEnd(26)} ${entry.title}: ${said} (${cost})${wrong}`;
}

function jsonOf(judgement: Judgement, ms: number): string {
  const { entry, verdict, states, steps, depth, bytes, rule, trace } = judgement;
  return JSON.stringify({
    model: entry.name,
    title: entry.title,
    verdict,
    expected: entry.expect,
    states,
    steps,
    depth,
    tookMs: Math.round(ms),
    bytes,
    rule,
    trace: trace?.map(({ text }) => text),
  });
}

function number(value: number): string {
  return Math.round(value).toLocaleString("en");
}

function main(): number {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      all: { type: "boolean", default: false },
      list: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      steps: { type: "boolean", default: false },
    },
  });
  const entries = chosen(positionals, values.all || values.list);
  if (entries.length === 0) throw new Misuse(`no model begins with ${positionals.join(", ")}; see --list`);
  if (values.list) {
    for (const { name, title, expect, long } of entries)
      console.log(`${name.padEnd(26)} ${title}: ${expect}${long ? " (long)" : ""}`);
    return 0;
  }
  const steps = values.steps || positionals.length > 0;
  const bad = entries.filter((entry) => !run(entry, { json: values.json, steps }));
  return bad.length > 0 ? 1 : 0;
}

await runScript(import.meta.url, main);
