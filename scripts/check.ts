/**
 * Every gate that a change must pass, tests apart: `npm run check`, or `npm run check -- tidy knip` for some of them.
 *
 *   --json   the result as one JSON array: gate, seconds, ok, output
 *
 * One line for each gate; the full output only of those that fail. Exit code 1 when one fails, 64 when a gate or an
 * option is unknown.
 */
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { chosen, type Gate, gatesOf } from "./check/gates.ts";

interface Verdict {
  readonly gate: string;
  readonly seconds: number;
  readonly ok: boolean;
  readonly output: string;
}

const notRun = "not run: the build failed";
const root = resolve(import.meta.dirname, "..");

function judge({ name, args }: Gate): Promise<Verdict> {
  const since = performance.now();
  return new Promise((done, fail) => {
    const env = { ...process.env, NO_COLOR: "1", FORCE_COLOR: "0" };
    const child = spawn(process.execPath, args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk) => {
        output += chunk;
      });
    }
    child.on("error", fail);
    child.on("close", (code) => {
      const seconds = Number(((performance.now() - since) / 1000).toFixed(1));
      done({ gate: name, seconds, ok: code === 0, output: output.trim() });
    });
  });
}

/** Several at a time; what needs the build waits for it. It is the first of the queue, so somebody is at it. */
async function judgeAll(gates: readonly Gate[], show: (verdict: Verdict) => void): Promise<Verdict[]> {
  const queue = [...gates];
  const verdicts: Verdict[] = [];
  let build: Promise<Verdict> | undefined;
  await Promise.all(
    Array.from({ length: availableParallelism() }, async () => {
      for (let gate = queue.shift(); gate; gate = queue.shift()) {
        let verdict: Verdict;
        if (gate.name === "build") {
          build = judge(gate);
          verdict = await build;
        } else if (gate.needsBuild && !(await build)?.ok) {
          verdict = { gate: gate.name, seconds: 0, ok: false, output: notRun };
        } else {
          verdict = await judge(gate);
        }
        verdicts.push(verdict);
        show(verdict);
      }
    }),
  );
  return verdicts;
}

function show({ gate, seconds, ok, output }: Verdict): void {
  if (output === notRun) {
    console.log(`--   ${gate.padEnd(32)} ${notRun}`);
    return;
  }
  console.log(`${ok ? "ok  " : "FAIL"} ${gate.padEnd(32)} ${seconds.toFixed(1).padStart(5)} s`);
  if (!ok) console.log(`\n${output.replaceAll(/^/gm, "     ")}\n`);
}

async function main(): Promise<void> {
  const options = process.argv.slice(2);
  const json = options.includes("--json");
  const all = gatesOf(root);
  const { gates, unknown } = chosen(
    all,
    options.filter((option) => option !== "--json"),
  );
  if (unknown.length > 0) {
    console.error(`no gate ${unknown.join(", ")}; the gates: ${all.map(({ name }) => name).join(", ")}`);
    process.exitCode = 64;
    return;
  }
  const verdicts = await judgeAll(gates, json ? () => {} : show);
  const left = verdicts.filter(({ output }) => output === notRun).length;
  const failed = verdicts.filter(({ ok }) => !ok).length - left;
  if (json) console.log(JSON.stringify(verdicts, null, 2));
  else
    console.log(
      `${verdicts.length - failed - left} passed, ${failed} failed${left ? `, ${left} not run` : ""}`,
    );
  if (failed > 0) process.exitCode = 1;
}

await main();
