/**
 * Options of a client that change the shape of its replies. Every noun answers through each of them as it does
 * through a client with no options at all.
 */
import { program as programOf, ServerProcess, until } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Decoder, ProtocolVersion } from "@valkey/valkey-glide";
import { Holdfast, type LimitOptions, type LimitResult } from "holdfast";
import { Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis5";
import { Redis as Iovalkey } from "iovalkey";
import { createClient, RESP_TYPES } from "redis";
import { createClient as createClient5, RESP_TYPES as RESP_TYPES5 } from "redis5";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Open, type Opened, openGlide, openIoredis, openNodeRedis } from "./openers.ts";

const program = programOf("redis-server");
/** Nothing here is about a server that is slow, and a machine that runs many suites is. */
const PATIENT_MS = 30_000;
const PLAIN = openIoredis((url) => new Redis(url));

/** Every type of reply that a client may turn into something else. */
const everything = {
  [RESP_TYPES.BLOB_STRING]: Buffer,
  [RESP_TYPES.SIMPLE_STRING]: Buffer,
  [RESP_TYPES.NUMBER]: String,
  [RESP_TYPES.DOUBLE]: String,
  [RESP_TYPES.MAP]: Array,
  [RESP_TYPES.SET]: Set,
};
const everything5 = {
  [RESP_TYPES5.BLOB_STRING]: Buffer,
  [RESP_TYPES5.SIMPLE_STRING]: Buffer,
  [RESP_TYPES5.NUMBER]: String,
  [RESP_TYPES5.MAP]: Map,
};

const OPTIONS: readonly (readonly [string, Open])[] = [
  ...([2, 3] as const).flatMap((protocol): (readonly [string, Open])[] => [
    [`ioredis, RESP${protocol}`, openIoredis((url) => new Redis(url, { protocol }))],
    [
      `ioredis, RESP${protocol}: stringNumbers`,
      openIoredis((url) => new Redis(url, { protocol, stringNumbers: true })),
    ],
    [
      `ioredis, RESP${protocol}: stringNumbers, keyPrefix, enableAutoPipelining`,
      openIoredis(
        (url) =>
          new Redis(url, { protocol, stringNumbers: true, keyPrefix: "app:", enableAutoPipelining: true }),
      ),
    ],
    [
      `node-redis, RESP${protocol}: replies as other types`,
      openNodeRedis((url) =>
        createClient({ url, RESP: protocol, commandOptions: { typeMapping: everything } }),
      ),
    ],
    [
      `node-redis, RESP${protocol}: withTypeMapping`,
      openNodeRedis((url) => createClient({ url, RESP: protocol }).withTypeMapping(everything)),
    ],
    [
      `node-redis 5, RESP${protocol}: replies as other types`,
      openNodeRedis((url) =>
        createClient5({ url, RESP: protocol, commandOptions: { typeMapping: everything5 } }),
      ),
    ],
  ]),
  ["ioredis 5: stringNumbers", openIoredis((url) => new Redis5(url, { stringNumbers: true }))],
  ["iovalkey: stringNumbers", openIoredis((url) => new Iovalkey(url, { stringNumbers: true }))],
  [
    "iovalkey: stringNumbers, keyPrefix, enableAutoPipelining",
    openIoredis(
      (url) => new Iovalkey(url, { stringNumbers: true, keyPrefix: "app:", enableAutoPipelining: true }),
    ),
  ],
  [
    "iovalkey: showFriendlyErrorStack",
    openIoredis((url) => new Iovalkey(url, { showFriendlyErrorStack: true })),
  ],
  ["GLIDE: replies as bytes", openGlide({ defaultDecoder: Decoder.Bytes, requestTimeout: 15_000 })],
  [
    "GLIDE, RESP2: replies as bytes",
    openGlide({ defaultDecoder: Decoder.Bytes, protocol: ProtocolVersion.RESP2, requestTimeout: 15_000 }),
  ],
];

let admin: Redis;
let server: { readonly url: string; stop(): Promise<unknown> };
let opened: Opened;
let hf: Holdfast;
const ends: (() => unknown)[] = [];
let names = 0;

beforeAll(async () => {
  if (program === "") server = await EmbeddedValkey.start();
  else {
    const started = await ServerProcess.start({ program });
    server = { url: `redis://${started.host}:${started.port}`, stop: () => started.stop() };
  }
  admin = new Redis(server.url);
});

afterAll(async () => {
  for (const end of ends.splice(0).reverse()) await end();
  admin.disconnect();
  await server.stop();
});

describe.each(OPTIONS)("%s", (_title, open) => {
  let prefix: string;

  beforeAll(async () => {
    opened = await open(server.url);
    const { client, close } = opened;
    prefix = `replies${++names}`;
    hf = new Holdfast(client, { prefix, callTimeout: PATIENT_MS });
    ends.push(close, () => hf.close());
  });

  test.each([
    ["rolling", { type: "rolling", max: 3, per: "1h" }],
    ["gcra", { type: "gcra", max: 3, per: "1h", burst: 4 }],
    ["window", { type: "window", max: 3, per: "1h" }],
    ["sliding", { type: "sliding", max: 3, per: "1h" }],
    ["lifetime", { type: "lifetime", max: 3 }],
  ] as const)("a limit of type %s", async (name, options) => {
    await asThroughAPlainClient(prefix, (each) => tourOfLimit(each, `l-${name}`, options));
  });

  test("limits that take blocks", async () => {
    await asThroughAPlainClient(prefix, async (each) => {
      const limit = each.limit("blocks", { type: "window", max: 5, per: "1h", block: 3 });
      const told = [
        await limit.take("t"),
        await limit.take("t"),
        await limit.take("t", 3),
        await limit.take("t"),
      ];
      return told.map(briefly);
    });
  });

  test("groups, and what one key of an alien costs the others", async () => {
    await asThroughAPlainClient(prefix, tourOfGroups);
  });

  test("an index of limits", async () => {
    await asThroughAPlainClient(prefix, async (each) => {
      const [one, other] = [each.limit("one", HOURLY), each.limit("other", HOURLY)];
      const index = await each.limits.index("i");
      await index.note([one.of("a"), other.of("a")]);
      const taken = [await one.take("a", 3), await other.take("a", 3)];
      await index.reset("one");
      return [...taken, await one.peek("a"), await other.peek("a")].map(briefly);
    });
  });

  test("a guard: hits, a penalty that is prolonged, a pardon", async () => {
    await asThroughAPlainClient(prefix, async (each) => {
      const guard = each.guard("g", {
        hits: 1,
        per: "1h",
        penalties: [{ kind: "postpone", for: "10m", prolong: true }],
      });
      const told = [await guard.hit("s"), await guard.hit("s"), await guard.hit("s"), await guard.look("s")];
      await guard.pardon("s");
      told.push(await guard.look("s"), await guard.hit("s"));
      return told.map(({ retryAfterMs, ...rest }) => ({ ...rest, minutes: minutesOf(retryAfterMs) }));
    });
  });

  test("a mutex, its waiters, a fenced record and the inspector", async () => {
    await asThroughAPlainClient(prefix, tourOfLocks);
  });

  test("an event, a latch, and how many listen", async () => {
    await asThroughAPlainClient(prefix, tourOfEvents);
  });

  test("the doctor reads the server as ever", async () => {
    await asThroughAPlainClient(prefix, async (each) => {
      const { facts, findings } = await each.doctor();
      const { kind, version, mode, role, replicas, maxMemoryBytes, evictionPolicy } = facts;
      const codes = findings.map(({ code }) => code).filter((code) => !ELSEWHERE.test(code));
      return { kind, version, mode, role, replicas, maxMemoryBytes, evictionPolicy, codes };
    });
  });
});

const HOURLY = { type: "rolling", max: 3, per: "1h" } as const;
/** Findings that are about the options of a client, or about how busy the machine is. */
const ELSEWHERE = /^(client-|latency$|clock$)/;

/** Both tours are of keys of their own. */
async function asThroughAPlainClient(
  prefix: string,
  tour: (hf: Holdfast, prefix: string) => Promise<unknown>,
): Promise<void> {
  const plain = await PLAIN(server.url);
  const other = new Holdfast(plain.client, {
    prefix: `${prefix}-plain`,
    callTimeout: PATIENT_MS,
  });
  try {
    const expected = await tour(other, `${prefix}-plain`);
    expect(await tour(hf, prefix)).toEqual(expected);
  } finally {
    await other.close();
    await plain.close();
  }
}

/** What a limit says, without its times to the millisecond. */
function briefly({ retryAfterMs, resetMs, ...rest }: LimitResult): unknown {
  return { ...rest, retryMinutes: minutesOf(retryAfterMs), resetMinutes: minutesOf(resetMs) };
}

function minutesOf(ms: number | null): number | null {
  return ms === null ? null : Math.ceil(ms / 60_000);
}

async function tourOfLimit(hf: Holdfast, name: string, options: LimitOptions): Promise<unknown> {
  const limit = hf.limit(name, { ...options, cache: false });
  const told = [await limit.take("t"), await limit.take("t", 2), await limit.take("t", 4)];
  told.push(await limit.peek("t"), await limit.refund("t"), await limit.peek("t"));
  const reservation = await limit.reserve("t");
  told.push(reservation, await reservation.settle(0));
  told.push(await limit.set("t", 1), await limit.peek("t"));
  const open = hf.limit(name, { ...options, cache: false, outage: "open" });
  for (let calls = 0; calls < 5; calls++) told.push(await open.take("t"));
  await limit.reset("t");
  told.push(await limit.peek("t"), await limit.take("t", 3));
  const cell = await limit.cell("t");
  const plain = told.map(({ ok, remaining, retryAfterMs, resetMs, policy, source }) =>
    briefly({ ok, remaining, retryAfterMs, resetMs, policy, source }),
  );
  return { plain, cell: cell.slice(0, 3) };
}

async function tourOfEvents(hf: Holdfast): Promise<unknown> {
  const [event, latch, inspector] = [hf.event("e"), hf.latch("l", 2), await hf.inspector()];
  const waits = [event.wait({ wait: "1m" }), latch.wait({ wait: "1m" })];
  await until("both listen", async () => {
    const states = await Promise.all([inspector.event("e"), inspector.latch("l")]);
    return states.every(({ listening }) => listening === 1);
  });
  await event.set();
  for (const key of ["a", "b"]) await latch.countDown({ by: key });
  await Promise.all(waits);
  const { isSet } = await inspector.event("e");
  const { size, count, counted } = await inspector.latch("l");
  return { isSet, size, count, counted };
}

async function tourOfGroups(hf: Holdfast, prefix: string): Promise<unknown> {
  const [narrow, wide] = [
    hf.limit("narrow", { max: 1, per: "1h" }),
    hf.limit("wide", { ...HOURLY, type: "sliding" }),
  ];
  const group = hf.limits.all([narrow.of("t"), wide.of("t")]);
  const across = hf.limits.across([narrow.of("u"), wide.of("u")]);
  const took = [await group.take(), await group.take(), await group.peek(0), await group.refund()];
  took.push(await across.take(), await across.take());
  await group.reset();
  const alien = hf.limit("aliens", { ...HOURLY, type: "window" });
  await occupy(`${prefix}:{x}:limit:window:aliens`);
  const [refused, served] = await Promise.allSettled([alien.take("x"), narrow.take("y")]);
  return {
    took: took.map(({ ok, remaining, violated, source, results }) => ({
      ...{ ok, remaining, violated, source },
      results: results.map(briefly),
    })),
    refused: refused.status === "rejected" ? [refused.reason.code, refused.reason.serverCode] : refused,
    served: served.status === "fulfilled" ? briefly(served.value) : served,
  };
}

/** Another program has written to a key of ours, with and without the prefix that some of the clients add. */
async function occupy(key: string): Promise<void> {
  await admin.lpush(key, "x");
  await admin.lpush(`app:${key}`, "x");
}

async function tourOfLocks(hf: Holdfast): Promise<unknown> {
  const mutex = hf.mutex("m", { ttl: "60s" });
  const inspector = await hf.inspector();
  const record = hf.record("r");
  const told: unknown[] = [];
  const held = await mutex.acquire();
  told.push(await record.get({ fence: held }));
  const { version } = await record.put({ a: "1" }, { fence: held });
  const [entered, state] = [await record.get({ fence: held }), await record.get()];
  told.push(entered?.value, entered?.version === version, state?.value, state?.fence === held.fence);
  told.push(await codeOf(record.put(2, { version: 0n })), await record.delete(), await record.delete());
  told.push(await codeOf(record.get({ fence: { fence: 1n, id: held.id } })));
  told.push(await codeOf(mutex.acquire({ wait: 50 })));
  const seen = await inspector.lock("m");
  told.push(seen.holder?.fence === held.fence, seen.holder?.ttlMs, seen.waiting, seen.holder?.process?.pid);
  await hf.limit("seen", { type: "window", max: 5, per: "1h" }).take("t", 2);
  for await (const { name, used } of inspector.limits({ pattern: "seen" })) told.push([name, used]);
  for await (const { name } of inspector.locks()) told.push(name);
  const forced = await inspector.forceRelease("m", { fence: held.fence });
  told.push(forced.outcome, forced.holder?.fence === held.fence, forced.next);
  told.push(await held.release());
  const many = await Promise.all(["a", "b", "c"].map((name) => hf.mutex(name, { ttl: "60s" }).acquire()));
  told.push(await Promise.all(many.map((lease) => lease.release())));
  told.push((await inspector.resetLimit("seen", "t")).map(({ type, used }) => [type, used]));
  return told;
}

async function codeOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => "fulfilled",
    (error: { code: unknown }) => error.code,
  );
}
