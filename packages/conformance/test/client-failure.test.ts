/**
 * The first failure of a newcomer, over each client library: nothing listens at the address, nobody has connected the client, or it
 * was closed. Nothing was sent then, and the error says so; the process is warned within a second. Time moves only when a test
 * moves it: a call that ends before that has ended at once.
 */
import { createServer } from "node:net";
import { inTime, ManualClock, until } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { GlideClient, Logger } from "@valkey/valkey-glide";
import { Holdfast, type HoldfastOptions, type RedisClientLike, UnavailableError } from "holdfast";
import { Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis5";
import { Redis as Iovalkey } from "iovalkey";
import { createClient } from "redis";
import { createClient as createClient4 } from "redis4";
import { createClient as createClient5 } from "redis5";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { CALLS } from "./calls.js";

interface Opened {
  readonly client: RedisClientLike;
  /** Resolves when the client has told that it could not connect; at once for one that never tells. */
  readonly failed: Promise<unknown>;
  /** As a user ends it. */
  close(): unknown;
}

/** @param isConnecting whether somebody has called `connect()`, where a client needs that */
type Make = (port: number, isConnecting?: boolean) => Opened | Promise<Opened>;

const ofIoredis =
  (Client: typeof Redis | typeof Redis5 | typeof Iovalkey, options = {}): Make =>
  (port) => {
    const client = new (Client as typeof Redis)(port, "127.0.0.1", options);
    const failed = new Promise((resolve) => client.on("error", resolve));
    return { client, failed, close: () => client.disconnect() };
  };

interface NodeRedisLike {
  on(event: "error", listener: (error: Error) => void): unknown;
  connect(): Promise<unknown>;
  disconnect(): Promise<unknown>;
  readonly isOpen: boolean;
}

const ofNodeRedis =
  (make: (options: { url: string }) => unknown): Make =>
  (port, isConnecting = true) => {
    const client = make({ url: `redis://127.0.0.1:${port}` }) as NodeRedisLike;
    const failed = new Promise((resolve) => client.on("error", resolve));
    if (isConnecting) client.connect().catch(() => {});
    return {
      client: client as never,
      failed,
      close: () => (client.isOpen ? client.disconnect() : undefined),
    };
  };

/** GLIDE has no client before it is connected, unless it connects lazily. */
const ofGlide: Make = async (port) => {
  Logger.init("off");
  const addresses = [{ host: "127.0.0.1", port }];
  const client = await GlideClient.createClient({
    addresses,
    lazyConnect: true,
    requestTimeout: 5_000,
    // Once it has given up, every request fails until the next one connects.
    advancedConfiguration: { connectionTimeout: 30_000 },
  });
  return { client, failed: Promise.resolve(), close: () => client.close() };
};

const CLIENTS: readonly { readonly title: string; readonly make: Make }[] = [
  { title: "ioredis 6", make: ofIoredis(Redis) },
  { title: "ioredis 6, lazy", make: ofIoredis(Redis, { lazyConnect: true }) },
  { title: "ioredis 6, without its queue", make: ofIoredis(Redis, { enableOfflineQueue: false }) },
  { title: "ioredis 5", make: ofIoredis(Redis5) },
  { title: "iovalkey", make: ofIoredis(Iovalkey) },
  { title: "node-redis 6", make: ofNodeRedis(createClient) },
  { title: "node-redis 5", make: ofNodeRedis(createClient5) },
  { title: "node-redis 4", make: ofNodeRedis(createClient4) },
  { title: "valkey-glide, lazy", make: ofGlide },
];
const NODE_REDIS = CLIENTS.filter(({ title }) => title.startsWith("node-redis"));

const CALL_MS = 400;

let port: number;
let clock: ManualClock;
const ends: (() => unknown)[] = [];

beforeAll(async () => {
  const holder = createServer();
  await new Promise<void>((resolve) => holder.listen(0, "127.0.0.1", resolve));
  ({ port } = holder.address() as { port: number });
  await new Promise((resolve) => holder.close(resolve));
});

beforeEach(() => {
  clock = new ManualClock();
});

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

function open({ client, close }: Opened, options: HoldfastOptions = {}): Holdfast {
  const hf = new Holdfast(client, { callTimeout: CALL_MS, clock, ...options });
  ends.push(close, () => inTime(hf.close(), clock));
  return hf;
}

/** Every call of every noun, and waits. */
function callsOf(hf: Holdfast): Promise<unknown>[] {
  return [
    ...Object.values(CALLS).map(async (call) => call(hf)),
    hf.mutex("m").acquire({ wait: CALL_MS }),
    hf.rwLock("r").read().acquire({ wait: CALL_MS }),
    hf.semaphore("s", { permits: 2 }).acquire({ wait: CALL_MS }),
    hf.multiLock([hf.mutex("c"), hf.mutex("d")]).acquire({ wait: CALL_MS }),
    hf.queue("p").receive({ wait: CALL_MS }),
    hf.signal("s").wait({ wait: CALL_MS }),
    hf.barrier("b", 2).wait({ wait: CALL_MS }),
    hf.election("e").campaign({ wait: CALL_MS }),
  ];
}

/** Of clients that have one, as those of ioredis: they take a moment to reach it. */
function hasStatus({ client }: Opened, status: string): Promise<unknown> {
  return until(status, () => [status, undefined].includes((client as { status?: string }).status));
}

async function errorsOf(calls: readonly Promise<unknown>[]): Promise<UnavailableError[]> {
  const errors = await Promise.all(calls.map((call) => call.catch((error: unknown) => error)));
  for (const error of errors) expect(error).toBeInstanceOf(UnavailableError);
  return errors as UnavailableError[];
}

describe.each(CLIENTS)("$title", ({ title, make }) => {
  test("where nothing listens, every call ends as not sent, and names the address and the cause", async () => {
    // A client without a queue may answer before it knows that nothing listens.
    const what = title.includes("without") ? "(Redis at|connection to)" : "Redis at";
    const opened = await make(port);
    const errors = errorsOf(callsOf(open(opened)));
    await opened.failed;
    for (const error of await inTime(errors, clock)) {
      expect(error.message).toMatch(new RegExp(`^no ${what} 127.0.0.1:${port} \\(.+\\): nothing was sent; `));
      expect(error.passing).toBe(true);
      if (!/glide|without/.test(title)) expect(error.cause).toMatchObject({ code: "ECONNREFUSED" });
    }
  });

  test("a closed client ends every call at once", async () => {
    const opened = await make(port);
    const hf = open(opened, { callTimeout: "30s" });
    await opened.close();
    await hasStatus(opened, "end");
    for (const error of await errorsOf(callsOf(hf))) {
      expect(error.message).toMatch(/^the .+ client is closed.*: nothing was sent; /);
      expect(error.passing).toBe(false);
    }
    const [first] = (await hf.doctor()).findings;
    expect(first).toMatchObject({ severity: "error", found: expect.stringContaining("client is closed") });
  });
});

/** Without its queue, a client has no place for what was not sent. */
test.each(CLIENTS.filter(({ title }) => !title.includes("without")))(
  "$title: a server that comes up in time serves the call",
  async ({ make }) => {
    const opened = await make(port);
    const hf = open(opened, { callTimeout: "30s" });
    const acquired = hf.mutex("n").acquire({ wait: "30s" });
    const written = hf.record("r").put(1);
    await opened.failed;
    const server = await EmbeddedValkey.start({ port });
    ends.unshift(() => server.stop());
    await (await acquired).release();
    expect(await written).toMatchObject({ version: expect.any(BigInt) });
  },
);

test("a claim that never left this process is not cleaned up once the server is there", async () => {
  const opened = await ofIoredis(Redis)(port);
  const hf = open(opened);
  await inTime(errorsOf(["n1", "n2", "n3"].map((name) => hf.mutex(name).tryAcquire())), clock);
  const server = await EmbeddedValkey.start({ port });
  ends.unshift(() => server.stop());
  await hasStatus(opened, "ready");
  await hf.mutex("m").run(() => {}, { wait: "30s" });
  await hf.close();
  const client = new Redis(server.url);
  ends.unshift(() => client.disconnect());
  expect(await client.keys("*")).toEqual([expect.stringContaining("{m}")]);
});

test.each(NODE_REDIS)(
  "$title that nobody connects ends every call at once, and says so",
  async ({ make }) => {
    const hf = open(await make(port, false), { callTimeout: "30s" });
    for (const error of await errorsOf(callsOf(hf)))
      expect(error.message).toMatch(/^nobody has connected the node-redis client: .*client\.connect\(\)/);
    const limit = hf.limit("open", { max: 1, per: "1h", outage: "open" });
    expect(await limit.take("k")).toMatchObject({ ok: true, source: "outage" });
    const [first] = (await hf.doctor()).findings;
    expect(first).toMatchObject({
      severity: "error",
      found: expect.stringContaining("nobody has connected"),
    });
  },
);

test("the process is warned within a second, once for each client, also where limits go on without Redis", async () => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning);
  process.on("warning", onWarning);
  ends.push(() => process.off("warning", onWarning));
  const opened = await ofIoredis(Redis)(port);
  const [one, two] = [open(opened), open(opened)];
  const limit = one.limit("l", { max: 1, per: "1h", outage: "open" });
  const calls = [limit.take("k"), errorsOf([two.mutex("n").tryAcquire()])];
  await opened.failed;
  clock.advance(1_000);
  await Promise.all(calls);
  await new Promise((resolve) => setImmediate(resolve)); // Node.js tells of a warning in a later turn
  expect(warnings.length).toBe(1);
  await limit.take("k");
  await new Promise((resolve) => setImmediate(resolve));
  expect(warnings).toMatchObject([
    { code: "HOLDFAST_UNREACHABLE", message: expect.stringContaining(`no Redis at 127.0.0.1:${port}`) },
  ]);
});
