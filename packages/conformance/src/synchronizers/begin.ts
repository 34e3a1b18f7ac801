/** A wait of a case that has begun. */
import type { NounLab } from "../case.js";
import { until } from "../wait.js";

/** Resolves once as many processes listen for the event or the latch. */
export async function untilListening(
  lab: NounLab,
  noun: "event" | "latch",
  name: string,
  count = 1,
): Promise<void> {
  await until(`${count} processes listen`, async () => {
    const reply = await lab.command("PUBSUB", "NUMSUB", `${lab.prefix}:{${name}}:${noun}`);
    return Array.isArray(reply) && Number(reply[1]) >= count;
  });
}

/** Resolves once as many parties wait at the barrier. */
export async function untilArrived(lab: NounLab, name: string, count: number): Promise<void> {
  await until(`${count} parties wait`, async () => {
    const waiting = await lab.command("ZCARD", `${lab.prefix}:{${name}}:barrier:leases`);
    return Number(waiting) === count;
  });
}
