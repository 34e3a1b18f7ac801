/** One slice of checks by one limiter, in one process. */
import type { Figures } from "../figures.js";
import type { ContestantProcess } from "./contestant-process.js";
import type { RedisServer } from "./redis-server.js";

export interface CheckTrial {
  readonly callers: number;
  readonly targets: number;
  readonly max: number;
  readonly perMs: number;
}

interface Slice extends CheckTrial {
  /** Of the targets. */
  readonly prefix: string;
  readonly ms: number;
}

export async function checkSlice(
  server: RedisServer,
  process: ContestantProcess,
  slice: Slice,
): Promise<Figures> {
  const { result: report, server: done } = await server.during(() =>
    process.do<"checks">({ task: "checks", ...slice }),
  );
  const { checks, admitted, tookMs } = report;
  return {
    checksPerSecond: (checks * 1_000) / tookMs,
    requestsPerCheck: report.requests / checks,
    commandsPerCheck: done.commands / checks,
    clientCpuMsPer10k: (report.cpuMs / checks) * 10_000,
    serverCpuMsPer10k: (done.cpuMs / checks) * 10_000,
    longestWaitMs: report.longestMs,
    admitted,
    refused: checks - admitted,
  };
}
