/**
 * A fair line by hand, in the fewest commands: a list of waiters, and a release that hands the lock to the first of them
 * and sends a message to its process. Each process has one channel for all its names and callers. A message that is lost, and a
 * holder or waiter that dies, leave the others waiting until somebody else takes the lock after its lease.
 */
import { randomUUID } from "node:crypto";
import { connect } from "./client.js";
import { type Contestant, TTL_MS } from "./contestant.js";

const ACQUIRE = `
if redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ${TTL_MS}) then return 1 end
redis.call("RPUSH", KEYS[2], ARGV[1])
return 0`;
/** An id begins with the channel of its process, which has the 36 characters of a UUID. */
const RELEASE = `
if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
local first = redis.call("LPOP", KEYS[2])
if first then
  redis.call("SET", KEYS[1], first, "PX", ${TTL_MS})
  redis.call("PUBLISH", string.sub(first, 1, 36), first)
else
  redis.call("DEL", KEYS[1])
end
return 1`;

interface Held {
  readonly name: string;
  readonly id: string;
}

export async function open(port: number): Promise<Contestant<Held>> {
  const client = await connect(port);
  const ears = await connect(port);
  const acquire = (await client.script("LOAD", ACQUIRE)) as string;
  const release = (await client.script("LOAD", RELEASE)) as string;
  const channel = randomUUID();
  const waits = new Map<string, () => void>();
  ears.on("message", (_: string, id: string) => waits.get(id)?.());
  await ears.subscribe(channel);
  let calls = 0;
  return {
    async acquire(name) {
      calls += 1;
      // An id of its own for each call tells the name and the caller.
      const id = `${channel} ${calls}`;
      // The message may come before the reply, which has another connection.
      const granted = new Promise<void>((resolve) => waits.set(id, resolve));
      if ((await client.evalsha(acquire, 2, name, lineOf(name), id)) === 0) await granted;
      waits.delete(id);
      return { name, id };
    },
    release: ({ name, id }) => client.evalsha(release, 2, name, lineOf(name), id),
    async close() {
      client.disconnect();
      ears.disconnect();
    },
  };
}

function lineOf(name: string): string {
  return `${name}:line`;
}
