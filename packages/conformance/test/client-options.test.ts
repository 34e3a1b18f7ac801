/** Options that users set on their clients for reasons of their own, and what holdfast makes of them. */
import { FaultProxy, UNHURRIED } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Decoder, ProtocolVersion } from "@valkey/valkey-glide";
import { Holdfast, type Mutex } from "holdfast";
import { Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis5";
import { Redis as Iovalkey } from "iovalkey";
import { createClient, RESP_TYPES } from "redis";
import { createClient as createClient4 } from "redis4";
import { createClient as createClient5, RESP_TYPES as RESP_TYPES5 } from "redis5";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Open, openGlide, openIoredis, openNodeRedis } from "./openers.ts";

let server: EmbeddedValkey;
let raw: Redis;
const endings: (() => unknown)[] = [];
let names = 0;

beforeAll(async () => {
  server = await EmbeddedValkey.start();
  raw = new Redis(server.url);
  endings.push(() => raw.disconnect());
});

afterAll(async () => {
  for (const end of endings.splice(0).reverse()) await end();
  await server.stop();
});

/** GLIDE ends a call after 250 ms unless told otherwise, which may be too soon on a busy machine. */
const PATIENT = { requestTimeout: 10_000 };
const heard = new Set<string>();
const buffers = { [RESP_TYPES.BLOB_STRING]: Buffer };
const buffers5 = { [RESP_TYPES5.BLOB_STRING]: Buffer };

const OPTIONS: readonly (readonly [string, Open])[] = [
  ["ioredis: keyPrefix", openIoredis((url) => new Redis(url, { keyPrefix: "app:" }))],
  ["ioredis: stringNumbers", openIoredis((url) => new Redis(url, { stringNumbers: true }))],
  ["ioredis: enableAutoPipelining", openIoredis((url) => new Redis(url, { enableAutoPipelining: true }))],
  ["ioredis: lazyConnect", openIoredis((url) => new Redis(url, { lazyConnect: true }))],
  [
    "ioredis: commandTimeout, socketTimeout",
    openIoredis((url) => new Redis(url, { commandTimeout: 500, socketTimeout: 500 })),
  ],
  ["ioredis: reconnects given up", openIoredis((url) => new Redis(url, { retryStrategy: () => null }))],
  ["ioredis: autoResubscribe off", openIoredis((url) => new Redis(url, { autoResubscribe: false }))],
  ["ioredis 5: keyPrefix", openIoredis((url) => new Redis5(url, { keyPrefix: "app:" }))],
  ["iovalkey: keyPrefix", openIoredis((url) => new Iovalkey(url, { keyPrefix: "app:" }))],
  [
    "node-redis: replies as Buffers",
    openNodeRedis((url) => createClient({ url, commandOptions: { typeMapping: buffers } })),
  ],
  ["node-redis: withTypeMapping", openNodeRedis((url) => createClient({ url }).withTypeMapping(buffers))],
  ["node-redis: keyPrefix", openNodeRedis((url) => createClient({ url, keyPrefix: "app:" }))],
  [
    "node-redis: socketTimeout",
    openNodeRedis((url) => createClient({ url, socket: { socketTimeout: 5_000 } })),
  ],
  [
    "node-redis: reconnects given up",
    openNodeRedis((url) => createClient({ url, socket: { reconnectStrategy: false } })),
  ],
  [
    "node-redis: disableOfflineQueue",
    openNodeRedis((url) => createClient({ url, disableOfflineQueue: true })),
  ],
  [
    "node-redis 5: replies as Buffers",
    openNodeRedis((url) => createClient5({ url, commandOptions: { typeMapping: buffers5 } })),
  ],
  [
    "node-redis 5: socketTimeout",
    openNodeRedis((url) => createClient5({ url, socket: { socketTimeout: 5_000 } })),
  ],
  ["node-redis 4: legacyMode", openNodeRedis((url) => createClient4({ url, legacyMode: true }))],
  ["GLIDE: RESP2", openGlide({ protocol: ProtocolVersion.RESP2, ...PATIENT })],
  ["GLIDE: replies as bytes", openGlide({ defaultDecoder: Decoder.Bytes, ...PATIENT })],
  ["GLIDE: lazyConnect", openGlide({ lazyConnect: true, ...PATIENT })],
  ["GLIDE: three requests in flight", openGlide({ inflightRequestsLimit: 3, ...PATIENT })],
  [
    "GLIDE: subscriptions of its own",
    openGlide({
      ...PATIENT,
      pubsubSubscriptions: {
        channelsAndPatterns: { 0: new Set(["news"]) },
        callback: ({ message }) => heard.add(String(message)),
      },
    }),
  ],
];

describe.each(OPTIONS)("%s", (_title, open) => {
  test("calls, hand-overs and lost wake-up connections are as ever", async () => {
    const proxy = await FaultProxy.start({ host: "127.0.0.1", port: server.port });
    endings.push(() => proxy.close());
    const prefix = `options${++names}`;
    const [here, there] = [await mutex(server.url), await mutex(proxy.url)];

    for (const breaks of [false, true]) {
      const held = await here.acquire();
      const waiting = there.acquire({ wait: "1m" });
      await listens(proxy);
      if (breaks) {
        proxy.forget();
        proxy.cut("inbox");
        await listens(proxy);
      }
      expect(await held.release()).toBe("released");
      const lease = await waiting;
      expect(lease.fence).toBeGreaterThan(held.fence);
      expect(await lease.release()).toBe("released");
    }
    // The keys of holdfast are where the client writes those of its user.
    const keys = (await raw.keys(`*${prefix}:*`)) as string[];
    const [own] = keys.filter((key) => key.endsWith(`${prefix}:own`));
    expect(keys.length).toBeGreaterThan(1);
    expect(keys.filter((key) => !key.startsWith(String(own).slice(0, -"own".length)))).toEqual([]);

    async function mutex(url: string): Promise<Mutex> {
      const { client, close, send } = await open(url);
      await send("set", `${prefix}:own`, "1");
      const hf = new Holdfast(client, { ...UNHURRIED, prefix });
      endings.push(close, () => hf.close());
      return hf.mutex("n", { ttl: "60s" });
    }
  });
});

/** Without a strategy of the user's own, a client that was silent for too long is closed for good. */
const IMPATIENT = { socketTimeout: 20, reconnectStrategy: 1 };

/** A time limit for silence ends connections over which nothing passes; one that listens may be silent for hours. */
test.each([
  ["node-redis 6", (url: string) => createClient({ url, socket: { ...IMPATIENT } })],
  ["node-redis 5", (url: string) => createClient5({ url, socket: { ...IMPATIENT } })],
] as const)(
  "%s: the connection that listens stays open, whatever its socketTimeout",
  async (_title, make) => {
    const proxy = await FaultProxy.start({ host: "127.0.0.1", port: server.port });
    endings.push(() => proxy.close());
    const client = make(proxy.url).on("error", () => {});
    await client.connect();
    const prefix = `options${++names}`;
    const [one, two] = [
      new Holdfast(client, { ...UNHURRIED, prefix }),
      new Holdfast(client, { ...UNHURRIED, prefix }),
    ];
    endings.push(
      () => client.destroy(),
      () => one.close(),
      () => two.close(),
    );
    const held = await one.mutex("n").acquire();
    const waiting = two.mutex("n").acquire({ wait: "1m" });
    await listens(proxy);
    for (let round = 0; round < 3; round++) {
      await new Promise((resolve) => client.once("reconnecting", resolve)); // silent for too long, it is closed
    }
    expect(await held.release()).toBe("released");
    expect(await (await waiting).release()).toBe("released");
    expect(proxy.requests.filter(([verb]) => verb?.toUpperCase() === "SUBSCRIBE")).toHaveLength(1);
  },
);

function listens(proxy: FaultProxy): Promise<void> {
  return proxy.when("it listens", () => proxy.requests.some(([verb]) => verb?.toUpperCase() === "SUBSCRIBE"));
}
