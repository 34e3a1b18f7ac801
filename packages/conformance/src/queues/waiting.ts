/** Queues from outside: who waits, and deadlines that pass at once. */
import type { Queue } from "holdfast";
import type { NounLab } from "../case.js";
import { until } from "../wait.js";

/** Resolves when Redis knows of `count` free places. */
export async function idle(queue: Pick<Queue, "state">, count = 1): Promise<void> {
  await until(`there are ${count} free places`, async () => (await queue.state()).idle === count);
}

/** The key of a part of a queue. */
export function keyOf(lab: NounLab, name: string, part?: string): string {
  const key = `${lab.prefix}:{${name}}:queue`;
  return part === undefined ? key : `${key}:${part}`;
}

/** The deadlines of all deliveries, or the delays of all messages, are over. Returns their number. */
export async function passed(lab: NounLab, name: string, part: "away" | "later"): Promise<number> {
  const key = keyOf(lab, name, part);
  const members = (await lab.command("ZRANGE", key, "0", "-1")) as readonly string[];
  for (const member of members) await lab.command("ZADD", key, "XX", "1", member);
  return members.length;
}
