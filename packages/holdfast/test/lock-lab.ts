/** One lock per test on the engine itself, and its scripts as functions. */
import { script as acquire } from "../src/locks/backends/redis/lua/acquire.lua.js";
import { script as heartbeat } from "../src/locks/backends/redis/lua/heartbeat.lua.js";
import { script as release } from "../src/locks/backends/redis/lua/release.lua.js";
import { lockKeys } from "../src/redis/keys.js";
import { onEngine as begin, redis } from "./engine.js";

export { heard, overheard, redis, whileFull } from "./engine.js";

/** lock, line, waiters, gone */
export let keys: string[];

/** Called by each file of tests. */
export function onEngine(): void {
  begin((name) => {
    keys = lockKeys("t", name);
  });
}

interface Ask {
  ttlMs?: number;
  turns?: number;
  floor?: number | string;
  wait?: boolean;
  inbox?: string;
  beat?: number;
  ticket?: string;
  elsewhere?: boolean;
}

export function ask(id: string, options: Ask = {}): Promise<unknown[]> {
  const { ttlMs = 10_000, turns = 1, floor = 0, wait = false } = options;
  const rest = [
    wait ? 1 : 0,
    options.inbox ?? "inbox",
    options.beat ?? 1,
    options.ticket ?? "0",
    options.elsewhere ? 1 : 0,
  ];
  return redis.eval(acquire.source, 4, ...keys, id, ttlMs, turns, floor, "{}", ...rest) as Promise<unknown[]>;
}

export function free(id: string, banMs = 0, elsewhere = 0): Promise<unknown[]> {
  return redis.eval(release.source, 4, ...keys, id, banMs, elsewhere) as Promise<unknown[]>;
}

export async function sign(id: string, number = 2): Promise<unknown[]> {
  const replies = (await redis.eval(heartbeat.source, 4, ...keys, 0, id, number)) as unknown[][];
  return replies[0] as unknown[];
}

/** The state of the lock, taken apart. */
interface State {
  top: string;
  flag: string;
  id: string | null;
  token: string | null;
  keepMs: number;
}

export async function state(): Promise<State | null> {
  const value = await redis.get(keys[0] as string);
  if (value === null) return null;
  const match = /^(\d{16})([ +])(?:(\S+) (\d{16}) \d{16} (\d+) \d+ .*)?$/.exec(value);
  if (!match) throw new Error(`no state of a lock: ${value}`);
  const [, top = "", flag = "", id = null, token = null, keepMs = "0"] = match;
  return { top, flag, id, token, keepMs: Number(keepMs) };
}

export async function holder(): Promise<string | null> {
  return (await state())?.id ?? null;
}

/** Moves the lease, as if the server's clock had run on (negative) or been set back (positive). */
export async function shift(ms: number): Promise<void> {
  const [lock = ""] = keys;
  const value = String(await redis.get(lock));
  const moved = value.replace(/^(.{17}\S+ \d+ )(\d+)/, (_, before: string, since: string) => {
    return before + String(BigInt(since) + BigInt(ms) * 1_000n).padStart(16, "0");
  });
  await redis.set(lock, moved, "PX", (await redis.pttl(lock)) + ms);
}

/** How long the lease has still to run, as its key says. */
export async function leftMs(): Promise<number> {
  return (await redis.pttl(keys[0] as string)) - ((await state())?.keepMs ?? 0);
}
