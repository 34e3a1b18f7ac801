/** A run from the engine's start to the last line printed. */
import { type Engine, startEngine, titleOf } from "./engine.js";
import { EXIT } from "./exit-codes.js";
import { toldOf } from "./failure.js";
import { requireNginx } from "./front/nginx.js";
import { requirePort } from "./front/ports.js";
import { LOCK_SERVER_COUNT } from "./lock-servers.js";
import type { SaleOptions } from "./options.js";
import { jsonOf } from "./output/json.js";
import { notesOf } from "./output/notes.js";
import { progressFor } from "./output/progress.js";
import { rowsOf } from "./output/rows.js";
import { TEXT_WIDTH, tableOf, wrapped } from "./output/table.js";
import { holdSale, keepOpen, type SaleContext, type VariantOutcome } from "./sale.js";
import { variantOf } from "./variants.js";

/** By their paths from the root of the repository, where the sale is started. */
const READ_NEXT = `Read next: examples/flash-sale/README.md explains the table and has more
options, docs/guides/locks.md is the lock, docs/guides/fencing.md what a fence
adds.`;

/** @returns the exit code. @throws {Unavailable} @throws the signal's reason */
export async function run(options: SaleOptions, signal: AbortSignal): Promise<number> {
  const nginxProgram = options.nginx ? requireNginx() : null;
  if (options.port !== null) await requirePort(options.port);
  const engine = await startEngine(options.redisUrl, options.redlock ? LOCK_SERVER_COUNT : 0);
  try {
    const ending = AbortSignal.any([signal, engine.gone]);
    const context = { options, engine, nginxProgram, signal: ending };
    const at = new Date();
    const outcomes = await sell(context);
    const reportPath = await report(options, engine, outcomes, at);
    print(context, outcomes, reportPath);
    if (options.serve) await stayOpen(context);
    const broken = outcomes.some(({ result }) => result.oversold > 0 && variantOf(result.name).guarded);
    return broken ? EXIT.broken : EXIT.ok;
  } finally {
    await engine.stop();
  }
}

async function sell(context: SaleContext): Promise<VariantOutcome[]> {
  const { options, engine } = context;
  if (!options.json) {
    const front = options.nginx ? "nginx" : "one port";
    process.stdout.write(
      `${options.stock} pieces, ${options.requests} buyers, ${options.concurrency} at a time\n`,
    );
    process.stdout.write(`${options.servers} web servers behind ${front}, ${titleOf(engine)}\n\n`);
  }
  const progress = progressFor(options.requests, options.stock, process.stderr);
  try {
    return await holdSale(context, progress);
  } finally {
    progress.end();
  }
}

/** When the report cannot be written, the output says so, and the run goes on. */
async function report(
  options: SaleOptions,
  engine: Engine,
  outcomes: readonly VariantOutcome[],
  at: Date,
): Promise<string | null> {
  if (options.reportFile === null) return null;
  try {
    const { writeReport } = await import("./report/report.js");
    return writeReport(options.reportFile, { options, outcomes, engineTitle: titleOf(engine), at });
  } catch (error) {
    process.stderr.write(`flash-sale: no report: ${toldOf(error)}\n`);
    return null;
  }
}

function print(
  { options, engine }: SaleContext,
  outcomes: readonly VariantOutcome[],
  reportPath: string | null,
): void {
  const results = outcomes.map(({ result }) => result);
  if (options.json) {
    if (reportPath) process.stderr.write(`report: ${reportPath}\n`);
    process.stdout.write(`${jsonOf(options, engine, results)}\n`);
    return;
  }
  if (process.stderr.isTTY) process.stdout.write("\n"); // Below the bars.
  // A pipe or a file has no width: it gets all there is.
  const width = process.stdout.isTTY ? process.stdout.columns : Infinity;
  const notes = notesOf(results, options).map((note) => `${wrapped(note, Math.min(width, TEXT_WIDTH))}\n`);
  process.stdout.write(`${tableOf(rowsOf(results, options), width)}\n\n${notes.join("")}`);
  if (reportPath) process.stdout.write(`\nReport: ${reportPath}\n`);
  process.stdout.write(`\n${READ_NEXT}\n`);
}

async function stayOpen(context: SaleContext): Promise<void> {
  await keepOpen(context, (url) => {
    process.stdout.write(
      `\nThe store is open at ${url} with ${context.options.stock} pieces. Ctrl-C closes it.\n`,
    );
  });
  throw context.signal.reason;
}
