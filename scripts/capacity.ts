/**
 * What locks, limits and queues ask of one server, as the processes grow: docs/guides/capacity.md.
 *
 *   npm run capacity                     all three parts, about 20 minutes; writes the record, the page and its picture
 *   npm run capacity -- virtual          the loads in virtual time: requests and commands, up to 1,000 processes
 *   npm run capacity -- real             the same in real processes, over a redis-server: CPU and memory too
 *   npm run capacity -- server           what keeps a redis-server busy: its time for one unit of work
 *   npm run capacity -- page             measures nothing: writes the page and its picture from the record
 *
 *   --processes N,N    numbers of processes      [virtual: 1,10,100,1000; real: 1,10,100]
 *   --no-save          write no files
 *   --json             the rows for a program
 *
 * Requests, commands and bytes are exact. CPU is that of this machine: close other programs for it. A part replaces
 * only its own figures in bench/results/capacity.json. Exit codes: 1 a load failed; 64 called wrongly; 69 no redis-server;
 * 130 Ctrl-C.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import {
  type CapacityRecord,
  capacityPage,
  capacityPicture,
  type Machine,
  measurePart,
  type Part,
  type PartName,
  places,
  summary,
} from "@holdfast/lab/capacity";
import { findServers } from "./servers.ts";
import { Misuse, runScript } from "./usage.ts";

const root = join(import.meta.dirname, "..");
const parts: readonly PartName[] = ["virtual", "real", "server"];
const usual: Readonly<Record<PartName, readonly number[]>> = {
  virtual: [1, 10, 100, 1_000],
  real: [1, 10, 100],
  server: [],
};
const noServer = 69;

for (const [signal, code] of [["SIGINT", 130] as const, ["SIGTERM", 143] as const])
  process.on(signal, () => process.exit(code));
await runScript(import.meta.url, main);

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    allowNegative: true,
    options: {
      processes: { type: "string", default: "" },
      save: { type: "boolean", default: true },
      json: { type: "boolean", default: false },
    },
  });
  const unknown = positionals.find((word) => word !== "page" && !parts.some((part) => part === word));
  if (unknown !== undefined) throw new Misuse(`no part "${unknown}": there are ${parts.join(", ")} and page`);
  const chosen = parts.filter((part) => positionals.length === 0 || positionals.includes(part));
  const program = findServers(process.env).HOLDFAST_REDIS_SERVER || null;
  if (program === null && chosen.some((part) => part !== "virtual")) {
    console.error("capacity: needs redis-server on PATH: apt-get install redis-server");
    return noServer;
  }
  const numbers = numbersOf(values.processes);
  const measured: Partial<Record<PartName, Part>> = {};
  for (const part of chosen) {
    measured[part] = await measure(part, numbers.length > 0 ? numbers : usual[part], program);
    const { rows, failed } = measured[part];
    if (!values.json) console.log(`\n${summary(rows)}`);
    for (const line of failed) console.error(`without figures: ${line}`);
  }
  if (values.json) console.log(JSON.stringify(measured));
  if (values.save) save(measured);
  return Object.values(measured).some(({ failed }) => failed.length > 0) ? 1 : 0;
}

function numbersOf(text: string): number[] {
  return text
    .split(",")
    .filter((word) => word !== "")
    .map((word) => {
      const number = Number(word);
      if (Number.isInteger(number) && number >= 1 && number <= 10_000) return number;
      throw new Misuse(`--processes must be whole numbers from 1 to 10000, not "${word}"`);
    });
}

async function measure(part: PartName, processes: readonly number[], program: string | null): Promise<Part> {
  const machine = machineOf(part, program);
  const at = new Date().toISOString();
  const result = await measurePart(part, { program, processes, now: showProgress() });
  if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
  return { at, command: `npm run capacity -- ${part}`, machine, ...result };
}

/** One line that is written over on a terminal; a line for each load elsewhere. */
function showProgress(): (line: string) => void {
  const sinceMs = performance.now();
  return (line) => {
    const stamped = `${Math.round((performance.now() - sinceMs) / 1_000)} s  ${line}`;
    process.stderr.write(process.stderr.isTTY ? `\r\x1b[K${stamped}` : `${stamped}\n`);
  };
}

function machineOf(part: PartName, program: string | null): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: cpus().length,
    node: process.versions.node,
    server: part === "virtual" || program === null ? "the embedded Valkey" : versionOf(program),
    loadBefore: Number((loadavg()[0] ?? 0).toFixed(2)),
    commit: commit(),
  };
}

function versionOf(program: string): string {
  const told = execFileSync(program, ["--version"], { encoding: "utf8" });
  return `Redis ${/v=(\S+)/.exec(told)?.[1] ?? "of unknown version"}`;
}

/** Of the sources that were measured; "-dirty" when some of them were not committed. */
function commit(): string | null {
  try {
    const args = ["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"];
    return execFileSync("git", args, {
      cwd: root,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch {
    return null;
  }
}

function save(measured: Partial<Record<PartName, Part>>): void {
  const [recordFile, pageFile, pictureFile] = [places.record, places.page, places.picture].map((place) =>
    join(root, place),
  ) as [string, string, string];
  const kept = existsSync(recordFile) ? JSON.parse(readFileSync(recordFile, "utf8")) : {};
  const record = { ...kept, schema: 1, ...measured } as CapacityRecord;
  if (Object.keys(measured).length > 0) writeFileSync(recordFile, textOf(record));
  const missing = parts.filter((part) => record[part] === undefined);
  if (missing.length > 0) {
    console.error(`the page waits for the parts that were never measured: ${missing.join(", ")}`);
    return;
  }
  writeFileSync(pageFile, capacityPage(readFileSync(pageFile, "utf8"), record));
  writeFileSync(pictureFile, capacityPicture(record));
  console.error([recordFile, pageFile, pictureFile].join("\n"));
}

/** A line for each row, so that changes can be read. */
function textOf(record: CapacityRecord): string {
  return `${JSON.stringify(record, null, 1).replace(/\{\n {4}"load":[^}]*\}/g, (row) => row.replace(/\n */g, " "))}\n`;
}
