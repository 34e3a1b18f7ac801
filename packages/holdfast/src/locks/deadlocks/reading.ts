/** Reads the wait-for graph, from one wait onwards: names, their holders, the waits of those, and so on. */
import type { NameState, WaitStore } from "../wait-store.js";
import { type Blocked, type Graph, type GraphWait, nameKey } from "./graph.js";
import { parseWaits, type ToldWait, type WaitRecord } from "./wait-record.js";

/** A graph with more waits is not judged. */
const MOST_WAITS = 64;

export interface View extends Graph {
  /** The waits that other processes told of. */
  readonly told: ReadonlyMap<string, ToldWait>;
}

class Reading implements View {
  readonly names = new Map<string, NameState>();
  readonly waits = new Map<string, GraphWait>();
  readonly blocked = new Map<string, Blocked>();
  readonly told = new Map<string, ToldWait>();

  add(leaseId: string, { fence, waits }: WaitRecord, isOwn: boolean): void {
    this.blocked.set(leaseId, { fence, waits: waits.map(({ id }) => id) });
    for (const wait of waits) {
      this.waits.set(wait.id, wait);
      if (!isOwn) this.told.set(wait.id, wait);
    }
  }

  /** The names that somebody waits for and that were not read yet, one wait of each. */
  get missing(): readonly GraphWait[] {
    const waits = [...this.waits.values()].filter((wait) => !this.names.has(nameKey(wait)));
    return [...new Map(waits.map((wait) => [nameKey(wait), wait])).values()];
  }
}

/**
 * Null: there is too much of it. Rejects when the store does not answer.
 * @param ownRecord what this process itself knows of a lease; null for one of which it says nothing
 */
export async function readGraph(
  store: WaitStore,
  start: GraphWait,
  ownRecord: (leaseId: string) => WaitRecord | null,
): Promise<View | null> {
  const reading = new Reading();
  reading.waits.set(start.id, start);
  for (let missing = reading.missing; missing.length > 0; missing = reading.missing) {
    const states = await Promise.all(missing.map(({ noun, name }) => store.look(noun, name)));
    for (const state of states) reading.names.set(nameKey(state), state);
    const holders = states.flatMap((state) => state.holders.map(({ id }) => id));
    const fresh = [...new Set(holders)].filter((id) => !reading.blocked.has(id));
    const records = await store.read(fresh);
    for (const [place, id] of fresh.entries()) {
      const own = ownRecord(id);
      const text = records[place];
      const record = own ?? (text ? parseWaits(text) : null);
      if (record) reading.add(id, record, own !== null);
    }
    if (reading.waits.size > MOST_WAITS) return null;
  }
  return reading;
}
