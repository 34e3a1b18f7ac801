/**
 * Processes whose requests go to one server and whose messages come from another. They notice it, connect anew, and nothing of theirs
 * is given away meanwhile.
 */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { FaultProxy, needing, program, ServerProcess, type Target, until } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Holdfast } from "holdfast";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { lockKeys, permitKeys } from "../../src/redis/keys.js";

interface Server extends Target {
  stop(): Promise<unknown>;
}

interface Pair {
  readonly before: Server;
  readonly after: Server;
  /** From now on the second one is to be asked. */
  failOver(): Promise<void>;
}

const url = ({ host, port }: Target): string => `redis://${host}:${port}`;

/** Runs one thing at a server. */
async function at<Value>(server: Target, work: (client: Redis) => Promise<Value>): Promise<Value> {
  const client = new Redis(url(server));
  return work(client).finally(() => client.disconnect());
}

/** Two servers that know nothing of each other. */
async function apart(): Promise<Pair> {
  const [before, after] = await Promise.all([EmbeddedValkey.start(), EmbeddedValkey.start()]);
  const of = (server: EmbeddedValkey): Server => {
    return { host: "127.0.0.1", port: server.port, stop: () => server.stop() };
  };
  return { before: of(before), after: of(after), failOver: async () => {} };
}

/** A primary and its replica, which change places. Subscriptions stay, and hear what the other publishes. */
async function replicated(program: string): Promise<Pair> {
  const options = ["--repl-diskless-sync-delay", "0"];
  const before = await ServerProcess.start({ program, options });
  const after = await ServerProcess.start({
    program,
    options: [...options, "--replicaof", before.host, String(before.port)],
  });
  const linked = (server: Target): Promise<unknown> =>
    until("the replica follows", () =>
      at(server, async (client) => (await client.info("replication")).includes("master_link_status:up")),
    );
  await linked(after);
  return {
    before,
    after,
    async failOver() {
      await at(after, (client) => client.replicaof("NO", "ONE"));
      await at(before, (client) => client.replicaof(after.host, after.port));
      await linked(before);
    },
  };
}

let pair: Pair;
let proxy: FaultProxy;
let processes: readonly [Holdfast, Holdfast];
let clients: Redis[];
let server: Redis;
let elsewhere: number;
const count = (): void => {
  elsewhere += 1;
};

beforeAll(() => subscribe("holdfast:inbox:elsewhere", count));
afterAll(() => unsubscribe("holdfast:inbox:elsewhere", count));

afterEach(async () => {
  await Promise.all(processes.map((hf) => hf.close()));
  for (const client of [...clients, server]) client.disconnect();
  await proxy.close();
  await Promise.all([pair.before.stop(), pair.after.stop()]);
});

/** Both have an inbox at the first server; from now on their requests go to the second one, and new connections to these. */
async function part(open: () => Promise<Pair>, ...next: readonly ("before" | "after")[]): Promise<void> {
  elsewhere = 0;
  pair = await open();
  server = new Redis(url(pair.after));
  proxy = await FaultProxy.start(pair.before);
  clients = ["a", "b"].map(() => new Redis(proxy.url, { retryStrategy: () => 20 }));
  for (const client of clients) client.on("error", () => {}); // its connection is cut on purpose
  const [one, two] = clients.map((client) => new Holdfast(client, { callTimeout: "20s" }));
  processes = [one, two] as [Holdfast, Holdfast];
  for (const hf of processes) await hf.signal("s").listen({ buffer: 10_000 });
  await until("the inboxes are there", () =>
    at(
      pair.before,
      async (client) => ((await client.pubsub("CHANNELS", "holdfast:inbox:*")) as unknown[]).length === 2,
    ),
  );
  await pair.failOver();
  proxy.moveTo(pair.after);
  proxy.cut("commands");
  await Promise.all(
    clients.map((client) => until("it is there", async () => (await client.ping()) === "PONG")),
  );
  proxy.moveTo(...next.map((which) => pair[which]));
}

/** Handlers that run for longer than it takes to find that a process is gone, and what the server's clock says of it. */
async function deliveredOnce(): Promise<void> {
  const begun: string[] = [];
  let end: () => void = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const handler =
    (kind: string) =>
    async ({ body }: { readonly body: unknown }): Promise<void> => {
      begun.push(`${kind} ${body}`);
      await ended;
    };
  for (const hf of processes) {
    hf.queue<number>("q").consume(handler("queue"), { concurrency: 2 });
    hf.lanes<number>("l").consume(handler("lanes"), { concurrency: 2 });
  }
  const [one] = processes;
  const jobs = [1, 2, 3].map((job) => one.queue<number>("q").push(job));
  const turns = [1, 2, 3].map((job) => one.lanes<number>("l").push(`lane ${job}`, job));
  await Promise.all([...jobs, ...turns]);
  const seconds = async (): Promise<number> => Number((await server.time())[0]);
  const since = await seconds();
  await until("others have looked often", async () => (await seconds()) - since > 8);
  expect(begun.sort()).toEqual(["lanes 1", "lanes 2", "lanes 3", "queue 1", "queue 2", "queue 3"]);
  end();
  await until("all are done", async () => (await one.queue("q").state()).inFlight === 0);
}

async function handedOver(): Promise<void> {
  const locksOf = (hf: Holdfast) => [
    hf.mutex("m", { ttl: "30s" }),
    hf.semaphore("m", { permits: 1, ttl: "30s" }),
  ];
  const [mine, theirs] = processes.map(locksOf) as [ReturnType<typeof locksOf>, ReturnType<typeof locksOf>];
  await Promise.all(
    mine.map(async (lock, place) => {
      const lease = await lock.acquire();
      const waiting = theirs[place]?.acquire({ wait: "20s" });
      const line = [lockKeys("holdfast", "m"), permitKeys("holdfast", "semaphore", "m")][
        place
      ]?.[1] as string;
      await until("it waits in line", async () => (await server.exists(line)) === 1);
      await lease.release();
      await (await waiting)?.release();
    }),
  );
}

/** What has a state is learned by looks at the latest. */
async function told(): Promise<void> {
  const [one, two] = processes;
  const [record, changes] = [one.record<number>("r"), two.record<number>("r").watch()];
  const waits = [two.event("e").wait({ wait: "20s" }), two.latch("l", 1).wait({ wait: "20s" })];
  await record.put(1);
  for await (const change of changes) if (change?.value === 1) break;
  await Promise.all([one.event("e").set(), one.latch("l", 1).countDown()]);
  expect(await Promise.all(waits)).not.toContain(null);
  const { id } = await one.queue("r").push(1);
  const outcome = one.queue("r").result(id, { wait: "20s" });
  await using delivery = await two.queue("r").receive({ wait: "20s" });
  await delivery?.ack("done");
  expect(await outcome).toMatchObject({ status: "done" });
}

async function tripped(): Promise<void> {
  const parties = processes.map((hf) => hf.barrier("b", 2).wait({ wait: "20s" }));
  expect((await Promise.all(parties)).every((trip) => trip !== null)).toBe(true);
}

async function heard(): Promise<void> {
  const [one, two] = processes;
  await until("both hear", async () => (await one.signal("s").emit()) === 2);
  expect(await two.signal("s").emitOne()).toBe(true);
}

const PAIRS: [string, typeof describe, () => Promise<Pair>][] = [
  ["servers that know nothing of each other", describe, apart],
  [
    "a failover, and the former primary lives",
    needing(describe, "redis-server"),
    () => replicated(program("redis-server")),
  ],
  [
    "a failover of Valkey, and the former primary lives",
    needing(describe, "valkey-server"),
    () => replicated(program("valkey-server")),
  ],
];

for (const [title, suite, open] of PAIRS) {
  suite(title, () => {
    test("a name that moved: each delivery is of one process, all hear again, and the doctor finds nothing", async () => {
      await part(open, "after");
      await Promise.all([deliveredOnce(), heard(), told(), handedOver(), tripped()]);
      expect(elsewhere).toBe(2);
      const { findings } = await processes[0].doctor();
      expect(findings.map(({ code }) => code)).not.toContain("wake-ups");
    });

    test("a balancer with two backends: each delivery is of one process, and all hear again", async () => {
      await part(open, "before", "after");
      await Promise.all([deliveredOnce(), heard(), told(), handedOver(), tripped()]);
      expect(elsewhere).toBeGreaterThanOrEqual(2);
    });

    test("messages that always come from another server: all goes on by looks, and the doctor finds it", async () => {
      await part(open, "before");
      await Promise.all([deliveredOnce(), told(), handedOver(), tripped()]);
      expect(await processes[0].signal("s").emit()).toBe(0);
      const { findings } = await processes[0].doctor();
      expect(findings.find(({ code }) => code === "wake-ups")?.found).toContain("another server");
    });
  });
}
