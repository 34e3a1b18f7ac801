/** Tells those who wait that their team has a new decision. One look at the log of a batch serves all who wait in this process. */
import { setTimeout as pause } from "node:timers/promises";
import type { Store } from "./store.js";

const EVERY_MS = 400;
const MOST_AT_ONCE = 1_000;

type Wake = () => void;

export class Decisions {
  readonly #store: Store;
  /** By batch, then by team. */
  readonly #waiting = new Map<string, Map<string, Set<Wake>>>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Resolves at a decision for the team, after `mostMs`, or when the signal aborts. A decision just before may be missed. */
  async next(batchId: string, teamId: string, mostMs: number, signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    const wake: Wake = () => over.abort();
    const teams = this.#teamsOf(batchId);
    const wakes = teams.get(teamId) ?? new Set();
    teams.set(teamId, wakes.add(wake));
    await pause(mostMs, undefined, { signal: AbortSignal.any([over.signal, signal]), ref: false }).catch(
      () => {},
    );
    wakes.delete(wake);
    if (wakes.size === 0) teams.delete(teamId);
  }

  #teamsOf(batchId: string): Map<string, Set<Wake>> {
    const there = this.#waiting.get(batchId);
    if (there) return there;
    const teams = new Map<string, Set<Wake>>();
    this.#waiting.set(batchId, teams);
    void this.#follow(batchId, teams);
    return teams;
  }

  /** Reads the log while somebody waits. */
  async #follow(batchId: string, teams: Map<string, Set<Wake>>): Promise<void> {
    const key = this.#store.keys.of(batchId, "log");
    let last: string | null = null;
    do {
      last = await this.#read(key, last, teams).catch(() => last);
      await pause(EVERY_MS, undefined, { ref: false });
    } while (teams.size > 0);
    this.#waiting.delete(batchId);
  }

  async #read(key: string, last: string | null, teams: Map<string, Set<Wake>>): Promise<string> {
    const { redis } = this.#store;
    if (last === null) return (await redis.xrevrange(key, "+", "-", "COUNT", 1))[0]?.[0] ?? "0-0";
    const entries = await redis.xrange(key, `(${last}`, "+", "COUNT", MOST_AT_ONCE);
    for (const [, fields] of entries) for (const wake of teams.get(fields[1] as string) ?? []) wake();
    return entries.at(-1)?.[0] ?? last;
  }
}
