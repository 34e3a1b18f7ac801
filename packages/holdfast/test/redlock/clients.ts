/** One client of each supported library. */
import type { RedisClientLike } from "holdfast";
import { onTestFinished } from "vitest";
import { LIBRARIES as ALL, type ClientMaker } from "../redis/client-libraries.js";

/** Opens a connected client, which is closed when the test ends. */
export type Open = (url: string) => Promise<RedisClientLike>;

const RECONNECT_MS = 20;
const NEWEST = ["ioredis 6", "node-redis 6", "valkey-glide"];

function opener(make: ClientMaker): Open {
  return async (url) => {
    const { client, close } = await make(url, RECONNECT_MS);
    onTestFinished(close);
    return client;
  };
}

/** One of each kind in the quick run, all versions in the soak. */
export const LIBRARIES: readonly (readonly [name: string, open: Open])[] = ALL.filter(
  ([name]) => process.env.HOLDFAST_TEST_SOAK === "1" || NEWEST.includes(name),
).map(([name, make]) => [name, opener(make)]);
