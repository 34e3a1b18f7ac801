/** Whether a server votes: on real servers that restart, with every client library. */
import {
  anyProgram,
  EventLog,
  FaultProxy,
  ManualClock,
  needingAny,
  ServerProcess,
  until,
} from "@holdfast/conformance";
import type { RedisClientLike } from "holdfast";
import { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { Incarnations } from "../../src/locks/backends/redlock/incarnations.js";
import { Membership } from "../../src/locks/backends/redlock/membership.js";
import { connectAll } from "../../src/redis/clients/connect.js";
import type { Connection } from "../../src/redis/connection.js";
import { type Clock, systemClock } from "../../src/time/clock.js";
import { Schedule } from "../../src/time/schedule.js";
import { LIBRARIES } from "./clients.js";

const SERVERS = ["valkey-server", "redis-server"] as const;
const program = anyProgram(...SERVERS);
const onServer = needingAny(test, ...SERVERS);
const MINUTE_MS = 60_000;

let server: ServerProcess;
let incarnations: Incarnations<Membership>;

interface Setup {
  readonly name: string;
  readonly clock: Clock;
  readonly callTimeoutMs: number;
}

interface Watched {
  readonly membership: Membership;
  /** How often the node forgot. */
  forgot: number;
  /** How often it answered over another connection than before. */
  broken: number;
  readonly ping: () => Promise<unknown>;
}

function watch(
  client: RedisClientLike | string,
  quarantineMs: number,
  { name = "1", clock = systemClock, callTimeoutMs = 30_000 }: Partial<Setup> = {},
): Watched {
  const [connection] = connectAll([client], new Schedule(systemClock)) as [Connection];
  onTestFinished(() => connection.close());
  const schedule = new Schedule(clock);
  const membership = new Membership({
    name,
    port: connection,
    schedule,
    callTimeoutMs,
    quarantineMs,
    incarnations,
  });
  const watched: Watched = {
    membership,
    forgot: 0,
    broken: 0,
    ping: () => connection.command(["PING"], 30_000),
  };
  membership.onForgot(() => {
    watched.forgot += 1;
  });
  membership.onBroken(() => {
    watched.broken += 1;
  });
  return watched;
}

function ioredis(port: number, options: object = {}): Redis {
  const client = new Redis({ port, host: "127.0.0.1", retryStrategy: () => 10, ...options });
  client.on("error", () => {});
  onTestFinished(() => client.disconnect());
  return client;
}

/** The vote of a node on a request that it answers. */
async function vote({ membership, ping }: Watched): Promise<boolean> {
  const mark = membership.mark();
  await ping();
  return membership.counts(mark);
}

/** The server again, on its port, without its data. */
async function restart(): Promise<void> {
  await server.kill();
  await server.launch();
}

beforeEach(async () => {
  server = await ServerProcess.start({ program });
  incarnations = new Incarnations();
});
afterEach(() => server.stop());

needingAny(describe, ...SERVERS).each(LIBRARIES)("%s", (_, open) => {
  const url = (): string => `redis://127.0.0.1:${server.port}`;

  test("a server that may keep its data votes at once, and is asked who it is once", async () => {
    const proxy = await FaultProxy.start({ host: "127.0.0.1", port: server.port });
    onTestFinished(() => proxy.close());
    const node = watch(await open(proxy.url), 0);
    proxy.forget();
    const votes: boolean[] = [];
    for (let count = 0; count < 3; count++) votes.push(await vote(node));
    expect(votes).toEqual([true, true, true]);
    expect(node.membership.silence).toBe(null);
    const asked = proxy.requests.filter(([verb]) => verb?.toUpperCase() === "INFO").length;
    const { incarnation, clockAheadMs } = await node.membership.describe();
    expect(incarnation).toMatch(/^[0-9a-f]{40}$/);
    expect(Math.abs(clockAheadMs as number)).toBeLessThan(30_000);
    // Two sections; valkey-glide reports no breaks, so that every request is followed by the question.
    expect(asked).toBe(_ === "valkey-glide" ? 6 : 2);
  });

  test("a server that has just started is in quarantine, and its answers do not count", async () => {
    const node = watch(await open(url()), MINUTE_MS);
    expect(await vote(node)).toBe(false);
    expect(node.membership.silence).toMatchObject({ code: "NOT_VOTING", membership: "quarantined" });
    const { leftMs } = await node.membership.describe();
    expect(leftMs).toBeGreaterThan(MINUTE_MS - 10_000);
    expect(leftMs).toBeLessThanOrEqual(MINUTE_MS + 1_000);
  });

  test("a server that restarts while nobody asks forgets, and does not vote", async () => {
    const clock = new ManualClock();
    const node = watch(await open(url()), MINUTE_MS, { clock });
    expect(await vote(node)).toBe(false);
    clock.advance(MINUTE_MS);
    await until("it votes", () => vote(node));
    await restart();
    expect(await vote(node).catch(() => false)).toBe(false);
    await until("it is known", async () => {
      await vote(node).catch(() => {});
      return node.forgot === 1;
    });
    expect(node.membership.silence).toMatchObject({ membership: "quarantined" });
    clock.advance(MINUTE_MS);
    await until("it votes again", () => node.membership.silence === null && vote(node));
    expect(node.forgot).toBe(1);
  });
});

onServer("a quarantine is over when the server is as old, and no sooner", async () => {
  const startedMs = Date.now();
  await restart();
  const node = watch(ioredis(server.port), 1_500);
  await until("it votes", async () => node.membership.silence === null && (await vote(node)));
  expect(Date.now() - startedMs).toBeGreaterThan(1_500);
});

onServer(
  "a request that the client sends again after a restart does not count, one after a break of the connection does",
  async () => {
    const proxy = await FaultProxy.start({ host: "127.0.0.1", port: server.port });
    onTestFinished(() => proxy.close());
    const node = watch(ioredis(proxy.port), 0);
    expect(await vote(node)).toBe(true);

    const repeated = node.membership.mark();
    proxy.set({ down: "hold" });
    const answered = node.ping();
    await proxy.when("the answer is held back", () => proxy.held("down", "commands") > 0);
    proxy.heal();
    proxy.cut();
    await answered;
    expect(await node.membership.counts(repeated)).toBe(true);
    expect(node.forgot).toBe(0);

    const lost = node.membership.mark();
    proxy.set({ up: "hold" });
    const sent = node.ping();
    await until("it is on its way", () => proxy.held("up") > 0);
    await restart();
    proxy.cut();
    proxy.heal();
    expect(await sent).toBe("PONG");
    expect(await node.membership.counts(lost)).toBe(false);
    expect(node.forgot).toBe(1);
    expect(node.broken).toBeGreaterThan(0);
  },
);

onServer("a restart that a proxy hides is noticed within seconds of use", async () => {
  const clock = new ManualClock();
  let down = false;
  let url = server;
  const proxied = {
    trouble: null,
    disruptions: 0,
    reportsBreaks: true,
    command: async (args: readonly string[]) => {
      const client = new Redis({ port: url.port, host: "127.0.0.1", lazyConnect: true });
      try {
        if (down) throw new Error("away");
        return (await client.call(...(args as [string]))) as string;
      } finally {
        client.disconnect();
      }
    },
  };
  const other = await ServerProcess.start({ program });
  onTestFinished(() => other.stop());
  const schedule = new Schedule(clock);
  const parts = {
    name: "1",
    port: proxied as never,
    schedule,
    callTimeoutMs: 100,
    quarantineMs: 0,
    incarnations,
  };
  const membership = new Membership(parts);
  let forgot = 0;
  membership.onForgot(() => {
    forgot += 1;
  });
  await membership.counts(membership.mark());
  url = other;
  membership.mark();
  clock.advance(9_999);
  expect(membership.mark().check).toBe(null);
  expect(forgot).toBe(0);
  clock.advance(1);
  const mark = membership.mark();
  await until("it is noticed", () => forgot === 1);
  expect(await membership.counts(mark)).toBe(false);
  expect(await membership.counts(membership.mark())).toBe(true);
  down = true;
});

onServer("one server does not vote twice, and the error names the other node", async () => {
  const [first, second] = [watch(ioredis(server.port), 0), watch(ioredis(server.port), 0, { name: "2" })];
  expect(await vote(first)).toBe(true);
  expect(await vote(second)).toBe(false);
  expect(second.membership.silence).toMatchObject({ membership: "refused" });
  expect(second.membership.silence?.message).toContain("the same server as node 1");
  expect(await vote(first)).toBe(true);
});

onServer(
  "a replica, a part of a cluster, and a user without INFO are refused; a primary that was a replica forgets",
  async () => {
    const admin = ioredis(server.port);
    const node = watch(ioredis(server.port), 0);
    expect(await vote(node)).toBe(true);
    await admin.replicaof("127.0.0.1", "1");
    await node.membership.describe();
    expect(node.membership.silence).toMatchObject({
      membership: "refused",
      message: expect.stringMatching(/replica/),
    });
    await admin.replicaof("NO", "ONE");
    await node.membership.describe();
    expect(node.membership.silence).toBe(null);
    expect(node.forgot).toBe(1);

    await admin.call("ACL", "SETUSER", "none", "on", "nopass", "~*", "&*", "+@all", "-info");
    const denied = watch(ioredis(server.port, { username: "none", password: "x" }), 0, { name: "3" });
    expect(await vote(denied)).toBe(false);
    expect(denied.membership.silence).toMatchObject({
      membership: "refused",
      message: expect.stringMatching(/NOPERM/),
    });

    const part = await ServerProcess.start({ program, cluster: true });
    onTestFinished(() => part.stop());
    const clustered = watch(ioredis(part.port), 0, { name: "4" });
    expect(await vote(clustered)).toBe(false);
    expect(clustered.membership.silence?.message).toMatch(/cluster/);
  },
);

onServer(
  "a promoted replica that takes the place of a node is in quarantine, however old it is",
  async () => {
    const proxy = await FaultProxy.start({ host: "127.0.0.1", port: server.port });
    onTestFinished(() => proxy.close());
    const other = await ServerProcess.start({ program });
    onTestFinished(() => other.stop());
    const port = { now: server.port };
    const proxied = {
      trouble: null,
      disruptions: 0,
      reportsBreaks: true,
      command: async (args: readonly string[]) => {
        const client = new Redis({ port: port.now, host: "127.0.0.1", lazyConnect: true });
        try {
          return (await client.call(...(args as [string]))) as string;
        } finally {
          client.disconnect();
        }
      },
    };
    const clock = new ManualClock();
    const schedule = new Schedule(clock);
    const parts = {
      name: "1",
      port: proxied as never,
      schedule,
      callTimeoutMs: 100,
      quarantineMs: 2_000,
      incarnations,
    };
    const membership = new Membership(parts);
    await membership.describe();
    clock.advance(2_000);
    expect((await membership.describe()).standing).toBe(null);
    const info = ioredis(other.port);
    const uptimeS = async () => Number(/uptime_in_seconds:(\d+)/.exec(await info.info("server"))?.[1]);
    await until("the other is older than a quarantine", async () => (await uptimeS()) > 3);
    port.now = other.port;
    const { standing, leftMs } = await membership.describe();
    expect([standing?.membership, leftMs]).toEqual(["quarantined", 2_000]);
    await membership.describe();
    expect(membership.silence).toMatchObject({ membership: "quarantined" });
  },
);

onServer(
  "a server that is away is silent, without an error that nobody handles, and is found when it returns",
  async () => {
    const log = new EventLog();
    onTestFinished(() => log.close());
    await server.kill();
    const node = watch(ioredis(server.port), 0);
    await until("the client has tried", () => node.membership.silence !== null);
    expect(node.membership.silence).toMatchObject({ code: "NOT_VOTING", membership: "unreachable" });
    await server.launch();
    await until("it is back", () => node.membership.silence === null && vote(node));
    const told = log.all("holdfast:redlock:node").map(({ membership }) => membership);
    expect(told).toEqual(["unreachable", "voting"]);
  },
);

onServer(
  "a server that stands still is silent after one time-out, and is asked by INFO alone until it answers",
  async () => {
    const proxy = await FaultProxy.start({ host: "127.0.0.1", port: server.port });
    onTestFinished(() => proxy.close());
    const clock = new ManualClock();
    const node = watch(ioredis(proxy.port), 0, { clock, callTimeoutMs: 1_000 });
    await node.ping();
    const log = new EventLog();
    onTestFinished(() => log.close());
    proxy.set({ down: "hold" });
    expect(node.membership.silence).toBe(null);
    expect(await node.membership.counts(node.membership.mark())).toBe(false);
    expect(node.membership.silence).toMatchObject({ membership: "unreachable" });
    // Now and then it is asked as if it voted, but nobody says that it does.
    clock.advance(1_000);
    expect(node.membership.silence).toBe(null);
    expect((await node.membership.describe()).standing).toMatchObject({ membership: "unreachable" });
    proxy.heal();
    await until("it votes", async () => node.membership.silence === null && (await vote(node)));
    const told = log.all("holdfast:redlock:node").map(({ membership }) => membership);
    expect(told).toEqual(["unreachable", "voting"]);
  },
);

onServer(
  "a server whose clock was set back after its start is in quarantine for no longer than others",
  async () => {
    const clock = new ManualClock();
    const info = ["run_id:1", "uptime_in_seconds:-31", "role:master", ""].join("\r\n");
    const port = { trouble: null, disruptions: 0, reportsBreaks: true, command: async () => info };
    const schedule = new Schedule(clock);
    const parts = {
      name: "1",
      port: port as never,
      schedule,
      callTimeoutMs: 100,
      quarantineMs: 4_000,
      incarnations,
    };
    const membership = new Membership(parts);
    expect((await membership.describe()).leftMs).toBe(4_000);
    clock.advance(3_999);
    expect((await membership.describe()).leftMs).toBe(1);
    clock.advance(1);
    expect((await membership.describe()).standing).toBe(null);
  },
);
