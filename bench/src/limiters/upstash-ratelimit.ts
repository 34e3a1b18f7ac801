/**
 * Made for a Redis over HTTP. Over ioredis it needs two calls, and its scripts without their first line, which names a
 * flag that only Upstash's server knows.
 */
import { Ratelimit } from "@upstash/ratelimit";
import type { Redis } from "ioredis";
import { connect } from "../contestants/client.js";
import type { Limiter } from "./limiter.js";

export async function open(port: number): Promise<Limiter> {
  const client = await connect(port);
  const redis = overIoredis(client);
  return {
    check({ max, perMs }) {
      const limiter = Ratelimit.slidingWindow(max, `${perMs / 1_000} s`);
      const ratelimit = new Ratelimit({ redis, limiter });
      return async (target) => (await ratelimit.limit(target)).success;
    },
    close: async () => client.disconnect(),
  };
}

function overIoredis(client: Redis) {
  const ours = new Map<string, string>();
  let last = "";
  const run = (sha: string, keys: string[], args: unknown[]) =>
    client.evalsha(sha, keys.length, ...keys, ...args.map((arg) => String(arg ?? "")));
  return {
    async evalsha(theirs: string, keys: string[], args: unknown[]) {
      const sha = ours.get(theirs);
      if (sha !== undefined) return await run(sha, keys, args);
      last = theirs;
      throw new Error("NOSCRIPT");
    },
    /** Asked for right after the above. */
    async eval(script: string, keys: string[], args: unknown[]) {
      const sha = String(await client.script("LOAD", script.replace(/^#!lua[^\n]*\n/, "")));
      ours.set(last, sha);
      return await run(sha, keys, args);
    },
  };
}
