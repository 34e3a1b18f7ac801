/**
 * The same by hand, over a string without a version. An update is a loop of WATCH, GET and MULTI with a connection for each caller,
 * which WATCH needs, or GET and a script that sets what is still as it was read.
 */
import type { Redis } from "ioredis";
import { connect } from "./client.js";
import type { Contestant } from "./contestant.js";
import { oneCall } from "./one-call.js";

export const MANY = 100;
export const VALUE = { name: "a value of ordinary size", tags: ["a", "b", "c"], count: 1_234_567 };
const TEXT = JSON.stringify(VALUE);

const SET_IF = `
if (redis.call("GET", KEYS[1]) or "") ~= ARGV[1] then return 0 end
redis.call("SET", KEYS[1], ARGV[2])
return 1`;

export const openGet = (port: number): Promise<Contestant> =>
  oneCall(port, (client) => {
    const written = new Map<string, Promise<unknown>>();
    return {
      async call(name) {
        const writing = written.get(name) ?? client.set(name, TEXT);
        written.set(name, writing);
        await writing;
        return JSON.parse((await client.get(name)) ?? "null");
      },
    };
  });

export const openSet = (port: number): Promise<Contestant> =>
  oneCall(port, (client) => ({ call: (name) => client.set(name, JSON.stringify(VALUE)) }));

export const openSetMany = (port: number): Promise<Contestant> =>
  oneCall(port, (client) => ({
    call(name) {
      const pipeline = client.pipeline();
      for (let index = 0; index < MANY; index += 1) pipeline.set(`${name}:${index}`, JSON.stringify(VALUE));
      return pipeline.exec();
    },
  }));

export const openWatchMulti = (port: number): Promise<Contestant> =>
  oneCall(port, (client) => {
    const connections = new Map<number, Promise<Redis>>();
    return {
      async call(name, caller) {
        const connecting = connections.get(caller) ?? connect(port);
        connections.set(caller, connecting);
        const own = await connecting;
        for (;;) {
          own.watch(name);
          const old = await own.get(name);
          if ((await own.multi().set(name, raised(old)).exec()) !== null) return;
        }
      },
      count: async (name) => countOf(await client.get(name)),
      async close() {
        for (const connecting of connections.values()) (await connecting).disconnect();
      },
    };
  });

export const openCompareAndSet = (port: number): Promise<Contestant> =>
  oneCall(port, async (client) => {
    const sha = (await client.script("LOAD", SET_IF)) as string;
    return {
      async call(name) {
        for (;;) {
          const old = await client.get(name);
          if ((await client.evalsha(sha, 1, name, old ?? "", raised(old))) === 1) return;
        }
      },
      count: async (name) => countOf(await client.get(name)),
    };
  });

function raised(old: string | null): string {
  return JSON.stringify({ count: countOf(old) + 1 });
}

function countOf(text: string | null): number {
  return text === null ? 0 : (JSON.parse(text) as { count: number }).count;
}
