import { ServerProcess } from "@holdfast/conformance";
import { Redis } from "ioredis";
import { monoMs, pauseMs } from "../../chaos/time.js";
import type { Load, Row, Scale } from "../load.js";
import { figuresOf, type ServerFigures } from "./figures.js";
import { MemberProcess } from "./member-process.js";
import type { Report } from "./task.js";

/** Processes that join at a time: more only wait for the processor. */
const joinedAtOnce = 8;
/** The server counts the memory of its clients now and then. */
const restMs = 300;

export interface Crew {
  readonly processes: number;
  readonly members: readonly MemberProcess[];
}

/** Starts the processes, and one more as a helper; the loads have them one after the other. */
export function startCrew(processes: number): Crew {
  return { processes, members: Array.from({ length: processes + 1 }, () => new MemberProcess()) };
}

export async function endCrew({ members }: Crew): Promise<void> {
  await Promise.all(members.map((member) => member.end()));
}

/** @param program path of redis-server or valkey-server */
export async function playReally(
  load: Load,
  { processes, members: crew }: Crew,
  { program, scale }: { readonly program: string; readonly scale: Scale },
): Promise<Row[]> {
  const server = await ServerProcess.start({ program });
  const client = new Redis({ host: server.host, port: server.port });
  const members = crew.slice(0, processes + load.helpers);
  try {
    let memory = await figuresOf(client);
    const to = { kind: "join", load: load.id, processes, port: server.port, scale } as const;
    for (let from = 0; from < members.length; from += joinedAtOnce) {
      const next = members.slice(from, from + joinedAtOnce);
      await all(next.map((member, n) => member.order({ ...to, place: from + n })));
    }
    const rows: Row[] = [];
    for (const { name, counted } of load.phases) {
      const counts = await playPhase(client, members, name, processes);
      await pauseMs(restMs);
      const after = await figuresOf(client);
      const row = { load: load.id, phase: name, way: "real", processes, ...counts } as const;
      if (counted) rows.push({ ...row, ...grown(memory, after) });
      memory = after;
    }
    return rows;
  } finally {
    await Promise.allSettled(members.map((member) => member.order({ kind: "leave" })));
    client.disconnect();
    await server.stop();
  }
}

type Counts = Omit<Row, "load" | "phase" | "way" | "processes" | "dataBytes" | "allBytes">;

async function playPhase(
  client: Redis,
  members: readonly MemberProcess[],
  phase: string,
  processes: number,
): Promise<Counts> {
  const before = await figuresOf(client);
  const sinceMs = monoMs();
  const reports = await all(members.map((member) => member.order({ kind: "phase", phase })));
  const seconds = (monoMs() - sinceMs) / 1_000;
  const after = await figuresOf(client);
  const own = reports.slice(0, processes);
  const sum = (part: "done" | "requests" | "cpuMs") => own.reduce((total, report) => total + report[part], 0);
  return {
    done: sum("done"),
    seconds: rounded(seconds),
    requests: sum("requests"),
    commands: after.commands - before.commands - 1, // less the question before
    clientCpuMs: rounded(sum("cpuMs")),
    serverCpuMs: rounded(after.cpuMs - before.cpuMs),
    scriptMs: rounded(after.scriptMs - before.scriptMs),
  };
}

/** Waits for each of them, so that no process is asked again before it has answered. @throws the first error */
async function all(reports: readonly Promise<Report>[]): Promise<Report[]> {
  await Promise.allSettled(reports);
  return await Promise.all(reports);
}

function grown(before: ServerFigures, after: ServerFigures): Pick<Row, "dataBytes" | "allBytes"> {
  return { dataBytes: after.dataBytes - before.dataBytes, allBytes: after.allBytes - before.allBytes };
}

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
