#!/usr/bin/env node
/** The flash sale: several ways of selling the same stock, on this machine, in one go. See --help. */
import { CommanderError } from "commander";
import { EngineUnavailable, startEngine } from "./engine.js";
import { findNginx } from "./front/nginx.js";
import { parseOptions, type SaleOptions } from "./options.js";
import { jsonOf } from "./output/json.js";
import { notesOf } from "./output/notes.js";
import { progressFor } from "./output/progress.js";
import { tableOf } from "./output/table.js";
import { type ReportFacts, writeReport } from "./report/report.js";
import { holdSale, keepOpen, type SaleContext } from "./sale.js";
import { variantOf } from "./variants.js";

const EXIT = { ok: 0, broken: 1, usage: 64, unavailable: 69 } as const;
const SIGNAL_EXIT = { SIGINT: 130, SIGTERM: 143 } as const;

/** The reason for stopping when the user stops it. */
class Interrupted extends Error {
  readonly exitCode: number;
  constructor(exitCode: number) {
    super("interrupted");
    this.exitCode = exitCode;
  }
}

function listenForInterrupts(): AbortSignal {
  const interrupt = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    process.on(name, () => {
      // The second time the user means now; the servers and nginx end with this process.
      if (interrupt.signal.aborted) process.exit(SIGNAL_EXIT[name]);
      interrupt.abort(new Interrupted(SIGNAL_EXIT[name]));
    });
  }
  return interrupt.signal;
}

async function run(options: SaleOptions, signal: AbortSignal): Promise<number> {
  const nginxProgram = options.nginx ? findNginx() : null;
  if (options.nginx && !nginxProgram) return complain("nginx is not installed here", EXIT.unavailable);
  const engine = await startEngine(options.redisUrl);
  try {
    const context = { options, engine, nginxProgram, signal };
    const facts = await sell(context);
    const reportPath = report(options, facts);
    print(facts, reportPath);
    if (options.serve) await stayOpen(context);
    const results = facts.outcomes.map(({ result }) => result);
    return results.some(({ name, oversold }) => oversold > 0 && variantOf(name).guarded)
      ? EXIT.broken
      : EXIT.ok;
  } finally {
    await engine.stop();
  }
}

async function sell(context: SaleContext): Promise<ReportFacts> {
  const { options, engine } = context;
  const at = new Date();
  if (!options.json) {
    const { stock, requests, concurrency, servers, nginx } = options;
    const front = nginx ? "behind nginx" : "behind one port";
    process.stdout.write(
      `${stock} pieces, ${requests} buyers, ${concurrency} at a time\n${servers} web servers ${front}, ${engine.title}\n\n`,
    );
  }
  const progress = progressFor(options.requests, options.stock, process.stderr);
  try {
    return { options, outcomes: await holdSale(context, progress), engineTitle: engine.title, at };
  } finally {
    progress.end();
  }
}

/** A report that cannot be written is told, and spoils nothing else. */
function report({ reportFile }: SaleOptions, facts: ReportFacts): string | null {
  if (reportFile === null) return null;
  try {
    return writeReport(reportFile, facts);
  } catch (error) {
    complain(`no report: ${messageOf(error)}`, EXIT.ok);
    return null;
  }
}

function print({ options, outcomes }: ReportFacts, reportPath: string | null): void {
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

function complain(message: string, exitCode: number): number {
  process.stderr.write(`flash-sale: ${message}\n`);
  return exitCode;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function exitCodeOf(error: unknown): number {
  if (error instanceof Interrupted) return error.exitCode;
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  if (error instanceof EngineUnavailable) return complain(error.message, EXIT.unavailable);
  return complain(error instanceof Error ? (error.stack ?? error.message) : String(error), EXIT.broken);
}

const signal = listenForInterrupts();
try {
  process.exitCode = await run(parseOptions(process.argv.slice(2)), signal);
} catch (error) {
  // Ctrl-C also ends the servers that are just starting: what broke because of it is not the cause.
  process.exitCode = exitCodeOf(signal.aborted ? signal.reason : error);
}
