/** One slice of acquire and release by one contestant, in one or several processes. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CyclesReport, CyclesTask, HoldersSection, Section } from "../child/messages.js";
import type { ContestantName } from "../contestants/contestant.js";
import type { Figures } from "../figures.js";
import type { ContestantProcess } from "./contestant-process.js";
import type { Servers } from "./redis-server.js";
import { jain, sum } from "./statistics.js";

export interface CycleTrial {
  readonly names: CyclesTask["names"];
  readonly callersPerProcess: number;
  readonly section: Section["kind"];
  /** For section "holders". */
  readonly holders?: Pick<HoldersSection, "most" | "stayMs">;
  readonly writePercent?: number;
  /** Whether turns are counted that went from one process to another. @default false */
  readonly notesTurns?: boolean;
}

interface Slice extends CycleTrial {
  /** Cases do not share names: what one left behind is no concern of the next. */
  readonly caseId: string;
  readonly ms: number;
}

/** All processes start at once, this long after they were told. */
const START_IN_NS = 30_000_000n;

export async function cycleSlice(
  server: Servers,
  processes: readonly ContestantProcess[],
  trial: Slice,
): Promise<Figures> {
  const name = (processes[0] as ContestantProcess).name;
  const counter = openCounter(trial, name);
  try {
    const task: CyclesTask = {
      task: "cycles",
      callers: trial.callersPerProcess,
      ms: trial.ms,
      startAtNs: String(process.hrtime.bigint() + START_IN_NS),
      names: trial.names,
      section: counter.section,
      ...(trial.writePercent === undefined ? {} : { writePercent: trial.writePercent }),
      ...(trial.notesTurns ? { notesTurns: true } : {}),
      prefix: `bench:${name}:${trial.caseId}`,
    };
    const { result: reports, server: done } = await server.during(() =>
      Promise.all(
        processes.map((each, index) => {
          const prefix = trial.names === "hot" ? task.prefix : `${task.prefix}:${index}`;
          const { section } = task;
          return each.do<"cycles">({
            ...task,
            prefix,
            section: section.kind === "holders" ? { ...section, from: index * task.callers } : section,
          });
        }),
      ),
    );
    const cycles = sum(reports.map((report) => report.cycles));
    const lostUpdates = cycles - (await counter.count(server, reports));
    // The section's GET and SET, in a store under test, are no commands of the lock.
    const sectionCommands = trial.section === "redis" ? 2 * cycles + SECTION_OPENS * processes.length : 0;
    return {
      ...figuresOf(reports, trial.ms, server.ports.length),
      ...(trial.notesTurns ? { handOversPerSecond: (handOversIn(reports) * 1_000) / trial.ms } : {}),
      commandsPerCycle: (done.commands - sectionCommands) / cycles,
      readsPerCycle: (done.reads - sectionCommands) / cycles,
      bytesPerCycle: (done.bytesIn + done.bytesOut) / cycles,
      serverCpuMsPer10k: (done.cpuMs / cycles) * 10_000,
      lostUpdates,
      tooMany: sum(reports.map((report) => report.overlaps)),
    };
  } finally {
    counter.end();
  }
}

/** HELLO, CLIENT SETINFO twice, INFO and PING of the connection that the section opens. */
const SECTION_OPENS = 5;

function figuresOf(reports: readonly CyclesReport[], ms: number, servers: number): Figures {
  const total = (of: (report: CyclesReport) => number) => sum(reports.map(of));
  const cycles = total((report) => report.cycles);
  const perCaller = reports.flatMap((report) => report.perCaller);
  return {
    cyclesPerSecond: (sum(perCaller) * 1_000) / ms,
    requestsPerCycle: total((report) => report.requests) / cycles,
    ...(servers > 1 ? { requestsPerNodeCycle: total((report) => report.requests) / cycles / servers } : {}),
    clientCpuMsPer10k: (total((report) => report.cpuMs) / cycles) * 10_000,
    jain: jain(perCaller),
    processJain: jain(reports.map((report) => sum(report.perCaller))),
    longestWaitMs: Math.max(...reports.map((report) => report.longestWaitMs)),
    starved: perCaller.filter((count) => count === 0).length,
    gaveUp: total((report) => report.gaveUp),
  };
}

/** The number of turns that went to another process than the turn before. */
function handOversIn(reports: readonly CyclesReport[]): number {
  const turns = reports.flatMap(({ turnsAtMs }, process) => turnsAtMs.map((atMs) => ({ atMs, process })));
  turns.sort((one, other) => one.atMs - other.atMs);
  return turns.filter(({ process }, place) => place > 0 && turns[place - 1]?.process !== process).length;
}

interface OpenCounter {
  readonly section: Section;
  count(server: Servers, reports: readonly CyclesReport[]): Promise<number>;
  end(): void;
}

function openCounter({ section: kind, holders }: CycleTrial, name: ContestantName): OpenCounter {
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
    case "own":
      // The first to begin and the last to end saw all cycles between them.
      return {
        section: { kind },
        count: async (_, reports) =>
          Math.max(...reports.map(({ counted }) => counted.to)) -
          Math.min(...reports.map(({ counted }) => counted.from)),
        end,
      };
    case "redis": {
      const key = `counter:${name}:${randomBytes(6).toString("hex")}`;
      return { section: { kind, key }, count: (server) => server.numberAt(key), end };
    }
    case "file": {
      const { path, end: remove } = openFile(8);
      return {
        section: { kind, path },
        count: async () => new Float64Array(new Uint8Array(readFileSync(path)).buffer)[0] ?? Number.NaN,
        end: remove,
      };
    }
    case "holders": {
      if (!holders) throw new Error("a section of holders needs to know how many there may be");
      const { path, end: remove } = openFile(1);
      return {
        section: { kind, path, from: 0, ...holders },
        count: async (_, reports) => cyclesOf(reports),
        end: remove,
      };
    }
  }
}

/** A file of zeros, for what the processes share. */
function openFile(bytes: number): { readonly path: string; end(): void } {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-"));
  const path = join(folder, "shared");
  writeFileSync(path, new Uint8Array(bytes));
  return { path, end: () => rmSync(folder, { recursive: true, force: true }) };
}
