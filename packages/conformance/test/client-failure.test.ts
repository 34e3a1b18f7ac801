/**
 * The first failure of a newcomer, over each client library: nothing listens at the address, nobody has connected the client, or it
 * was closed. Nothing was sent then, and the error says so; the process is warned within a second.
 */
import { createServer } from "node:net";
import { EmbeddedValkey } from "@holdfast/embedded";
import { GlideClient, Logger } from "@valkey/valkey-glide";
import { Holdfast, type HoldfastOptions, type RedisClientLike, UnavailableError } from "holdfast";
import { Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis5";
import { Redis as Iovalkey } from "iovalkey";
import { createClient } from "redis";
import { createClient as createClient4 } from "redis4";
import { createClient as createClient5 } from "redis5";
import { afterEach, beforeAll, describe, expect, test } from "vitest";

interface Opened {
  readonly client: RedisClientLike;
  /** As a user ends it. */
  close(): unknown;
}

/** @param isConnecting whether somebody has called `connect()`, where a client needs that */
type Make = (port: number, isConnecting?: boolean) => Opened | Promise<Opened>;

const ofIoredis =
  (Client: typeof Redis | typeof Redis5 | typeof Iovalkey, options = {}): Make =>
  (port) => {
    const client = new (Client as typeof Redis)(port, "127.0.0.1", options);
    client.on("error", () => {});
    return { client, close: () => client.disconnect() };
  };

interface NodeRedisLike {
  on(event: "error", listener: () => void): unknown;
  connect(): Promise<unknown>;
  disconnect(): Promise<unknown>;
  readonly isOpen: boolean;
}

const ofNodeRedis =
  (make: (options: { url: string }) => unknown): Make =>
  (port, isConnecting = true) => {
    const client = make({ url: `redis://127.0.0.1:${port}` }) as NodeRedisLike;
    client.on("error", () => {});
    if (isConnecting) client.connect().catch(() => {});
    return {
      client: client as never,
      close: () => (client.isOpen ? client.disconnect() : undefined),
    };
  };

/** GLIDE has no client before it is connected, unless it connects lazily. */
const ofGlide: Make = async (port) => {
  Logger.init("off");
  const addresses = [{ host: "127.0.0.1", port }];
  const client = await GlideClient.createClient({ addresses, lazyConnect: true, requestTimeout: 5_000 });
  return { client, close: () => client.close() };
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
/** Much less than any time-out, and enough for a busy machine. */
const AT_ONCE_MS = 250;

let port: number;
const ends: (() => unknown)[] = [];

beforeAll(async () => {
  const holder = createServer();
  await new Promise<void>((resolve) => holder.listen(0, "127.0.0.1", resolve));
  ({ port } = holder.address() as { port: number });
  await new Promise((resolve) => holder.close(resolve));
});

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

function open({ client, close }: Opened, options: HoldfastOptions = {}): Holdfast {
  const hf = new Holdfast(client, { callTimeout: CALL_MS, ...options });
  ends.push(close, () => hf.close());
  return hf;
}

/** One call of every noun that sends something. */
function callsOf(hf: Holdfast): Promise<unknown>[] {
  const limit = { max: 1, per: "1h" } as const;
  return [
    hf.mutex("n").tryAcquire(),
    hf.mutex("m").acquire({ wait: CALL_MS }),
    hf.rwLock("r").read().acquire({ wait: CALL_MS }),
    hf.semaphore("s", { permits: 2 }).acquire({ wait: CALL_MS }),
    hf.multiLock([hf.mutex("a"), hf.mutex("b")]).acquire({ wait: CALL_MS }),
    hf.limit("l", { ...limit, timeout: CALL_MS }).take("k"),
    hf.record("r").put(1),
    hf.queue("q").push("body"),
    hf.queue("p").receive({ wait: CALL_MS }),
    hf.signal("s").emit(),
    hf.signal("s").emitOne(),
    hf.signal("s").wait({ wait: CALL_MS }),
    hf.once("k", () => 1, { keep: "1h" }),
    hf.event("e").set(),
    hf.latch("l", 2).countDown(),
    hf.barrier("b", 2).wait({ wait: CALL_MS }),
    hf.election("e").campaign({ wait: CALL_MS }),
  ];
}

async function errorsOf(hf: Holdfast): Promise<UnavailableError[]> {
  const outcomes = await Promise.allSettled(callsOf(hf));
  const errors = outcomes.map((outcome) => (outcome.status === "rejected" ? outcome.reason : outcome.value));
  for (const error of errors) expect(error).toBeInstanceOf(UnavailableError);
  return errors;
}

describe.each(CLIENTS)("$title", ({ title, make }) => {
  test("where nothing listens, every call ends as not sent, and names the address and the cause", async () => {
    const hf = open(await make(port), { callTimeout: title.includes("glide") ? 3_000 : CALL_MS });
    for (const error of await errorsOf(hf)) {
      expect(error.message).toMatch(
        new RegExp(`^no Redis at 127.0.0.1:${port} \\(.+\\): nothing was sent; `),
      );
      expect(error.passing).toBe(true);
      if (!/glide|without/.test(title)) expect(error.cause).toMatchObject({ code: "ECONNREFUSED" });
    }
  });

  test("a closed client ends every call at once", async () => {
    const opened = await make(port);
    const hf = open(opened, { callTimeout: "30s" });
    await opened.close();
    await new Promise((resolve) => setImmediate(resolve)); // ioredis takes a moment to end
    const sinceMs = performance.now();
    for (const error of await errorsOf(hf)) {
      expect(error.message).toMatch(/^the .+ client is closed.*: nothing was sent; /);
      expect(error.passing).toBe(false);
    }
    expect(performance.now() - sinceMs).toBeLessThan(AT_ONCE_MS * 4);
    const [first] = (await hf.doctor()).findings;
    expect(first).toMatchObject({ severity: "error", found: expect.stringContaining("client is closed") });
  });
});

/** Without its queue, a client has no place for what was not sent. */
test.each(CLIENTS.filter(({ title }) => !title.includes("without")))(
  "$title: a server that comes up in time serves the call",
  async ({ make }) => {
    const hf = open(await make(port), { callTimeout: "30s" });
    const acquired = hf.mutex("n").acquire({ wait: "30s" });
    const written = hf.record("r").put(1);
    await new Promise((resolve) => setTimeout(resolve, 100));
    const server = await EmbeddedValkey.start({ port });
    ends.unshift(() => server.stop());
    await (await acquired).release();
    expect(await written).toMatchObject({ version: expect.any(BigInt) });
  },
);

test("a claim that never left this process is not cleaned up once the server is there", async () => {
  const hf = open(await ofIoredis(Redis)(port), { callTimeout: CALL_MS });
  const names = ["n1", "n2", "n3"];
  const refused = await Promise.allSettled(names.map((name) => hf.mutex(name).tryAcquire()));
  for (const each of refused) expect(each).toMatchObject({ reason: expect.any(UnavailableError) });
  const server = await EmbeddedValkey.start({ port });
  ends.unshift(() => server.stop());
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
    const sinceMs = performance.now();
    for (const error of await errorsOf(hf))
      expect(error.message).toMatch(/^nobody has connected the node-redis client: .*client\.connect\(\)/);
    const limit = hf.limit("open", { max: 1, per: "1h", outage: "open" });
    expect(await limit.take("k")).toMatchObject({ ok: true, source: "outage" });
    expect(performance.now() - sinceMs).toBeLessThan(AT_ONCE_MS * 4);
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
  const sinceMs = performance.now();
  await Promise.all([
    limit.take("k"),
    two
      .mutex("n")
      .tryAcquire()
      .catch(() => {}),
  ]);
  await expect.poll(() => warnings.length, { timeout: 1_000 }).toBe(1);
  expect(performance.now() - sinceMs).toBeLessThan(1_500);
  await limit.take("k");
  expect(warnings).toMatchObject([
    { code: "HOLDFAST_UNREACHABLE", message: expect.stringContaining(`no Redis at 127.0.0.1:${port}`) },
  ]);
});
