/** One slice of acquire and release by one contestant, in one or several processes. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CyclesReport, CyclesTask, Section } from "../child/messages.js";
import type { ContestantName } from "../contestants/contestant.js";
import type { Figures } from "../figures.js";
import type { ContestantProcess } from "./contestant-process.js";
import type { RedisServer } from "./redis-server.js";
import { jain, sum } from "./statistics.js";

export interface CycleTrial {
  readonly names: CyclesTask["names"];
  readonly callersPerProcess: number;
  readonly section: Section["kind"];
}

interface Slice extends CycleTrial {
  /** Cases do not share names: what one left behind is no concern of the next. */
  readonly caseId: string;
  readonly ms: number;
}

/** All processes start at once, this long after they were told. */
const START_IN_NS = 30_000_000n;

export async function cycleSlice(
  server: RedisServer,
  processes: readonly ContestantProcess[],
  trial: Slice,
): Promise<Figures> {
  const name = (processes[0] as ContestantProcess).name;
  const counter = openCounter(trial.section, name);
  try {
    const task: CyclesTask = {
      task: "cycles",
      callers: trial.callersPerProcess,
      ms: trial.ms,
      startAtNs: String(process.hrtime.bigint() + START_IN_NS),
      names: trial.names,
      section: counter.section,
      prefix: `bench:${name}:${trial.caseId}`,
    };
    const { result: reports, server: done } = await server.during(() =>
      Promise.all(
        processes.map((each, index) => {
          const prefix = trial.names === "hot" ? task.prefix : `${task.prefix}:${index}`;
          return each.do<"cycles">({ ...task, prefix });
        }),
      ),
    );
    const cycles = sum(reports.map((report) => report.cycles));
    const lostUpdates = cycles - (await counter.count(server, reports));
    // The section's GET and SET, in a store under test, are no commands of the lock.
    const sectionCommands = trial.section === "redis" ? 2 * cycles + SECTION_OPENS * processes.length : 0;
    return {
      ...figuresOf(reports, trial.ms),
      commandsPerCycle: (done.commands - sectionCommands) / cycles,
      readsPerCycle: (done.reads - sectionCommands) / cycles,
      bytesPerCycle: (done.bytesIn + done.bytesOut) / cycles,
      serverCpuMsPer10k: (done.cpuMs / cycles) * 10_000,
      lostUpdates,
    };
  } finally {
    counter.end();
  }
}

/** HELLO, CLIENT SETINFO twice, INFO and PING of the connection that the section opens. */
const SECTION_OPENS = 5;

function figuresOf(reports: readonly CyclesReport[], ms: number): Figures {
  const total = (of: (report: CyclesReport) => number) => sum(reports.map(of));
  const cycles = total((report) => report.cycles);
  const perCaller = reports.flatMap((report) => report.perCaller);
  return {
    cyclesPerSecond: (sum(perCaller) * 1_000) / ms,
    requestsPerCycle: total((report) => report.requests) / cycles,
    clientCpuMsPer10k: (total((report) => report.cpuMs) / cycles) * 10_000,
    jain: jain(perCaller),
    longestWaitMs: Math.max(...reports.map((report) => report.longestWaitMs)),
    starved: perCaller.filter((count) => count === 0).length,
    gaveUp: total((report) => report.gaveUp),
  };
}

interface OpenCounter {
  readonly section: Section;
  count(server: RedisServer, reports: readonly CyclesReport[]): Promise<number>;
  end(): void;
}

function openCounter(kind: Section["kind"], name: ContestantName): OpenCounter {
  const cyclesOf = (reports: readonly CyclesReport[]) => sum(reports.map(({ cycles }) => cycles));
  const end = (): void => {};
  switch (kind) {
    case "none":
      return { section: { kind }, count: async (_, reports) => cyclesOf(reports), end };
    case "memory":
      return {
        section: { kind },
        count: async (_, reports) =>
          cyclesOf(reports) -
          sum(reports.map(({ lostUpdates, overlaps }) => Math.max(lostUpdates, overlaps))),
        end,
      };
    case "redis": {
      const key = `counter:${name}:${randomBytes(6).toString("hex")}`;
      return { section: { kind, key }, count: (server) => server.numberAt(key), end };
    }
    case "file": {
      const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-"));
      const path = join(folder, "counter");
      writeFileSync(path, new Uint8Array(8));
      return {
        section: { kind, path },
        count: async () => new Float64Array(new Uint8Array(readFileSync(path)).buffer)[0] ?? Number.NaN,
        end: () => rmSync(folder, { recursive: true, force: true }),
      };
    }
  }
}
