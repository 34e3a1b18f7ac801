/** The unit tests of the library as a second judge of mutants: which of them fails on a changed library. */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { relative, resolve } from "node:path";
import type { Mutant } from "@holdfast/lab/mutation";

const root = resolve(import.meta.dirname, "..");

/** Which are about what, the quick ones first. */
const suitesOf: readonly (readonly [part: string, suites: readonly string[]])[] = [
  ["lease/keeper", ["keeper", "local-line", "held-lease", "close"]],
  ["lease/", ["keeper", "held-lease", "local-line", "under-way", "close", "listeners"]],
  ["locks/local-line", ["local-line", "held-lease", "under-way", "close", "abort"]],
  ["locks/caller-queue", ["local-line", "abort"]],
  ["renew.lua", ["batch-scripts", "hazards/scripts"]],
  ["acquire-many.lua", ["batch-scripts", "lock-scripts", "hazards/scripts"]],
  ["release-many.lua", ["batch-scripts", "hazards/scripts"]],
  ["transfer.lua", ["transfer-script"]],
  [".lua", ["lock-scripts", "release-script", "batch-scripts", "hazards/scripts"]],
  [
    "",
    ["under-way", "cleanup", "waits", "connection", "replies", "server-clock", "close", "abort", "listeners"],
  ],
];

function suitesFor(file: string): string[] {
  const [, names] = suitesOf.find(([part]) => file.includes(part)) ?? ["", []];
  return names.map((name) => `packages/holdfast/test/${name}.test.ts`);
}

/** A suite of these takes seconds. */
const timeoutMs = 90_000;

interface Told {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

/** The first test that fails on it, or what else went wrong; null: none. */
export async function firstFailing(mutant: Pick<Mutant, "file" | "source">): Promise<string | null> {
  const folder = mkdtempSync(resolve(tmpdir(), "holdfast-units-"));
  try {
    const change = resolve(folder, "mutant.json");
    const report = resolve(folder, "report.json");
    writeFileSync(change, JSON.stringify([[mutant.file, mutant.source]]));
    const failed = await run(change, report, suitesFor(mutant.file));
    if (!failed) return null;
    return failingIn(report) ?? "the tests came to no end";
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function run(change: string, report: string, suites: readonly string[]): Promise<boolean> {
  const vitest = resolve(root, "node_modules/vitest/vitest.mjs");
  const words = ["run", "--config", "scripts/mutation.vitest.config.ts", "--bail", "1", "--maxWorkers", "1"];
  const output = ["--reporter", "json", "--outputFile", report];
  const env = { ...process.env, HOLDFAST_MUTANT: change };
  const settings = { cwd: root, env, timeout: timeoutMs, killSignal: "SIGKILL", maxBuffer: 2 ** 26 } as const;
  return new Promise((done) => {
    execFile(process.execPath, [vitest, ...words, ...output, ...suites], settings, (error) =>
      done(error !== null),
    );
  });
}

function failingIn(report: string): string | null {
  try {
    const { testResults } = JSON.parse(readFileSync(report, "utf8")) as Told;
    for (const { name, status, assertionResults } of testResults) {
      const file = relative(root, name);
      const failed = assertionResults.find((test) => test.status === "failed");
      if (failed) return `${file} > ${failed.fullName}`;
      if (status === "failed") return file;
    }
  } catch {} // it was ended before it could say
  return null;
}
