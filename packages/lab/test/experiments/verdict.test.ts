/** Verdicts come from what was found, not from what was expected. */
import { expect, test } from "vitest";
import { Account, noneMissing } from "../../src/experiments/account.js";
import { exclusion, fence, tokens } from "../../src/experiments/check.js";
import { experiment, type Recipe } from "../../src/experiments/experiment.js";
import { findExperiment } from "../../src/experiments/list.js";
import { contended, grants, heldFor, overtaken, payments, stopped } from "../../src/experiments/need.js";
import { drawPage } from "../../src/experiments/page.js";
import { payUnderSetNx, setNxSteps } from "../../src/experiments/payer.js";
import { reportLines } from "../../src/experiments/report.js";

const plain = (text: string): string => text;
const paint = { bold: plain, dim: plain, good: plain, bad: plain };

/** Two pay in; Ann works for so long, with a ttl of 2 s. */
function recipe(side: Recipe["side"], workMs: number, needs = [grants(2), payments(2)]): Recipe {
  return {
    ...{ side, name: `<work> of ${workMs} ms`, steps: setNxSteps, lastsMs: 20_000, needs },
    play: (trial) => {
      const [ann, bob, redis] = [trial.actor("Ann"), trial.actor("Bob"), trial.server("Redis")];
      const account = new Account(trial);
      payUnderSetNx(ann, redis, account, { ttlMs: 2_000, amount: 10, work: () => ann.sleep(workMs) });
      payUnderSetNx(bob, redis, account, { ttlMs: 2_000, amount: 20, atMs: 100, work: () => bob.sleep(100) });
      trial.tell = () => ({ sentence: "so it went", figures: { missing: account.missing } });
    },
  };
}

const short = experiment({
  ...{ id: "D1", title: "A test", question: "Does it?", checks: [noneMissing, exclusion, fence, tokens] },
  recipes: [recipe("naive", 500), recipe("holdfast", 500)],
});
const long = experiment({
  ...{ id: "D1", title: "A test", question: "Does it?", checks: [noneMissing, exclusion] },
  recipes: [recipe("naive", 4_000), recipe("holdfast", 4_000)],
});

test("a naive recipe that does not fail is a surprise, and is said to be one", async () => {
  const outcome = await short.run(1);
  expect(outcome.trials.map(({ verdict, asExpected }) => ({ verdict, asExpected }))).toEqual([
    { verdict: "holds", asExpected: false },
    { verdict: "holds", asExpected: true },
  ]);
  expect(outcome.asExpected).toBe(false);
  expect(reportLines(outcome, { columns: 80, paint }).at(-1)).toContain("did not fail");
});

test("so is a library that does not hold", async () => {
  const outcome = await long.run(1);
  expect(outcome.trials.map(({ asExpected }) => asExpected)).toEqual([true, false]);
  const findings = outcome.trials[1]?.checks.flatMap((check) => check.findings) ?? [];
  expect(findings.map(({ message }) => message)).toContain("30 were paid in, the balance is 10");
  expect(reportLines(outcome, { columns: 80, paint }).join("\n")).toContain("holdfast did not hold");
});

test("a run in which what had to happen did not shows nothing, on either side, and says so", async () => {
  const plot = { id: "D1", title: "A test", question: "Does it?", checks: [noneMissing, exclusion, fence] };
  const needs = [grants(2), payments(3)];
  for (const workMs of [500, 4_000]) {
    const recipes = [recipe("naive", workMs, needs), recipe("holdfast", 500, needs)];
    const outcome = await experiment({ ...plot, recipes }).run(1);
    expect(outcome.trials.map(({ verdict, unmet }) => ({ verdict, unmet }))).toEqual([
      { verdict: "void", unmet: ["payments confirmed: 2 of at least 3"] },
      { verdict: "void", unmet: ["payments confirmed: 2 of at least 3"] },
    ]);
    expect(outcome.asExpected).toBe(false);
    const lines = reportLines(outcome, { columns: 100, paint });
    expect(lines).toContain(`? naive  <work> of ${workMs} ms`);
    expect(lines.join("\n")).toContain("This run shows nothing");
    expect(lines.at(-1)).toMatch(/^Void: .* \(naive\) .* Void: .* \(holdfast\) shows nothing\.$/);
    expect(drawPage(outcome)).toContain('<section class="void">');
  }
});

test("a library that breaks has broken, whatever else did not happen", async () => {
  const plot = { id: "D1", title: "A test", question: "Does it?", checks: [exclusion] };
  const outcome = await experiment({ ...plot, recipes: [recipe("holdfast", 4_000, [grants(9)])] }).run(1);
  expect(outcome.trials).toMatchObject([{ verdict: "fails", unmet: ["grants: 2 of at least 9"] }]);
});

test("needs count what happened: who asked while another held, who was given the lock while another went on", async () => {
  const all = [overtaken, contended, heldFor(3_000), stopped(1)];
  const unmetOf = async (workMs: number): Promise<readonly string[] | undefined> => {
    const plot = { id: "D1", title: "A test", question: "Does it?", checks: [] };
    return (await experiment({ ...plot, recipes: [recipe("naive", workMs, all)] }).run(1)).trials[0]?.unmet;
  };
  const none = "late holders stopped before they wrote: 0 of at least 1";
  expect(await unmetOf(4_000)).toEqual([none]);
  expect(await unmetOf(500)).toEqual([
    "grants while a holder before still went on: 0 of at least 1",
    "holds of more than 3 s: 0 of at least 1",
    none,
  ]);
});

test("an error of a recipe is no verdict", async () => {
  const broken = experiment({
    ...{ id: "D1", title: "A test", question: "Does it?", checks: [] },
    recipes: [
      {
        ...recipe("naive", 1),
        play: (trial) => trial.actor("Ann").run(() => Promise.reject(new Error("no"))),
      },
    ],
  });
  await expect(broken.run(7)).rejects.toThrow("seed 7: Ann failed");
});

test("the report keeps to the columns", async () => {
  const outcome = await long.run(1);
  for (const columns of [80, 120]) {
    const widest = Math.max(...reportLines(outcome, { columns, paint }).map((line) => line.length));
    expect(widest).toBeLessThanOrEqual(columns);
  }
});

test("where there are no tokens none is told of, and times are whole milliseconds", async () => {
  const outcome = await long.run(1);
  const said = outcome.trials.flatMap(({ checks }) => checks).flatMap(({ findings }) => findings);
  const text = said.map(({ message }) => message).join("\n");
  expect(text).toMatch(/by Ann with grant 1 until \d+ ms/);
  expect(text).not.toMatch(/token|\.\d+ ms/);
});

test("what is not promised is named, and not looked for", async () => {
  const plot = { id: "D1", title: "A test", question: "Does it?", checks: [] };
  const recipes = [{ ...recipe("holdfast", 4_000), notPromised: [exclusion] }];
  const outcome = await experiment({ ...plot, recipes }).run(1);
  expect(outcome.asExpected).toBe(true);
  const line = `not promised here: ${exclusion.title}`;
  expect(reportLines(outcome, { columns: 80, paint })).toContain(`  – ${line}`);
  expect(drawPage(outcome)).toContain(line);
});

test("the page is one file, with every text escaped and every id once", async () => {
  const page = drawPage(await long.run(1));
  expect(page).toContain("&lt;work&gt; of 4000 ms");
  expect(page).not.toMatch(/<work>|<script|<link|src=|url\((?!#)/);
  const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
  expect(ids.length).toBe(new Set(ids).size);
});

test("an experiment is found by its number, with or without its letter", () => {
  expect(["3", "D3", "d3", "03"].map((name) => findExperiment(name)?.id)).toEqual(["D3", "D3", "D3", "D3"]);
  expect(["", "0", "7", "D99", "x3", "3x"].map(findExperiment)).toEqual(Array(6).fill(undefined));
});
