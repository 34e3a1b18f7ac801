/**
 * Neighbour: the same workload once more on the same servers, in another database or under another prefix. Channels know no
 * databases, so what it says must be nobody's business; what it does is not judged.
 */
import type { Neighbour, Plan } from "./plan.js";
import { neighbourly, prefix, Scene } from "./scene.js";

export const neighbourPrefix = "neighbour";

/** Null: the plan has none. */
export function neighbourOf({ world, plan }: Scene): Scene | null {
  const { neighbour, rounds: _, ...own } = plan;
  if (!neighbour) return null;
  const { database } = neighbour;
  const processes = own.processes.map((process) => ({
    ...process,
    name: `${neighbourly} ${process.name}`,
    client: { ...process.client, database },
  }));
  const theirs: Plan = { ...own, processes, faults: [], prefix: neighbour.prefix };
  return new Scene(world, theirs);
}

/** Apart by the database, or by the prefix. */
export const neighbours: readonly Neighbour[] = [
  { database: 1, prefix },
  { database: 0, prefix: neighbourPrefix },
];
