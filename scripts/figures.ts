/**
 * Writes the recorded figures (bench/figures.json) into the pages that show them.
 *
 *   tsx scripts/figures.ts                  writes what is stale
 *   tsx scripts/figures.ts RUN.json …       takes the questions of these runs of the benchmark into the record first
 *   tsx scripts/figures.ts --check          writes nothing; exit code 1 and a list when something is stale
 *
 * A page has its figures between two comments, `<!-- figures … -->` and `<!-- end of figures -->`; what is there is made from the
 * newest run of each question. A question that no run has is left out.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { pages } from "./figures/pages.ts";
import { emptyRecord, type FiguresRecord, recordFile, textOf, withRun } from "./figures/record.ts";

/** The page with the figures in their place. @throws where the comments are missing */
export function filled(page: string, lines: readonly string[]): string {
  const between = /(<!-- figures [^\n]*-->\n)[\s\S]*?(<!-- end of figures -->)/;
  if (!between.test(page)) throw new Error("the comments around the figures are missing");
  return page.replace(
    between,
    (_, open: string, close: string) => `${open}\n${lines.join("\n")}\n\n${close}`,
  );
}

function main(): void {
  const root = resolve(import.meta.dirname, "..");
  const words = process.argv.slice(2);
  const check = words.includes("--check");
  const file = join(root, recordFile);
  let record: FiguresRecord = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : emptyRecord;
  const runs = words.filter((word) => word !== "--check");
  for (const run of runs) record = withRun(record, JSON.parse(readFileSync(run, "utf8")));
  if (runs.length > 0) writeFileSync(file, textOf(record));
  for (const [page, linesOf] of Object.entries(pages)) {
    const path = join(root, page);
    const before = readFileSync(path, "utf8");
    const after = filled(before, linesOf(record));
    if (after === before) continue;
    console.log(`${check ? "stale" : "write"} ${page}`);
    if (check) process.exitCode = 1;
    else writeFileSync(path, after);
  }
  if (process.exitCode === 1) console.error("Figures are stale: npx tsx scripts/figures.ts");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
