/** One lock per test on the engine itself, and its scripts as functions. */
import { EmbeddedValkey } from "@holdfast/embedded";
import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { script as acquire } from "../src/locks/backends/redis/lua/acquire.lua.js";
import { script as heartbeat } from "../src/locks/backends/redis/lua/heartbeat.lua.js";
import { script as release } from "../src/locks/backends/redis/lua/release.lua.js";
import { lockKeys } from "../src/redis/keys.js";

let server: EmbeddedValkey;
export let redis: Redis;
let inbox: Redis;
let messages: string[];
/** lock, line, waiters, gone */
export let keys: string[];
let count = 0;

beforeAll(async () => {
  server = await EmbeddedValkey.start();
  redis = new Redis(server.url);
  inbox = redis.duplicate();
  await inbox.subscribe("inbox");
  inbox.on("message", (_channel, text) => messages.push(text));
});

afterAll(async () => {
  redis.disconnect();
  inbox.disconnect();
  await server.stop();
});

beforeEach(() => {
  messages = [];
  keys = lockKeys("t", `name-${count++}`);
});

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

/** Messages travel on another connection than replies: what was published before a PING came before its PONG. */
export async function heard(): Promise<string[]> {
  await inbox.ping();
  return messages;
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

/** Moves the end of the lease, as if the server's clock had run on (negative) or been set back (positive). */
export async function shift(ms: number): Promise<void> {
  await redis.pexpire(keys[0] as string, (await redis.pttl(keys[0] as string)) + ms);
}

/** How long the lease has still to run, as its key says. */
export async function leftMs(): Promise<number> {
  return (await redis.pttl(keys[0] as string)) - ((await state())?.keepMs ?? 0);
}
