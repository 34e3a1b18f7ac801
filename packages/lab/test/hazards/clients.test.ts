/** B, with the client libraries themselves, at their defaults, and with other lock libraries on them. In virtual time. */

import { Holdfast, IndeterminateError, type RedisClientLike, UnavailableError } from "holdfast";
import { Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis5";
import { createClient } from "redis";
import { Mutex } from "redis-semaphore";
import Redlock from "redlock5";
import { expect } from "vitest";
import { checkIntervals } from "../../src/history/intervals.js";
import { hazardTest as test } from "./hazard-tests.js";
import { failure, type Program, Scene } from "./scene.js";

const STATE = "holdfast:{it}:lock";

interface Client {
  readonly own: RedisClientLike;
  set(...words: string[]): Promise<unknown>;
  ping(): Promise<unknown>;
}

const WORLDLY = { host: "redis", disableClientInfo: true };

function ioredis(client: Redis): Client {
  client.on("error", () => {});
  return { own: client, set: (...words) => client.call("SET", ...words), ping: () => client.ping() };
}

function nodeRedis(): Client {
  const client = createClient({ socket: { host: "redis" }, maintNotifications: "disabled" });
  client.on("error", () => {});
  void client.connect().catch(() => {});
  return { own: client, set: (...words) => client.sendCommand(["SET", ...words]), ping: () => client.ping() };
}

/** At their defaults. */
const CLIENTS: Readonly<Record<string, () => Client>> = {
  "ioredis 6": () => ioredis(new Redis(WORLDLY)),
  "ioredis 5": () => ioredis(new Redis5(WORLDLY) as unknown as Redis),
  "node-redis 6": nodeRedis,
};

function holdfastOn(program: Program, client: Client): Holdfast {
  const { clock, random } = program.process;
  return new Holdfast(client.own, { clock, random });
}

/** Runs the same for every client, each in a world of its own, and gives what each came to. */
async function withEach<Outcome>(
  run: (scene: Scene, a: Program, open: () => Client) => Promise<Outcome>,
  clients = CLIENTS,
): Promise<Record<string, Outcome | undefined>> {
  const outcomes: Record<string, Outcome | undefined> = {};
  for (const [name, open] of Object.entries(clients)) {
    const scene = await Scene.ofRealClients();
    const a = scene.program("a");
    outcomes[name] = undefined;
    a.run(async () => {
      outcomes[name] = await run(scene, a, open);
    });
    await scene.until(60_000);
  }
  return outcomes;
}

const all = <Outcome>(outcome: Outcome): Record<string, Outcome> =>
  Object.fromEntries(Object.keys(CLIENTS).map((name) => [name, outcome]));

test("ioredis sends SET NX again, and its caller hears no while it holds the lock [breaks H20]", async () => {
  const outcomes = await withEach(async ({ node }, a, open) => {
    const client = open();
    await client.ping();
    a.link().loseNext("after");
    const reply = await client.set("it", "a", "NX", "PX", "30000").catch(() => "an error");
    return [reply, node.peek("GET", "it")];
  });
  expect(outcomes).toEqual({
    "ioredis 6": [null, "a"],
    "ioredis 5": [null, "a"],
    "node-redis 6": ["an error", "a"], // which does not send it again: nobody knows that it holds
  });
});

test("with each client library, an acquire whose answer was lost holds the lock, or leaves none behind [H20]", async () => {
  const outcomes = await withEach(async (scene, a, open) => {
    const hf = holdfastOn(a, open());
    await (await hf.mutex("other").acquire()).release();
    const ranBefore = scene.scriptsRun;
    a.link().loseNext("after");
    const lease = await hf.mutex("it").acquire();
    const ran = scene.scriptsRun - ranBefore;
    const holds = lease.valid && String(scene.node.peek("GET", STATE)).slice(17).startsWith(`${lease.id} `);
    return [ran > 1, holds, await lease.release(), String(scene.node.peek("GET", STATE)).length];
  });
  expect(outcomes).toEqual(all([true, true, "released", 17]));
});

test("ioredis that sends nothing again never settles the call [breaks H24]", async () => {
  const clients = {
    "ioredis 6": () => ioredis(new Redis({ ...WORLDLY, autoResendUnfulfilledCommands: false })),
  };
  const outcomes = await withEach(async (_, a, open) => {
    const client = open();
    await client.ping();
    a.link().loseNext("after");
    await client.set("it", "a", "NX", "PX", "30000").catch(() => {});
    return "settled";
  }, clients);
  expect(outcomes).toEqual({ "ioredis 6": undefined });
});

test("with each client library, every call settles within its limit while the server is silent [H24]", async () => {
  const outcomes = await withEach(async (_, a, open) => {
    const hf = holdfastOn(a, open());
    const lease = await hf.mutex("other").acquire();
    a.link().block("toProcess");
    const sinceMs = a.nowMs;
    const errors = [
      await failure(hf.mutex("it").tryAcquire()),
      await failure(hf.mutex("it").acquire({ wait: 500 })),
    ];
    const released = await lease.release();
    expect(a.nowMs - sinceMs).toBeLessThan(3_000);
    return [...errors.map((error) => error instanceof IndeterminateError), released];
  });
  expect(outcomes).toEqual(all([true, true, "unknown"]));
});

test("each client library sends SET NX from its offline queue when its caller has gone on [breaks H25]", async () => {
  const outcomes = await withEach(async ({ node, world }, a, open) => {
    const client = open();
    await client.ping();
    node.crash();
    world.at(world.nowMs + 3_000, () => node.restart());
    await a.sleep(100);
    void client.set("it", "a", "NX", "PX", "60000").catch(() => {});
    await a.sleep(10_000);
    return node.peek("GET", "it");
  });
  expect(outcomes).toEqual(all("a"));
});

test("with each client library, an acquire that was given up while offline leaves no holder [H25]", async () => {
  const outcomes = await withEach(async ({ node, world }, a, open) => {
    const client = open();
    await client.ping();
    const hf = holdfastOn(a, client);
    node.crash();
    world.at(world.nowMs + 3_000, () => node.restart());
    await a.sleep(100);
    const error = await failure(hf.mutex("it", { ttl: 60_000 }).tryAcquire());
    await a.sleep(10_000);
    // It was not sent, then or later: no token has ever been given for the name, and the first who asks has it.
    const isTokenGiven = /^\d*[1-9]/.test(String(node.peek("GET", STATE)));
    const lease = await hf.mutex("it").tryAcquire();
    return [error instanceof UnavailableError, isTokenGiven, lease?.valid];
  });
  expect(outcomes).toEqual(all([true, false, true]));
});

/** `a` holds by another library, and is late; `b` takes what the server gives. */
async function peer(
  hold: (
    a: Program,
    redis: Redis,
  ) => Promise<{ readonly sinceMs?: number; readonly believedUntilMs: number }>,
  askMs: number,
) {
  const scene = await Scene.ofRealClients();
  const [a, b] = [scene.program("a"), scene.program("b")];
  a.run(async () => {
    const redis = new Redis(WORLDLY);
    await redis.ping();
    const { sinceMs = a.nowMs, believedUntilMs } = await hold(a, redis);
    a.note({ f: "hold", invMs: sinceMs, retMs: believedUntilMs, endMs: believedUntilMs });
  });
  b.run(async () => {
    await b.sleep(askMs);
    const redis = new Redis(WORLDLY);
    if ((await redis.set("it", "b", "PX", 1_000, "NX")) === null) return;
    b.note({ f: "hold", retMs: b.nowMs + 1_000, endMs: b.nowMs + 1_000 });
  });
  await scene.until(10_000);
  expect(scene.operations).toHaveLength(2);
  return checkIntervals(scene.operations);
}

/** Until when redlock believes in a lock, on the wall clock; its declarations do not tell. */
function endOf(lock: object): number {
  return (lock as { readonly expiration: number }).expiration;
}

test("redlock 5: a lock whose answer is read late is handed out although it is over [breaks H37]", async () => {
  let isOver: boolean | undefined;
  await peer(async (a, redis) => {
    const asked = new Redlock([redis]).acquire(["it"], 1_000);
    a.link().delayMs = [3, 5];
    a.process.after(1, () => a.process.stall(3_000));
    const lock = await asked;
    isOver = endOf(lock) < Date.now();
    return { believedUntilMs: a.nowMs };
  }, 2_000);
  expect(isOver).toBe(true);
});

test("redlock 5: a wall clock that is set back lengthens the lock [breaks H09]", async () => {
  const violations = await peer(async (a, redis) => {
    const lock = await new Redlock([redis]).acquire(["it"], 1_000);
    a.process.stepWall(-5_000);
    return { believedUntilMs: a.nowMs + (endOf(lock) - Date.now()) };
  }, 2_000);
  expect(violations).toMatchObject([{ property: "L4" }]);
});

test("redlock 5: a release whose answer was lost throws [breaks H27]", async () => {
  const scene = await Scene.ofRealClients();
  const a = scene.program("a");
  let error: Error | undefined;
  a.run(async () => {
    const locks = new Redlock([new Redis(WORLDLY).on("error", () => {})], { retryCount: 1 });
    locks.on("error", () => {});
    await (await locks.acquire(["other"], 1_000)).release(); // the server knows its scripts from now on
    const lock = await locks.acquire(["it"], 10_000);
    a.link().loseNext("after");
    error = await failure(lock.release());
  });
  await scene.until(10_000);
  expect(error?.name).toBe("ExecutionError");
  expect(scene.node.peek("EXISTS", "it")).toBe(0);
});

test("redis-semaphore: after a stall its caller works on, and another holds [breaks H04]", async () => {
  const violations = await peer(async (a, redis) => {
    const mutex = new Mutex(redis, "it", { lockTimeout: 1_000, onLockLost: () => {} });
    await mutex.acquire();
    const sinceMs = a.nowMs;
    a.process.stall(2_500);
    return { sinceMs, believedUntilMs: a.nowMs }; // nothing that it could ask says no before the next callback
  }, 2_000);
  expect(violations).toMatchObject([{ property: "L4" }]);
});
