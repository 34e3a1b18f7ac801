/** A run from the engine's start to the last line printed. */
import { type Engine, startEngine } from "./engine.js";
import { EXIT, Unavailable } from "./exit-codes.js";
import { findNginx } from "./front/nginx.js";
import type { SaleOptions } from "./options.js";
import { jsonOf } from "./output/json.js";
import { notesOf } from "./output/notes.js";
import { progressFor } from "./output/progress.js";
import { tableOf } from "./output/table.js";
import { holdSale, keepOpen, type SaleContext, type VariantOutcome } from "./sale.js";
import { variantOf } from "./variants.js";

/** @returns the exit code. @throws {Unavailable} @throws the signal's reason */
export async function run(options: SaleOptions, signal: AbortSignal): Promise<number> {
  const nginxProgram = options.nginx ? findNginx() : null;
  if (options.nginx && !nginxProgram) throw new Unavailable("nginx is not installed here");
  const engine = await startEngine(options.redisUrl);
  try {
    const context = { options, engine, nginxProgram, signal };
    const at = new Date();
    const outcomes = await sell(context);
    const reportPath = await report(options, engine, outcomes, at);
    print(options, outcomes, reportPath);
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
    process.stdout.write(`${options.servers} web servers behind ${front}, ${engine.title}\n\n`);
  }
  const progress = progressFor(options.requests, options.stock, process.stderr);
  try {
    return await holdSale(context, progress);
  } finally {
    progress.end();
  }
}

/** A report that cannot be written is told, and spoils nothing else. */
async function report(
  options: SaleOptions,
  engine: Engine,
  outcomes: readonly VariantOutcome[],
  at: Date,
): Promise<string | null> {
  if (options.reportFile === null) return null;
  try {
    const { writeReport } = await import("./report/report.js");
    return writeReport(options.reportFile, { options, outcomes, engineTitle: engine.title, at });
  } catch (error) {
    process.stderr.write(
      `flash-sale: no report: ${error instanceof Error ? error.message : String(error)}\n`,
    );
    return null;
  }
}

function print(options: SaleOptions, outcomes: readonly VariantOutcome[], reportPath: string | null): void {
  const results = outcomes.map(({ result }) => result);
  if (options.json) {
    if (reportPath) process.stderr.write(`report: ${reportPath}\n`);
    process.stdout.write(`${jsonOf(options, results)}\n`);
    return;
  }
  if (process.stderr.isTTY) process.stdout.write("\n"); // Below the bars.
  process.stdout.write(`${tableOf(results)}\n\n${notesOf(results, options).join("\n")}\n`);
  if (reportPath) process.stdout.write(`\nReport: ${reportPath}\n`);
}

async function stayOpen(context: SaleContext): Promise<void> {
  await keepOpen(context, (url) => {
    process.stdout.write(
      `\nThe store is open at ${url} with ${context.options.stock} pieces. Ctrl-C closes it.\n`,
    );
  });
  throw context.signal.reason;
}
