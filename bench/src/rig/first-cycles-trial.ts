/** One slice of first cycles: a process that starts, opens its contestant, does them, and ends. */
import type { ContestantName } from "../contestants/contestant.js";
import type { Figures } from "../figures.js";
import { ContestantProcess } from "./contestant-process.js";
import type { RedisServer } from "./redis-server.js";

export async function firstCyclesSlice(
  server: RedisServer,
  name: ContestantName,
  cycles: number,
): Promise<Figures> {
  // The names have no state of an earlier process.
  await server.flush();
  const process = await ContestantProcess.start(name, server.port);
  try {
    const { tookMs, cpuMs } = await process.do<"first-cycles">({
      task: "first-cycles",
      cycles,
      prefix: `bench:${name}:first`,
    });
    return { clientCpuMsPer10k: (cpuMs / cycles) * 10_000, cyclesPerSecond: (cycles * 1_000) / tookMs };
  } finally {
    await process.end();
  }
}
