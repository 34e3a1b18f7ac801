/**
 * What each client library does of its own accord, with its own defaults, and that holdfast bears it: the facts of
 * the table in docs/guides/clients.md. Each is seen at a proxy before the embedded server.
 */
import { FaultProxy, inTime, ManualClock, outcome, UNHURRIED, until } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Holdfast, type RedisClientLike } from "holdfast";
import { Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis5";
import { Redis as Iovalkey } from "iovalkey";
import { createClient } from "redis";
import { createClient as createClient4 } from "redis4";
import { createClient as createClient5 } from "redis5";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Open, type Opened, openGlide, openIoredis, openNodeRedis } from "./openers.ts";

interface Habits {
  /** A call whose reply a broken connection swallowed: sent again, or rejected. */
  readonly lostReply: "sent again" | "rejected";
  /** A call that a silent server never answers. */
  readonly silence: "waits" | "rejected";
  /** A call made while there is no connection, once there is one again. */
  readonly away: "sent late" | "rejected";
  /** What it speaks unless told otherwise. */
  readonly resp: 2 | 3;
}

interface Library extends Habits {
  readonly title: string;
  readonly open: Open;
}

const FAMILY = {
  ioredis: { lostReply: "sent again", silence: "waits", away: "sent late" },
  nodeRedis: { lostReply: "rejected", silence: "waits", away: "sent late" },
  glide: { lostReply: "rejected", silence: "rejected", away: "rejected" },
} as const;

const LIBRARIES: readonly Library[] = [
  { title: "ioredis 6", open: openIoredis((url) => new Redis(url)), ...FAMILY.ioredis, resp: 3 },
  { title: "ioredis 5", open: openIoredis((url) => new Redis5(url)), ...FAMILY.ioredis, resp: 2 },
  { title: "iovalkey 0.4", open: openIoredis((url) => new Iovalkey(url)), ...FAMILY.ioredis, resp: 2 },
  {
    title: "node-redis 6",
    open: openNodeRedis((url) => createClient({ url })),
    ...FAMILY.nodeRedis,
    resp: 3,
  },
  {
    title: "node-redis 5",
    open: openNodeRedis((url) => createClient5({ url })),
    ...FAMILY.nodeRedis,
    resp: 2,
  },
  {
    title: "node-redis 4",
    open: openNodeRedis((url) => createClient4({ url })),
    ...FAMILY.nodeRedis,
    resp: 2,
  },
  { title: "valkey-glide 2.5", open: openGlide(), ...FAMILY.glide, resp: 3 },
];

let server: EmbeddedValkey;
let proxy: FaultProxy;
let direct: Redis;
let ends: (() => unknown)[];

beforeAll(async () => {
  server = await EmbeddedValkey.start();
  direct = new Redis(server.url);
});

beforeEach(async () => {
  proxy = await FaultProxy.start({ host: "127.0.0.1", port: server.port });
  ends = [];
});

afterEach(async () => {
  proxy.heal();
  for (const end of ends.reverse()) await end();
  await proxy.close();
  await direct.flushall();
});

afterAll(async () => {
  direct.disconnect();
  await server.stop();
});

async function open(library: Library): Promise<Opened> {
  const client = await library.open(proxy.url);
  ends.push(() => client.close());
  return client;
}

function holdfast(client: RedisClientLike): Holdfast {
  const hf = new Holdfast(client, UNHURRIED);
  ends.push(() => hf.close());
  return hf;
}

/** A call that nobody answers ends when the clock has gone on, and not before. */
function timed(client: RedisClientLike): { readonly hf: Holdfast; readonly clock: ManualClock } {
  const clock = new ManualClock();
  const hf = new Holdfast(client, { clock, callTimeout: 300 });
  ends.push(() => inTime(hf.close(), clock));
  return { hf, clock };
}

describe.each(LIBRARIES)("$title", (library) => {
  test(`a call whose reply is lost is ${library.lostReply}`, async () => {
    const { send } = await open(library);
    proxy.set({ down: "hold" });
    const calls = Array.from({ length: 50 }, () => send("INCR", "n"));
    const outcomes = Promise.allSettled(calls);
    await until("all were carried out", async () => Number(await direct.get("n")) === calls.length);
    await proxy.whenAnswerHeld();
    proxy.cut();
    proxy.heal();
    const fulfilled = (await outcomes).filter(({ status }) => status === "fulfilled").length;
    const count = Number(await direct.get("n"));
    if (library.lostReply === "sent again") expect([fulfilled, count]).toEqual([50, 100]);
    else expect([fulfilled, count]).toEqual([0, 50]);
  });

  test("a lock whose grant or release loses its reply is granted once and released once", async () => {
    const [hf, rival] = [holdfast((await open(library)).client), holdfast((await open(library)).client)];
    const mutex = hf.mutex("n");
    await mutex.run(() => {}); // the script is known from here on
    const { outcome: acquired } = await withoutReply(() => mutex.acquire());
    const lease = await acquired;
    expect(await rival.mutex("n").tryAcquire()).toBeNull();
    const { outcome: released } = await withoutReply(() => lease.release());
    expect(await released).toBe("released");
    const next = await rival.mutex("n").acquire({ wait: "1m" });
    expect(next.fence).toBeGreaterThan(lease.fence);

    async function withoutReply<Value>(call: () => Promise<Value>): Promise<{ outcome: Promise<Value> }> {
      proxy.forget();
      proxy.set({ down: "hold" });
      const outcome = call();
      await proxy.whenAnswerHeld();
      proxy.cut();
      proxy.heal();
      await proxy.when("the question is repeated", () => proxy.scriptCalls.length > 1);
      return { outcome };
    }
  });

  test(`a call that is never answered ${library.silence === "waits" ? "waits" : "is rejected"}`, async () => {
    const { client, send } = await open(library);
    const { hf, clock } = timed(client);
    await hf.mutex("warm").run(() => {});
    proxy.set({ up: "hold" });
    let settled = false;
    const settle = (): void => {
      settled = true;
    };
    send("PING").then(settle, settle);
    const { error } = await outcome(hf.mutex("silent").tryAcquire(), clock, 50);
    expect(error).toMatchObject({ code: "INDETERMINATE" });
    if (library.silence === "waits") expect(settled).toBe(false);
    else await until("GLIDE's own limit, by a thread of its own", () => settled);
  });

  test(`a call made while there is no connection is ${library.away}`, async () => {
    const { client, send } = await open(library);
    const { hf, clock } = timed(client);
    await hf.mutex("warm").run(() => {});
    proxy.refuse();
    // GLIDE does not say that it is not connected.
    const code = library.away === "sent late" ? "UNAVAILABLE" : "INDETERMINATE";
    const attempt = async (): Promise<boolean> => {
      const { error } = await outcome(hf.mutex("away").tryAcquire(), clock, 50);
      return (error as { code?: string }).code === code;
    };
    await until("the client has noticed", attempt);
    const call = send("INCR", "late").then(
      () => "sent late",
      () => "rejected",
    );
    expect(await attempt()).toBe(true);
    if (library.away === "rejected") await call;
    proxy.heal();
    expect(await call).toBe(library.away);
    // What the caller gave up on takes nothing, whenever it is sent.
    const rival = holdfast(direct);
    const lease = await inTime(rival.mutex("away").acquire({ wait: "1m" }), clock);
    expect(await lease.release()).toBe("released");
  });

  test(`it speaks RESP${library.resp} unless told otherwise, and the calls of a tick share a write`, async () => {
    const { client } = await open(library);
    expect(proxy.requests.some(([verb]) => verb?.toUpperCase() === "HELLO")).toBe(library.resp === 3);
    const hf = holdfast(client);
    await hf.mutex("warm").run(() => {});
    proxy.forget();
    await Promise.all(Array.from({ length: 50 }, (_, n) => hf.mutex(`n${n}`).tryAcquire()));
    expect(proxy.writes).toBeLessThan(10);
  });
});
