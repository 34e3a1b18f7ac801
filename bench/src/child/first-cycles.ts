/** The first cycles of a process by one caller, each under a name of its own. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Contestant } from "../contestants/contestant.js";
import type { FirstCyclesReport, FirstCyclesTask } from "./messages.js";

export async function firstCycles(
  contestant: Contestant,
  { cycles, prefix }: FirstCyclesTask,
): Promise<FirstCyclesReport> {
  const names = Array.from({ length: cycles }, (_, index) => `${prefix}:${index}`);
  await sleep(1);
  const cpuBefore = process.cpuUsage();
  const since = performance.now();
  for (const name of names) await contestant.release(await contestant.acquire(name, 0, true));
  const tookMs = performance.now() - since;
  const cpu = process.cpuUsage(cpuBefore);
  return { tookMs, cpuMs: (cpu.user + cpu.system) / 1_000 };
}
