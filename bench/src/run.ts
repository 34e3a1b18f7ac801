/** A run: the questions in turn, on one server, and what becomes of the answers. */
import { setAgainst } from "./contestants/before.js";
import { machine } from "./machine.js";
import type { BenchOptions } from "./options.js";
import { progressOn } from "./output/progress.js";
import { saveResult } from "./output/results.js";
import { questionText, summaryText } from "./output/table.js";
import { judgedAgainst } from "./questions/against.js";
import { questions } from "./questions/all.js";
import type { QuestionResult, RunResult } from "./result.js";
import { RedisServer } from "./rig/redis-server.js";

export async function run(options: BenchOptions, interrupt: AbortSignal): Promise<void> {
  const since = performance.now();
  const at = new Date();
  const progress = progressOn(process.stderr);
  const isAgainst = options.against !== null;
  if (options.against !== null) setAgainst(options.against);
  const chosen = questions.filter(({ id }) => options.questions.includes(id));
  const server = await RedisServer.start();
  const facts = machine(server.version);
  const answers: QuestionResult[] = [];
  const failures: unknown[] = [];
  const interrupted = new Promise<never>((_, reject) => {
    interrupt.addEventListener("abort", () => reject(new Error("interrupted")));
  });
  interrupted.catch(() => {});
  try {
    for (const question of chosen) {
      await server.flush();
      const setting = {
        server,
        rounds: options.rounds,
        sliceMs: options.seconds * 1_000,
        only: options.only,
        isAgainst,
        watcher: progress,
      };
      try {
        const asked = await Promise.race([question.ask(setting), interrupted]);
        const answer = isAgainst ? judgedAgainst(asked) : asked;
        answers.push(answer);
        progress.clear();
        if (!options.json) process.stdout.write(`${questionText(answer)}\n\n`);
      } catch (error) {
        if (interrupt.aborted) throw error;
        // A quarter of an hour of other answers is worth keeping.
        failures.push(error);
      }
    }
  } finally {
    progress.clear();
    await server.stop();
  }
  const result: RunResult = {
    schema: 1,
    at: at.toISOString(),
    command: `npm run bench -- ${process.argv.slice(2).join(" ")}`.trim(),
    machine: facts,
    rounds: options.rounds,
    secondsPerSlice: options.seconds,
    tookSeconds: Math.round((performance.now() - since) / 1_000),
    questions: answers,
  };
  if (options.json) process.stdout.write(`${JSON.stringify(result)}\n`);
  else if (answers.length > 1) process.stdout.write(`${summaryText(answers)}\n\n`);
  if (options.save) for (const path of saveResult(options.out, result)) process.stderr.write(`${path}\n`);
  if (isAgainst) failures.push(...unmeasured(answers));
  if (failures.length > 0) throw failures[0];
}

/** Nobody may take for an answer what no round has measured. */
function unmeasured(answers: readonly QuestionResult[]): Error[] {
  const targets = answers.flatMap((answer) => answer.targets);
  return targets
    .filter(({ reached }) => reached === null)
    .map(({ text, found }) => new Error(`${text}: ${found}`));
}
