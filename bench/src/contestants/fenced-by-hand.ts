/**
 * A fenced lock by hand: one key for each name, which outlives the lease. While the lock is held, the value is
 * "<token> <id>". A release cuts off the id and keeps the token for a day, so that the token of the next holder is higher.
 * Like the floor, the lock has no renewal, no wait and no word about a lost lease.
 */
import { randomUUID } from "node:crypto";
import { connect } from "./client.js";
import { type Contestant, TTL_MS } from "./contestant.js";

const KEEP_MS = 86_400_000;
/** The lease is over when the key has no more than a day to live. */
const ACQUIRE = `
local value = redis.call("GET", KEYS[1])
local token = tonumber(value or 0)
if not token then
  if redis.call("PTTL", KEYS[1]) > ${KEEP_MS} then return 0 end
  token = tonumber(string.match(value, "^%d+"))
end
redis.call("SET", KEYS[1], (token + 1) .. " " .. ARGV[1], "PX", ${KEEP_MS + TTL_MS})
return token + 1`;
const RELEASE = `
if redis.call("GET", KEYS[1]) ~= ARGV[1] .. " " .. ARGV[2] then return 0 end
redis.call("SET", KEYS[1], ARGV[1], "PX", ${KEEP_MS})
return 1`;

class Taken extends Error {}

interface Held {
  readonly name: string;
  readonly token: number;
  readonly id: string;
}

export async function open(port: number): Promise<Contestant<Held>> {
  const client = await connect(port);
  const acquire = (await client.script("LOAD", ACQUIRE)) as string;
  const release = (await client.script("LOAD", RELEASE)) as string;
  return {
    async acquire(name) {
      const id = randomUUID();
      const token = (await client.evalsha(acquire, 1, name, id)) as number;
      if (token === 0) throw new Taken(name);
      return { name, token, id };
    },
    release: ({ name, token, id }) => client.evalsha(release, 1, name, token, id),
    close: async () => client.disconnect(),
  };
}
