/** The bench as a user runs it: the compiled program in a process of its own. */
import { execFile } from "node:child_process";
import { resolve } from "node:path";
import type { QuestionId, RunResult } from "../src/result.ts";

const PROGRAM = resolve(import.meta.dirname, "../dist/main.js");

export const SLICE_SECONDS = 0.1;

interface Ended {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export function bench(args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<Ended> {
  return new Promise((done) => {
    execFile(process.execPath, [PROGRAM, ...args], { env, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      done({ exitCode: error === null ? 0 : Number(error.code ?? -1), stdout, stderr });
    });
  });
}

/** One short round. */
export async function result(...args: string[]): Promise<RunResult> {
  const short = ["--rounds", "1", "--seconds", String(SLICE_SECONDS), "--json", "--no-save"];
  const { exitCode, stdout, stderr } = await bench([...short, ...args]);
  if (exitCode !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

export function found(run: RunResult, id: QuestionId, name: string) {
  const each = run.questions
    .find((question) => question.id === id)
    ?.cases[0]?.contestants.find((contestant) => contestant.name === name);
  if (!each || each.failed !== null) throw new Error(`${id} ${name}: ${each?.failed ?? "is missing"}`);
  return each.figures;
}
