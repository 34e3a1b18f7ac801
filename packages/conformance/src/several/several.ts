/** How cases of several locks see what is held. */
import type { Holdfast } from "holdfast";
import type { NounLab } from "../case.js";

/** Names in the order in which a multiLock waits for them. */
export function namesOf(lab: NounLab, count: number): [string, string, string, ...string[]] {
  const stem = lab.name();
  return Array.from({ length: count }, (_, place) => `${stem}-${place}`) as [string, string, string];
}

/** Whether each mutex is held. */
export async function heldOf(holdfast: Holdfast, names: readonly string[]): Promise<boolean[]> {
  const inspector = await holdfast.inspector();
  const states = await Promise.all(names.map((name) => inspector.lock(name)));
  return states.map(({ holder }) => holder !== null);
}
