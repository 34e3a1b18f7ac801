/** Director: has the schedule played, and writes down what really happened. */
import { Dice } from "../chance/dice.js";
import type { Fault } from "./fault.js";
import type { Nemesis } from "./nemeses/nemesis.js";
import type { Scene, Slot } from "./scene.js";
import type { Planned } from "./schedule.js";
import { monoMs, pauseMs } from "./time.js";

export interface Played {
  readonly faults: readonly Fault[];
  /** Those whose victim was in the hands of another nemesis. */
  readonly skipped: number;
}

/** Resolves when the last one has made good again. */
export async function play(schedule: readonly Planned[], scene: Scene): Promise<Played> {
  const faults: Fault[] = [];
  const busy = new Set<string>();
  const underWay: Promise<void>[] = [];
  const startMs = monoMs();
  let skipped = 0;
  for (const { atMs, nemesis, slot: place, seed } of schedule) {
    await pauseMs(Math.max(startMs + atMs - monoMs(), 0));
    const slot = scene.slots[place] as Slot;
    const target = targetOf(nemesis, slot);
    if (busy.has(target)) {
      skipped += 1;
      continue;
    }
    busy.add(target);
    const strike = strikeOnce(nemesis, scene, slot, new Dice(seed)).then((fault) => {
      busy.delete(target);
      faults.push(fault);
    });
    underWay.push(strike);
  }
  await Promise.all(underWay);
  return { faults: faults.sort((a, b) => a.fromMs - b.fromMs), skipped };
}

function targetOf({ victim }: Nemesis, { name }: Slot): string {
  if (victim === "worker") return name;
  return victim === "way" ? `way of ${name}` : victim;
}

async function strikeOnce(nemesis: Nemesis, scene: Scene, slot: Slot, dice: Dice): Promise<Fault> {
  const { kind, bites, breaks } = nemesis;
  const fromMs = monoMs();
  const about = {
    kind,
    target: targetOf(nemesis, slot),
    fromMs,
    ...(bites ? { bites } : {}),
    ...(breaks ? { breaks } : {}),
  };
  try {
    const detail = await nemesis.strike({ scene, slot, dice });
    return { ...about, detail, toMs: monoMs() };
  } catch (error) {
    return { ...about, detail: "", toMs: monoMs(), error: String(error) };
  }
}
