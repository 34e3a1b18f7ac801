/**
 * A client that is closed under a wait, ends, or gives up. No request gets an answer from then on, so every wait of every noun ends at
 * once. While a server is silent each ends by its own bound. Time moves only when a test moves it: a wait that ends before that has ended
 * at once.
 */
import { FaultProxy, inTime, ManualClock, outcome, until } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Holdfast, IndeterminateError, UnavailableError } from "holdfast";
import { Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis5";
import { Redis as Iovalkey } from "iovalkey";
import { createClient } from "redis";
import { createClient as createClient4 } from "redis4";
import { createClient as createClient5 } from "redis5";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { CALLS } from "./calls.js";
import { type Open, openGlide, openIoredis, openNodeRedis } from "./openers.js";
import { WAITS, type Wait } from "./waits.js";

let server: EmbeddedValkey;
let admin: Redis;
let names = 0;

beforeAll(async () => {
  server = await EmbeddedValkey.start();
  admin = new Redis(server.url);
});

afterAll(async () => {
  admin.disconnect();
  await server.stop();
});

const HOUR_MS = 3_600_000;
const CALL_MS = 30_000;
const ROUND_TRIPS = 20;
/** A client of valkey-glide does not tell that it was closed: the next request does, of which a waiting process has one in this time. */
const LOOK_MS = 12_000;

interface Closing {
  readonly title: string;
  readonly open: Open;
  /** As its program, its server or its own options end it. @default `close()` of the opened client */
  readonly end?: (client: never) => unknown;
  readonly tells?: false;
}

const gaveUp = async (client: { call?(...words: string[]): Promise<unknown> }): Promise<void> => {
  const words = ["CLIENT", "ID"];
  const sends = client as never as { sendCommand(words: string[]): Promise<unknown> };
  const id = await (client.call ? client.call(...words) : sends.sendCommand(words));
  await admin.call("CLIENT", "KILL", "ID", String(id));
};
/** Its answer may be lost with the connection. */
const quit = (client: { quit(): Promise<unknown> }): unknown => client.quit().catch(() => {});
const never = { retryStrategy: () => null };
const neither = (url: string) => ({ url, socket: { reconnectStrategy: false as const } });

const CLOSINGS: readonly Closing[] = [
  { title: "ioredis 6 is closed", open: openIoredis((url) => new Redis(url)) },
  { title: "ioredis 6 ends", open: openIoredis((url) => new Redis(url)), end: quit },
  { title: "ioredis 6 gives up", open: openIoredis((url) => new Redis(url, never)), end: gaveUp },
  { title: "ioredis 5 is closed", open: openIoredis((url) => new Redis5(url)) },
  { title: "iovalkey is closed", open: openIoredis((url) => new Iovalkey(url)) },
  { title: "node-redis 6 is closed", open: openNodeRedis((url) => createClient({ url })) },
  { title: "node-redis 6 gives up", open: openNodeRedis((url) => createClient(neither(url))), end: gaveUp },
  { title: "node-redis 5 is closed", open: openNodeRedis((url) => createClient5({ url })) },
  { title: "node-redis 5 gives up", open: openNodeRedis((url) => createClient5(neither(url))), end: gaveUp },
  { title: "node-redis 4 is closed", open: openNodeRedis((url) => createClient4({ url })) },
  { title: "node-redis 4 gives up", open: openNodeRedis((url) => createClient4(neither(url))), end: gaveUp },
  { title: "valkey-glide is closed", open: openGlide({ requestTimeout: 10_000 }), tells: false },
];

async function holdfast(
  open: Open,
  clock?: ManualClock,
): Promise<{ hf: Holdfast; close(): unknown; client: unknown }> {
  const { client, close } = await open(server.url);
  const hf = new Holdfast(client, { callTimeout: CALL_MS, ...(clock && { clock }) });
  onTestFinished(async () => {
    await (clock ? inTime(hf.close(), clock, 1_000) : hf.close());
    close();
  });
  return { hf, close, client };
}

const begin = (waits: readonly Wait[], hf: Holdfast, other: Holdfast, wait = HOUR_MS) =>
  Promise.all(
    waits.map(async (one) => {
      names += 1;
      const waiting = await one.begin(hf, other, `w${names}`, wait);
      waiting.promise.catch(() => {});
      return { ...waiting, ...one };
    }),
  );

function called(hf: Holdfast): { readonly title: string; readonly promise: Promise<unknown> }[] {
  return Object.entries(CALLS).map(([title, call]) => {
    const promise = (async () => call(hf))();
    promise.catch(() => {});
    return { title, promise };
  });
}

const ending = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);

/** Which of them have ended, and by what. */
function endsOf(waits: readonly (Wait & { readonly promise: Promise<unknown> })[]): Map<string, unknown> {
  const ends = new Map<string, unknown>();
  for (const { title, promise } of waits)
    promise.then(
      (value) => ends.set(title, value),
      (error: unknown) => ends.set(title, error),
    );
  return ends;
}

/** @param mayBeUnknown a request was under way, whose outcome nobody knows */
function expectAway(ends: ReadonlyMap<string, unknown>, mayBeUnknown: boolean): void {
  for (const { title, isCounted } of WAITS) {
    const end = ends.get(title);
    if (isCounted || (mayBeUnknown && end instanceof IndeterminateError))
      expect(end, title).toBeInstanceOf(IndeterminateError);
    else {
      expect(end, title).toBeInstanceOf(UnavailableError);
      expect(end, title).toMatchObject({ passing: false });
    }
  }
}

describe.each(CLOSINGS)("$title", ({ open, end, tells = true }) => {
  test.each(["in line", "just begun"])("every wait that is %s ends at once", async (moment) => {
    const clock = new ManualClock();
    const { hf, close, client } = await holdfast(open, clock);
    const { hf: other } = await holdfast(openIoredis((url) => new Redis(url)));
    const waits = await begin(WAITS, hf, other);
    const ends = endsOf(waits);
    for (let trip = 0; moment === "in line" && trip < ROUND_TRIPS; trip++) await hf.record("r").get();
    expect(ends.size).toBe(0);
    await (end ? end(client as never) : close());
    if (!tells) clock.advance(LOOK_MS);
    await until("every wait has ended", () => ends.size === WAITS.length, 10_000).catch(() => {});
    expect(WAITS.filter(({ title }) => !ends.has(title)).map(({ title }) => title)).toEqual([]);
    expectAway(ends, moment === "just begun");
  });
});

test("every call of every noun, and every wait that would begin, ends at once where the client was closed before", async () => {
  const clock = new ManualClock();
  const { hf, close, client } = await holdfast(
    openIoredis((url) => new Redis(url)),
    clock,
  );
  const { hf: other } = await holdfast(openIoredis((url) => new Redis(url)));
  close();
  await until("it is closed", () => (client as Redis).status === "end");
  const waits = await begin(
    WAITS.filter(({ needsAnswer }) => !needsAnswer),
    hf,
    other,
  );
  for (const { title, promise } of [...waits, ...called(hf)])
    expect(await ending(promise), title).toMatchObject({ code: "UNAVAILABLE", passing: false });
});

test("every call of every noun, and every wait, ends by its own bound where nobody answers [H24]", async () => {
  const clock = new ManualClock();
  const proxy = await FaultProxy.start({ host: "127.0.0.1", port: server.port });
  onTestFinished(() => proxy.close());
  const { hf } = await holdfast(
    openIoredis(() => new Redis(proxy.url)),
    clock,
  );
  const { hf: other } = await holdfast(openIoredis((url) => new Redis(url)));
  const streams = WAITS.filter(({ isStream }) => !isStream);
  const waits = await begin(streams, hf, other, CALL_MS);
  for (let trip = 0; trip < ROUND_TRIPS; trip++) await hf.record("r").get();
  proxy.set({ up: "hold" });
  const late = await begin(
    streams.filter(({ needsAnswer }) => !needsAnswer),
    hf,
    other,
    CALL_MS,
  );
  const all = [...waits, ...late, ...called(hf)];
  const ends = await Promise.all(all.map(({ promise }) => outcome(promise, clock, 100)));
  for (const [place, { title }] of all.entries()) {
    const { error, value, passedMs } = ends[place] as Awaited<ReturnType<typeof outcome>>;
    expect(passedMs, title).toBeLessThan(3 * CALL_MS);
    if (error === undefined) expect(value, title).toBe(null);
    else
      expect(error, title).toMatchObject({
        code: expect.stringMatching(/^(UNAVAILABLE|INDETERMINATE|ACQUIRE_TIMEOUT|LEASE_LOST)$/),
      });
  }
});

/** Methods that send nothing, or whose calls go on when a client is connected again. */
const QUIET = ["part", "read", "write", "downgrade", "of", "isOf", "giveBack", "consume", "stopPolling"];

test("the tables have every method of every noun", () => {
  const hf = new Holdfast(new Redis({ lazyConnect: true }));
  onTestFinished(() => hf.close());
  const limit = hf.limit("l", { max: 1, per: "1s" });
  const nouns = [
    ...[
      hf.mutex("m"),
      hf.semaphore("s", { permits: 1 }),
      hf.rwLock("r"),
      hf.rwLock("r").read(),
      hf.rwLock("r").write(),
    ],
    ...[
      hf.multiLock([hf.mutex("m")]),
      limit,
      hf.limits.all([limit.of("a")]),
      hf.record("r"),
      hf.queue("q"),
      hf.lanes("l"),
    ],
    ...[hf.guard("g", { hits: 1, per: "1s", penalties: [{ kind: "refuse", for: "1s" }] }), hf.signal("s")],
    ...[hf.signals.matching("*"), hf.event("e"), hf.latch("l", 1), hf.barrier("b", 1), hf.election("e")],
  ];
  const known = [...Object.keys(CALLS), ...WAITS.map(({ title }) => title.split(",")[0])];
  for (const noun of nouns) {
    const prototype = Object.getPrototypeOf(noun) as object;
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
      if (name === "constructor" || typeof value !== "function" || QUIET.includes(name)) continue;
      expect(known).toContain(`${noun.constructor.name}.${name}`);
    }
  }
});
