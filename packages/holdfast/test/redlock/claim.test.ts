/** Locks over several servers: who gets them, with which tokens, and what is left at the nodes. */
import { EmbeddedValkey } from "@holdfast/embedded";
import { Redlock } from "holdfast/redlock";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";

/** Longer than a test may take; so is a tenth of it, the longest that a call may take. */
const LONG = "2h";

let servers: EmbeddedValkey[];
let clients: Redis[];
const open: Redlock[] = [];

beforeAll(async () => {
  servers = await Promise.all([1, 2, 3, 4, 5].map(() => EmbeddedValkey.start()));
  clients = servers.map(({ url }) => new Redis(url));
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((redlock) => redlock.close()));
  await Promise.all(clients.map((client) => client.flushall()));
});
afterAll(async () => {
  for (const client of clients) client.disconnect();
  await Promise.all(servers.map((server) => server.stop()));
});

function redlockOver(nodes: number): Redlock {
  const redlock = new Redlock(clients.slice(0, nodes), { quarantine: 0, maxTtl: LONG, callTimeout: "10m" });
  open.push(redlock);
  return redlock;
}

/** What each node keeps of a lock: its last token, and who holds it. */
async function statesOf(name: string, nodes: number): Promise<{ top: bigint; id: string | undefined }[]> {
  const values = await Promise.all(
    clients.slice(0, nodes).map((client) => client.get(`holdfast:{${name}}:lock`)),
  );
  return values.map((value) => ({
    top: BigInt(value?.slice(0, 16) ?? "0"),
    id: value?.slice(17).split(" ")[0] || undefined,
  }));
}

for (const nodes of [1, 2, 3, 4, 5]) {
  test(`over ${nodes}: one holder at a time, and tokens rise by what a quorum remembers`, async () => {
    const quorum = Math.floor(nodes / 2) + 1;
    const [one, two] = [redlockOver(nodes), redlockOver(nodes)];
    const lease = await one.mutex("a", { ttl: LONG }).acquire({ wait: LONG });
    expect(await two.mutex("a", { ttl: LONG }).tryAcquire()).toBe(null);
    const states = await statesOf("a", nodes);
    const known = states.filter(({ top }) => top >= lease.fence);
    expect(known.length).toBeGreaterThanOrEqual(quorum);
    const next = two.mutex("a", { ttl: LONG }).acquire({ wait: LONG });
    expect(await lease.release()).toBe("released");
    const other = await next;
    expect(other.fence).toBeGreaterThan(lease.fence);
    expect(await other.release()).toBe("released");
    expect((await statesOf("a", nodes)).map(({ id }) => id)).toEqual(Array(nodes).fill(undefined));
  });
}

test("five processes that contend for one name: each gets its turns, and nothing is left behind", async () => {
  let last = 0n;
  let inside = 0;
  const turns = async (redlock: Redlock): Promise<void> => {
    const mutex = redlock.mutex("hot", { ttl: LONG, localTurns: 1 });
    for (let turn = 0; turn < 20; turn++) {
      const lease = await mutex.acquire({ wait: LONG });
      inside += 1;
      expect(inside).toBe(1);
      expect(lease.fence).toBeGreaterThan(last);
      last = lease.fence;
      await Promise.resolve();
      inside -= 1;
      await lease.release();
    }
  };
  await Promise.all([1, 2, 3, 4, 5].map(() => turns(redlockOver(5))));
  await Promise.all(open.splice(0).map((redlock) => redlock.close()));
  const states = await statesOf("hot", 5);
  expect(states.map(({ id }) => id)).toEqual(Array(5).fill(undefined));
  const lines = await Promise.all(clients.map((client) => client.zcard("holdfast:{hot}:line")));
  expect(lines).toEqual(Array(5).fill(0));
});
