/** What a limit admits over time: the unchanged library asked by one process of a world, in virtual time. */
import type { LimitOptions } from "holdfast";
import { holdfastOn } from "../sim/holdfast-on.js";
import { World } from "../sim/world.js";

export interface Answer {
  readonly atS: number;
  readonly ok: boolean;
}

export interface Admission {
  readonly calls: readonly Answer[];
  /** What was free, looked at twice a second and after each call. */
  readonly free: readonly { readonly atS: number; readonly remaining: number }[];
}

/** @param callsS when it is asked, in s from the beginning, in order */
export async function admissionOf(
  options: LimitOptions,
  callsS: readonly number[],
  endS: number,
): Promise<Admission> {
  const world = await World.create({ seed: 1 });
  const process = world.process("caller");
  const link = world.link(process, world.node("redis"));
  const calls: Answer[] = [];
  const free: { atS: number; remaining: number }[] = [];
  process.run(async () => {
    const limit = holdfastOn(link).limit("picture", options);
    const until = (atS: number) => process.sleep(Math.max(0, atS * 1_000 - world.nowMs));
    const look = async (atS: number) => free.push({ atS, remaining: (await limit.peek("one")).remaining });
    const looksS = Array.from({ length: 2 * endS + 1 }, (_, half) => half / 2);
    for (const atS of [...new Set([...looksS, ...callsS])].sort((a, b) => a - b)) {
      await until(atS);
      if (callsS.includes(atS)) calls.push({ atS, ok: (await limit.take("one")).ok });
      await look(atS);
    }
    world.stop();
  });
  await world.run((endS + 60) * 1_000);
  if (world.errors.length > 0) throw world.errors[0]?.error;
  return { calls, free };
}

/** The most that was admitted in any time of so long. */
export function mostWithin({ calls }: Admission, perS: number): number {
  const admitted = calls.filter(({ ok }) => ok);
  return Math.max(0, ...admitted.map((first) => withinOf(admitted, first.atS, first.atS + perS)));
}

/** Admitted from `fromS` on, before `toS`. */
export function withinOf(calls: readonly Answer[], fromS: number, toS: number): number {
  return calls.filter(({ atS, ok }) => ok && atS >= fromS && atS < toS).length;
}
