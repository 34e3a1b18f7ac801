/** A load run, from the first start of the application to the last line printed. */
import type { LoadContext } from "./context.js";
import { jsonOf } from "./output/json.js";
import { notesOf } from "./output/notes.js";
import { type Progress, progressFor } from "./output/progress.js";
import { rowOf } from "./output/rows.js";
import { tableOf } from "./output/table.js";
import { isWhole } from "./result.js";
import type { RunFacts } from "./run-facts.js";
import { runWay, type WayRun } from "./way.js";

/** @returns the exit code: 1 when the data shows what must not be. @throws the signal's reason */
export async function runLoad(context: LoadContext): Promise<number> {
  const { options } = context;
  const at = new Date();
  const progress = progressFor(process.stderr);
  const facts = await factsOf(context, progress, at).finally(() => progress.end());
  const reportPath = options.reportFile === null ? null : await report(options.reportFile, facts);
  if (options.json) {
    if (reportPath) process.stderr.write(`report: ${reportPath}\n`);
    process.stdout.write(`${jsonOf(facts)}\n`);
  } else {
    print(facts, reportPath);
  }
  return facts.outcomes.every(isWhole) && facts.archive.differences === 0 ? 0 : 1;
}

async function factsOf(context: LoadContext, progress: Progress, at: Date): Promise<RunFacts> {
  const runs: WayRun[] = [];
  for (const way of context.options.ways) runs.push(await runWay(context, way, progress));
  const differences = runs.reduce((sum, run) => sum + run.archiveDifferences, 0);
  return {
    options: context.options,
    batches: runs[0]?.batches ?? 0,
    server: runs[0]?.server ?? "",
    outcomes: runs.map(({ outcome }) => outcome),
    archive: { differences },
    at,
  };
}

/** A report that cannot be written costs nobody the table. */
async function report(file: string, facts: RunFacts): Promise<string | null> {
  try {
    const { writeReport } = await import("./report/report.js");
    return writeReport(file, facts);
  } catch (error) {
    process.stderr.write(`dormitory: no report: ${error instanceof Error ? error.message : error}\n`);
    return null;
  }
}

function print(facts: RunFacts, reportPath: string | null): void {
  // A pipe or a file has no width: it gets all there is.
  const width = process.stdout.isTTY ? process.stdout.columns : Infinity;
  const rows = facts.outcomes.map(({ result }) => rowOf(result));
  process.stdout.write(`\n${tableOf(rows, width)}\n\n${notesOf(facts).join("\n")}\n`);
  if (reportPath) process.stdout.write(`\nReport: ${reportPath}\n`);
}
