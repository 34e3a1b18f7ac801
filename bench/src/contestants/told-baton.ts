/**
 * The same floor over pub/sub: SET NX, and a message on the release that wakes one waiter of each process, which tries
 * again. Without a place in line; a message that is lost is made up for after a second.
 */
import { randomUUID } from "node:crypto";
import { connect } from "./client.js";
import type { Contestant } from "./contestant.js";

const RELEASE = `
if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
redis.call("DEL", KEYS[1])
return redis.call("PUBLISH", KEYS[1], "")`;
const LOST_MESSAGE_MS = 1_000;

interface Held {
  readonly name: string;
  readonly value: string;
}

export async function open(port: number): Promise<Contestant<Held>> {
  const client = await connect(port);
  const ears = await connect(port);
  const sha = (await client.script("LOAD", RELEASE)) as string;
  const waiting = new Map<string, (() => void)[]>();
  const subscribed = new Map<string, Promise<unknown>>();
  ears.on("message", (name: string) => waiting.get(name)?.[0]?.());
  const stand = (name: string) => {
    const line = waiting.get(name) ?? [];
    waiting.set(name, line);
    let wake = (): void => {};
    const woken = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const timer = setTimeout(() => leave(), LOST_MESSAGE_MS);
    const leave = (): void => {
      clearTimeout(timer);
      const place = line.indexOf(leave);
      if (place >= 0) line.splice(place, 1);
      wake();
    };
    line.push(leave);
    return { woken, leave };
  };
  return {
    async acquire(name) {
      if (!subscribed.has(name)) subscribed.set(name, ears.subscribe(name));
      await subscribed.get(name);
      const value = randomUUID();
      for (;;) {
        const place = stand(name);
        if ((await client.set(name, value, "PX", 30_000, "NX")) === "OK") {
          place.leave();
          return { name, value };
        }
        await place.woken;
      }
    },
    release: ({ name, value }) => client.evalsha(sha, 1, name, value),
    async close() {
      client.disconnect();
      ears.disconnect();
    },
  };
}
