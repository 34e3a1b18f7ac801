/**
 * Chaos on this machine: real servers and workers under faults, judged by the checkers of packages/lab.
 *
 *   npm run chaos -- --minutes 2 --seed 1
 *
 *   --minutes N    how long: the round under way at the end is finished           [2]
 *   --seed N       of the first round; the others follow from it                  [1]
 *   --only KINDS   just these faults, with commas between: see --list
 *   --server NAMES redis-server, valkey-server, embedded, in turn   [those that are installed]
 *   --workloads NAMES beside the mutex: each round has up to three of them            [all]
 *   --against FOLDER  every second process runs the library of this other clone, which is built   [none]
 *   --list         the kinds of faults
 *   --json         the result for a program
 *
 * Exit code 1 when a rule was broken: what happened is then in a folder that it names. 2 when nothing was shown, because
 * no canary was caught, no fault struck that could catch one, or hardly anything was granted. 64 when it was called wrongly.
 */
import { existsSync } from "node:fs";
import { basename, resolve } from "node:path";
import { parseArgs } from "node:util";
import { faultKinds, jsonOf, progressLine, runChaos, summary, workloadNames } from "@holdfast/lab/chaos";
import { findServers } from "./servers.ts";
import { Misuse, runScript } from "./usage.ts";

const found = findServers(process.env);
const programs = [found.HOLDFAST_REDIS_SERVER, found.HOLDFAST_VALKEY_SERVER].filter(
  (path) => path !== undefined && path !== "",
) as string[];
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(130));
await runScript(import.meta.url, main);

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      minutes: { type: "string", default: "2" },
      seed: { type: "string", default: "1" },
      only: { type: "string", default: "" },
      server: { type: "string", default: "" },
      workloads: { type: "string", default: "all" },
      against: { type: "string" },
      list: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
    },
  });
  if (values.list) {
    console.log(faultKinds().join("\n"));
    return 0;
  }
  const [vaultProgram] = programs;
  if (!vaultProgram) throw new Misuse("needs a server: apt-get install redis-server");
  const outcome = await runChaos({
    seed: numberOf("seed", values.seed),
    lengthMs: numberOf("minutes", values.minutes) * 60_000,
    servers: serversOf(values.server),
    vaultProgram,
    only: kindsOf(values.only),
    workloads: workloadsOf(values.workloads),
    against: againstOf(values.against),
    onRound: (tally, at) => console.error(progressLine(tally, at)),
  });
  console.log(values.json ? jsonOf(outcome) : `\n${summary(outcome)}`);
  if (outcome.broken) return 1;
  return outcome.tally.void === null ? 0 : 2;
}

function numberOf(option: string, text: string): number {
  const number = Number(text);
  if (text.trim() === "" || !(number >= 0)) throw new Misuse(`--${option} must be a number, not "${text}"`);
  return number;
}

function againstOf(folder: string | undefined): string | null {
  if (folder === undefined) return null;
  const built = resolve(folder, "node_modules/holdfast/dist/index.js");
  if (!existsSync(built))
    throw new Misuse(`--against: no ${built}: clone it, npm ci and npm run build there`);
  return resolve(folder);
}

function kindsOf(text: string): string[] {
  const kinds = text.split(",").filter((kind) => kind !== "");
  const unknown = kinds.find((kind) => !faultKinds().includes(kind));
  if (unknown !== undefined) throw new Misuse(`--only: no fault "${unknown}", see --list`);
  return kinds;
}

/** An empty text: the mutex alone. */
function workloadsOf(text: string): readonly string[] {
  if (text === "all") return workloadNames;
  const names = text.split(",").filter((name) => name !== "");
  const unknown = names.find((name) => !workloadNames.includes(name));
  if (unknown !== undefined)
    throw new Misuse(`--workloads: no "${unknown}", there are ${workloadNames.join(", ")}`);
  return names;
}

function serversOf(text: string): ("embedded" | { title: string; program: string })[] {
  const named = programs.map((program) => ({ title: basename(program), program }));
  if (text === "") return named;
  return text.split(",").map((name) => {
    const server = named.find(({ title }) => title === name);
    if (name !== "embedded" && !server) throw new Misuse(`--server: no "${name}" on this machine`);
    return server ?? "embedded";
  });
}
