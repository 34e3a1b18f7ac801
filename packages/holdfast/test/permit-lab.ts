/** What the tests of the scripts of permits share: the keys of one semaphore on the engine, and calls of `ask` and `change`. */
import { script as ask } from "../src/locks/backends/redis/permits/lua/ask.lua.js";
import { script as change } from "../src/locks/backends/redis/permits/lua/change.lua.js";
import { permitKeys } from "../src/redis/keys.js";
import { onEngine, redis } from "./engine.js";

export let own: string;
export let keys: string[];

/** From now on the calls are about the semaphore of this name. */
export function goTo(name: string): void {
  keys = permitKeys("t", "semaphore", name);
}

/** Sets up the keys of a semaphore for each test of the file. */
export function onPermits(): void {
  onEngine((name) => {
    own = name;
    goTo(name);
  });
}

export interface Terms {
  ttlMs?: number;
  weight?: number;
  limit?: number;
  tokens?: number;
  minFence?: string;
  wait?: boolean;
  ticket?: string;
  inbox?: string;
  owner?: string;
}

export function words(
  id: string,
  terms: Terms | null,
  beat = 1,
  place = 1,
): [number, string, number, string] {
  if (!terms) return [place, id, beat, ""];
  const { ttlMs = 10_000, weight = 1, limit = 2, tokens = 1, minFence = "0", wait = false } = terms;
  const { ticket = "0" } = terms;
  return [place, id, beat, `${ttlMs} ${weight} ${limit} ${tokens} ${minFence} ${wait ? 1 : 0} ${ticket}`];
}

export async function take(id: string, terms: Terms | null = {}, beat = 1): Promise<unknown[]> {
  const args = ["0", terms?.inbox ?? "inbox", terms?.owner ?? "{}", ...words(id, terms, beat)];
  const rows = (await redis.eval(ask.source, 4, ...keys, ...args)) as unknown[][];
  return rows[0] as unknown[];
}

export interface Change {
  keep?: number;
  banMs?: number;
  limit?: string;
}

export async function free(id: string, change: Change = {}): Promise<unknown[]> {
  const [row] = await freeMany([id, change]);
  return row as unknown[];
}

export function freeMany(...changes: [string, Change?][]): Promise<unknown[][]> {
  const words = changes.flatMap(([id, { keep = 0, banMs = 0, limit = "" } = {}]) => [id, keep, banMs, limit]);
  return redis.eval(change.source, 4, ...keys, "0", ...words) as Promise<unknown[][]>;
}

/** Moves the ends of all leases, as if the server's clock had run on (negative) or been set back (positive). */
export async function shift(ms: number): Promise<void> {
  const [state = ""] = keys;
  for (const [field, value] of Object.entries(await redis.hgetall(state))) {
    const parts = value.split(" ");
    const moved = field === "." ? [5, 6] : [0];
    for (const place of moved) parts[place] = String(Number(parts[place]) + ms);
    await redis.hset(state, field, parts.join(" "));
  }
}

export async function used(): Promise<number> {
  const head = (await redis.hget(keys[0] as string, ".")) ?? "";
  return Number(head.split(" ")[4]);
}

export async function holders(): Promise<string[]> {
  const fields = await redis.hkeys(keys[0] as string);
  return fields.filter((field) => field !== ".").sort();
}
