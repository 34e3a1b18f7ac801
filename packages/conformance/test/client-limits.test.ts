/** What a server or a client refuses reaches the caller as the same typed error, whatever the library calls it. */
import { FaultProxy, UNHURRIED } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Holdfast } from "holdfast";
import { Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis5";
import { Redis as Iovalkey } from "iovalkey";
import { createClient } from "redis";
import { createClient as createClient4 } from "redis4";
import { createClient as createClient5 } from "redis5";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Open, type Opened, openGlide, openIoredis, openNodeRedis } from "./openers.ts";

let server: EmbeddedValkey;
let admin: Redis;
const ends: (() => unknown)[] = [];

beforeAll(async () => {
  server = await EmbeddedValkey.start();
  admin = new Redis(server.url);
});

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

afterAll(async () => {
  admin.disconnect();
  await server.stop();
});

async function opened(open: Open, url = server.url): Promise<Opened> {
  const client = await open(url);
  ends.push(() => client.close());
  return client;
}

async function holdfast(open: Open, url = server.url, prefix = "holdfast"): Promise<Holdfast> {
  const hf = new Holdfast((await opened(open, url)).client, { ...UNHURRIED, prefix });
  ends.push(() => hf.close());
  return hf;
}

const LIBRARIES: readonly (readonly [string, Open])[] = [
  ["ioredis 6", openIoredis((url) => new Redis(url))],
  ["ioredis 5", openIoredis((url) => new Redis5(url))],
  ["iovalkey", openIoredis((url) => new Iovalkey(url))],
  ["node-redis 6", openNodeRedis((url) => createClient({ url }))],
  ["node-redis 5", openNodeRedis((url) => createClient5({ url }))],
  ["node-redis 4", openNodeRedis((url) => createClient4({ url }))],
  ["valkey-glide", openGlide({ requestTimeout: 10_000 })],
];

/** What an administrator does to the server, what it then answers, and how it is undone. */
const REFUSALS: readonly (readonly [code: string, cause: readonly string[], end: readonly string[]])[] = [
  ["OOM", ["CONFIG", "SET", "maxmemory", "1"], ["CONFIG", "SET", "maxmemory", "0"]],
  ["READONLY", ["REPLICAOF", "127.0.0.1", "1"], ["REPLICAOF", "NO", "ONE"]],
  [
    "NOREPLICAS",
    ["CONFIG", "SET", "min-replicas-to-write", "1"],
    ["CONFIG", "SET", "min-replicas-to-write", "0"],
  ],
  ["NOPERM", ["ACL", "SETUSER", "default", "-set"], ["ACL", "SETUSER", "default", "+set"]],
  ["NOPERM", ["ACL", "SETUSER", "default", "-evalsha", "-eval"], ["ACL", "SETUSER", "default", "+@all"]],
];

describe.each(LIBRARIES)("%s", (_title, open) => {
  test.each(REFUSALS)(
    "%s reaches the caller (%s)",
    async (serverCode, [cause = "", ...words], [end = "", ...rest]) => {
      const hf = await holdfast(open);
      await hf.mutex("warm").run(() => {});
      await admin.call(cause, ...words);
      ends.push(() => admin.call(end, ...rest));
      const error = await hf
        .mutex("n")
        .tryAcquire()
        .catch((caught) => caught);
      expect(error).toMatchObject({ code: "SERVER_ERROR", serverCode });
    },
  );

  test("a user without the channels may lock, and is told so when it has to wait", async () => {
    const url = await user("+@all", "resetchannels", "allkeys");
    const [one, two] = [await holdfast(open, url), await holdfast(open, url)];
    const lease = await one.mutex("n").acquire();
    await expect(two.mutex("n").acquire({ wait: "1m" })).rejects.toMatchObject({
      code: "SERVER_ERROR",
      serverCode: "NOPERM",
    });
    expect(await lease.release()).toBe("released");
  });
});

async function user(...rules: string[]): Promise<string> {
  await admin.call("ACL", "SETUSER", "app", "reset", "on", ">secret", ...rules);
  return server.url.replace("redis://", "redis://app:secret@");
}

describe("the bounded number of requests of valkey-glide", () => {
  test("is never reached by holdfast alone", async () => {
    const { client } = await opened(openGlide({ inflightRequestsLimit: 10, requestTimeout: 30_000 }));
    const hf = new Holdfast(client, { callTimeout: "1m" }); // so many, ten at a time, take a while
    ends.push(() => hf.close());
    const leases = await Promise.all(Array.from({ length: 2_000 }, (_, n) => hf.mutex(`n${n}`).acquire()));
    const results = await Promise.all(leases.map((lease) => lease.release()));
    expect(new Set(results)).toEqual(new Set(["released"]));
  });

  test("is shared by all that use one client", async () => {
    const { client } = await opened(openGlide({ inflightRequestsLimit: 10, requestTimeout: 30_000 }));
    const holdfasts = Array.from({ length: 20 }, () => new Holdfast(client, UNHURRIED));
    await Promise.all(holdfasts.map((hf, n) => hf.mutex(`m${n}`).run(() => {})));
    await Promise.all(holdfasts.map((hf) => hf.close()));
  });

  test("is told when other calls have used it up, and nothing was sent; a wait goes on", async () => {
    const proxy = await FaultProxy.start({ host: "127.0.0.1", port: server.port });
    ends.push(() => proxy.close());
    const { client, send } = await opened(
      openGlide({ inflightRequestsLimit: 10, requestTimeout: 8_000 }),
      proxy.url,
    );
    const hf = new Holdfast(client, UNHURRIED);
    ends.push(() => hf.close());
    await hf.mutex("n").run(() => {});
    proxy.set({ up: "hold" });
    const others = Array.from({ length: 30 }, () => send("PING").catch(() => {}));
    await expect(hf.mutex("n").tryAcquire()).rejects.toMatchObject({ code: "CLIENT_OVERLOADED" });
    const impatient = hf.mutex("n").acquire({ wait: 100 });
    const patient = hf.mutex("n").acquire({ wait: "1m" });
    await expect(impatient).rejects.toMatchObject({ code: "CLIENT_OVERLOADED" });
    proxy.heal();
    await Promise.all(others);
    const lease = await patient;
    expect(await lease.release()).toBe("released");
  });
});
