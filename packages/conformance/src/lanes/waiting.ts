/** Lanes from outside: who waits, and times that pass at once. */
import type { LaneDelivery, Lanes } from "holdfast";
import type { NounLab } from "../case.js";
import { until, within } from "../wait.js";

/** Resolves when Redis knows of `count` free places. */
export async function idle(lanes: Pick<Lanes, "state">, count = 1): Promise<void> {
  await until(`there are ${count} free places`, async () => (await lanes.state()).idle === count);
}

/** The key of a part of lanes. */
export function keyOf(lab: NounLab, name: string, part?: string): string {
  const key = `${lab.prefix}:{${name}}:lanes`;
  return part === undefined ? key : `${key}:${part}`;
}

/** The deadlines of all deliveries, or the times of all that waits for one, are over. Returns their number. */
export async function passed(lab: NounLab, name: string, part: "away" | "later"): Promise<number> {
  const key = keyOf(lab, name, part);
  const members = (await lab.command("ZRANGE", key, "0", "-1")) as readonly string[];
  for (const member of members) await lab.command("ZADD", key, "XX", "1", member);
  return members.length;
}

/** The next delivery, which must come. */
export async function next<Body, Result>(lanes: Lanes<Body, Result>): Promise<LaneDelivery<Body, Result>> {
  const delivery = await within(lanes.receive({ wait: "1m" }), "a message comes");
  if (!delivery) throw new Error("no message came");
  return delivery;
}

/** Takes and acknowledges messages until none is there. Returns their bodies. */
export async function rest<Body>(lanes: Lanes<Body>): Promise<Body[]> {
  const bodies: Body[] = [];
  for (;;) {
    const delivery = await lanes.receive({ wait: 0 });
    if (!delivery) return bodies;
    bodies.push(delivery.body);
    await delivery.ack();
  }
}
