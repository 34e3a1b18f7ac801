/** What Redlock is given, what it refuses, and how it ends. */
import { inTime, ManualClock, until } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import {
  InvalidArgumentError,
  type NoQuorumError,
  NotOverQuorumError,
  UnsupportedClientError,
} from "holdfast";
import { Redlock, type RedlockOptions } from "holdfast/redlock";
import { Redis } from "ioredis";
import { createClient } from "redis";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { LIBRARIES } from "./clients.js";

const AWAY = "redis://127.0.0.1:1";

let servers: EmbeddedValkey[];

const urls = (): string[] => servers.map(({ url }) => url);

function open(clients: ConstructorParameters<typeof Redlock>[0], options: RedlockOptions = {}): Redlock {
  const redlock = new Redlock(clients, { quarantine: 0, callTimeout: "30s", ...options });
  onTestFinished(() => redlock.close());
  return redlock;
}

beforeAll(async () => {
  servers = await Promise.all([1, 2, 3].map(() => EmbeddedValkey.start()));
});
afterAll(() => Promise.all(servers.map((server) => server.stop())));

describe("the list of clients", () => {
  test.each([
    ["nothing", undefined, /clients must be an array/],
    ["one client alone", "redis://localhost", /clients must be an array/],
    ["an iterable", new Set(["redis://localhost"]), /clients must be an array/],
    ["an empty list", [], /at least one server/],
    ["a URL twice", ["redis://a", "redis://b", "redis://a"], /one client twice, at 1 and 3/],
  ])("%s is refused", (_, clients, message) => {
    expect(() => new Redlock(clients as never)).toThrow(InvalidArgumentError);
    expect(() => new Redlock(clients as never)).toThrow(message);
  });

  test("a client twice is refused, and so is an object that is no client", () => {
    const client = new Redis({ lazyConnect: true });
    expect(() => new Redlock([client, client])).toThrow(/one client twice, at 1 and 2/);
    expect(() => new Redlock([AWAY, {} as never])).toThrow(UnsupportedClientError);
    expect(() => new Redlock([AWAY, undefined as never])).toThrow(UnsupportedClientError);
    expect(() => new Redlock(new Array(3))).toThrow(UnsupportedClientError);
  });
});

test.each([
  ["callTimeout", { callTimeout: 1 }],
  ["maxTtl", { maxTtl: 99 }],
  ["quarantine", { quarantine: -1 }],
  ["quarantine", { quarantine: Number.POSITIVE_INFINITY }],
  ["prefix", { prefix: "a b" }],
  ["replica", { replica: AWAY }],
])("the option %s is checked", (argument, options) => {
  expect(() => new Redlock([AWAY], options as never)).toThrow(expect.objectContaining({ argument }));
});

test("a lock whose ttl with lockDelay is longer than maxTtl is refused, and says so", () => {
  const redlock = open([AWAY], { maxTtl: "10s" });
  expect(redlock.maxTtlMs).toBe(10_000);
  expect(() => redlock.mutex("name", { ttl: "30s" })).toThrow(/30000 ms, and maxTtl is 10000 ms/);
  redlock.mutex("name");
  expect(() => redlock.mutex("name", { ttl: "9s", lockDelay: 1_001 })).toThrow(
    /ttl with lockDelay is 10001 ms/,
  );
  redlock.mutex("name", { ttl: "9s", lockDelay: "1s" });
});

const NOUNS = [
  ...["semaphore", "rwLock", "limit", "guard", "record", "once", "election", "queue", "lanes"],
  ...["signal", "event", "latch", "barrier", "inspector", "doctor", "adopt"],
] as const;

test.each(NOUNS)("%s does not exist over a quorum, and says why", (noun) => {
  const redlock = open([AWAY]) as unknown as Record<string, (...args: unknown[]) => unknown>;
  const call = (): unknown => redlock[noun]?.("name", { max: 1, per: "1s" });
  expect(call).toThrow(NotOverQuorumError);
  expect(call).toThrow(new RegExp(`^redlock\\.${noun}\\(\\) does not exist: .*; .*Holdfast\\(`));
});

test("errors of nodes say what is wrong with which, once for each reason, and what to do", async () => {
  const young = open(urls(), { quarantine: "1h" });
  const error = await young
    .mutex("young")
    .tryAcquire()
    .catch((reason: unknown) => reason);
  const message = expect.stringMatching(
    / [23] failed \(node \d [^;]*, \d [^;]*: it started .*\): wait until the quarantine is over/,
  );
  const error1 = expect.objectContaining({ membership: "quarantined", leftMs: expect.any(Number) });
  expect(error).toMatchObject({
    code: "NO_QUORUM",
    message,
    nodes: expect.arrayContaining([expect.objectContaining({ error: error1 })]),
  });
  expect((error as NoQuorumError).nodes[0]?.error.stack).not.toContain(" at ");

  const clients = urls().map((url) => createClient({ url }));
  const closed = open(clients).mutex("closed");
  await expect(closed.tryAcquire()).rejects.toThrow(
    / [23] failed \(node \d [^;]*, \d [^;]*: nobody has connected the node-redis client/,
  );
  await Promise.all(clients.map((client) => client.connect()));
  onTestFinished(() => {
    for (const client of clients) client.destroy();
  });
  expect(await closed.tryAcquire()).not.toBe(null);
});

describe("nodes", () => {
  test("are told with place, address, membership and clock, over clients of any library", async () => {
    const clients = await Promise.all(LIBRARIES.map(([, make], place) => make(urls()[place % 3] as string)));
    const redlock = open(clients.slice(0, 3));
    const nodes = await redlock.nodes();
    expect(nodes).toEqual(
      servers.map(({ port }, place) => ({
        name: `${place + 1} (127.0.0.1:${port})`,
        membership: "voting",
        reason: null,
        leftMs: 0,
        incarnation: expect.stringMatching(/^[0-9a-f]{40}$/),
        clockAheadMs: expect.any(Number),
      })),
    );
  });

  test("that are away or the same server are told with the reason", async () => {
    const twin = new Redis(urls()[0] as string);
    onTestFinished(() => twin.disconnect());
    const clock = new ManualClock();
    const redlock = open([...urls().slice(0, 1), twin, AWAY], { clock, callTimeout: 200 });
    const [one, two, three] = await inTime(redlock.nodes(), clock, 1);
    const states = [one?.membership, two?.membership].sort();
    expect(states).toEqual(["refused", "voting"]);
    expect(three).toMatchObject({ name: "3 (127.0.0.1:1)", membership: "unreachable", incarnation: null });
  });

  test("are not told after close()", async () => {
    const redlock = open([AWAY]);
    await redlock.close();
    await expect(redlock.nodes()).rejects.toMatchObject({ code: "CLOSED" });
  });
});

test("one server at two places of the list has one vote, also at the first lock", async () => {
  const one = urls()[0] as string;
  const admins = urls().map((url) => new Redis(url));
  onTestFinished(() => void admins.map((admin) => admin.disconnect()));
  for (let count = 0; count < 5; count++) {
    const twin = new Redis(one);
    onTestFinished(() => twin.disconnect());
    const redlock = open([one, twin, urls()[1] as string]);
    const lease = await redlock.mutex("twins").acquire();
    await until("both servers hold it", async () => {
      const held = await Promise.all(admins.slice(0, 2).map((admin) => admin.get("holdfast:{twins}:lock")));
      return held.every((value) => value?.slice(17).startsWith(lease.id));
    });
    lease.check();
    expect(await lease.release()).toBe("released");
  }
});

test("close() closes the clients of URLs, leaves given ones open, and may be repeated", async () => {
  const client = new Redis(urls()[0] as string);
  onTestFinished(() => client.disconnect());
  const redlock = open([client, ...urls().slice(1)]);
  await redlock.nodes();
  await Promise.all([redlock.close(), redlock.close()]);
  expect(await client.ping()).toBe("PONG");
  const admins = urls().map((url) => new Redis(url));
  onTestFinished(() => void admins.map((admin) => admin.disconnect()));
  const counts = (): Promise<number[]> =>
    Promise.all(
      admins.map(
        async (admin) =>
          String(await admin.call("CLIENT", "LIST"))
            .trim()
            .split("\n").length,
      ),
    );
  await until("only clients of the test are left", async () => String(await counts()) === "2,1,1");
});
