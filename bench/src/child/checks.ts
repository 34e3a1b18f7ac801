/** Checks of a limit, over and over, by several callers, for a given time. */
import { setTimeout as sleep } from "node:timers/promises";
import { requestsSent } from "../contestants/client.js";
import type { Check, Limiter } from "../limiters/limiter.js";
import { collectYoung } from "./garbage.js";
import type { ChecksReport, ChecksTask } from "./messages.js";

interface Tally {
  checks: number;
  admitted: number;
  longestMs: number;
}

export async function checks(limiter: Limiter, task: ChecksTask): Promise<ChecksReport> {
  const check = limiter.check({ max: task.max, perMs: task.perMs });
  const targets = Array.from({ length: task.targets }, (_, index) => `${task.prefix}:${index}`);
  const tally: Tally = { checks: 0, admitted: 0, longestMs: 0 };
  // What is loaded or made by the first check is no cost of the others.
  await check(`${task.prefix}:first`);
  collectYoung();
  await sleep(1);
  const requestsBefore = requestsSent();
  const cpuBefore = process.cpuUsage();
  const since = performance.now();
  await Promise.all(
    Array.from({ length: task.callers }, (_, caller) => {
      const from = Math.floor((caller * task.targets) / task.callers);
      return callOn(check, targets, from, since + task.ms, tally);
    }),
  );
  const cpu = process.cpuUsage(cpuBefore);
  return {
    ...tally,
    tookMs: performance.now() - since,
    cpuMs: (cpu.user + cpu.system) / 1_000,
    requests: requestsSent() - requestsBefore,
  };
}

async function callOn(
  check: Check,
  targets: readonly string[],
  from: number,
  endsAt: number,
  tally: Tally,
): Promise<void> {
  let index = from;
  let now = performance.now();
  while (now < endsAt) {
    const calledAt = now;
    if (await check(targets[index] as string)) tally.admitted += 1;
    tally.checks += 1;
    index = index + 1 === targets.length ? 0 : index + 1;
    now = performance.now();
    if (now - calledAt > tally.longestMs) tally.longestMs = now - calledAt;
  }
}
