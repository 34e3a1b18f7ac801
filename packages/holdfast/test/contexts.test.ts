/**
 * In whose async context events are: a trace, a request id or a tenant that a program keeps in an AsyncLocalStorage must be that of the
 * call which the event is about, also where a message, a timer or another caller brings it about; never that of a stranger.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { inTime, ManualClock, until } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ArrivalLapsedError, Holdfast, type HoldfastEvents, type HoldfastOptions } from "../src/index.js";
import { rateLimit } from "../src/middleware/fetch.js";
import { publish } from "../src/telemetry/events.js";
import { untilStated } from "./synchronizers/place.js";

type Name = keyof HoldfastEvents;

interface Seen {
  readonly name: string;
  readonly payload: Record<string, unknown>;
  readonly who: string | undefined;
}

const who = new AsyncLocalStorage<string>();
let server: EmbeddedValkey;
let redis: Redis;
let count = 0;
let ends: (() => unknown)[] = [];

beforeAll(async () => {
  server = await EmbeddedValkey.start();
  redis = new Redis(server.url);
});

afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

/** What a scenario plays with: two Holdfasts, of which the stranger has opened all connections. */
class Stage {
  readonly prefix = `context${count++}`;
  readonly hf: Holdfast;
  readonly there: Holdfast;

  constructor() {
    this.hf = this.open();
    this.there = this.open();
  }

  open(options: HoldfastOptions = {}, client = new Redis(server.url)): Holdfast {
    return this.stranger(() => {
      const hf = new Holdfast(client, { prefix: this.prefix, ...options });
      ends.push(async () => {
        await hf.close();
        client.disconnect();
      });
      return hf;
    });
  }

  /** What the event is about. */
  own<Value>(call: () => Value): Value {
    return who.run("own", call);
  }

  stranger<Value>(call: () => Value): Value {
    return who.run("stranger", call);
  }
}

let stage: Stage;
beforeEach(async () => {
  stage = new Stage();
  await stage.stranger(() =>
    Promise.all([stage.hf, stage.there].map((hf) => hf.mutex("warm").run(() => {}))),
  );
});

afterEach(async () => {
  const all = ends;
  ends = [];
  await Promise.all(all.map((end) => end()));
});

/** The lock is with a stranger of this process, for whom another stranger waits, and our own caller after that. */
async function passedOn({ hf, own, stranger }: Stage) {
  const mutex = hf.mutex("m", { ttl: "1s" });
  const first = await stranger(() => mutex.acquire());
  const second = stranger(() => mutex.acquire());
  const third = own(() => mutex.acquire());
  stranger(() => void first.release());
  const theirs = await second;
  stranger(() => void theirs.release());
  return third;
}

/** A promise that a scenario ends. */
function held(): { readonly promise: Promise<void>; end(): void } {
  let end = (): void => {};
  const promise = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { promise, end: () => end() };
}

/** Plays until the event happens, and says how to recognise the one that is about our own call. */
type Scenario = (stage: Stage) => Promise<Record<string, unknown>>;

const scenarios: { readonly [Own in Name]?: Scenario } = {
  "holdfast:lock:acquired": async (on) => ({ fence: (await passedOn(on)).fence }),
  "holdfast:lock:waiting": async ({ hf, there, own, stranger }) => {
    const held = await stranger(() => there.mutex("m").acquire());
    const waits = [own(() => hf.mutex("m").acquire()), stranger(() => hf.mutex("m").acquire())];
    await until("it waits", async () => (await (await there.inspector()).lock("m"))?.waiting === 1);
    stranger(() => void held.release());
    for (const lease of waits) await (await lease).release();
    return { lock: "m" };
  },
  "holdfast:lock:released": async (on) => {
    const lease = await passedOn(on);
    const other = await on.stranger(() => on.hf.mutex("other").acquire());
    on.stranger(() => void other.release());
    on.stranger(() => void lease.release());
    return { fence: lease.fence };
  },
  "holdfast:lock:lost": async (on) => {
    const lease = await passedOn(on);
    const inspector = await on.stranger(() => on.there.inspector());
    const fence = (await inspector.lock("m"))?.holder?.fence ?? 0n;
    await on.stranger(() => inspector.forceRelease("m", { fence }));
    await until("it is lost", () => !lease.valid);
    return { fence: lease.fence };
  },
  "holdfast:lock:handed-out": async (on) => {
    const lease = await passedOn(on);
    await on.stranger(() => lease.handOver());
    return { fence: lease.fence };
  },
  "holdfast:lock:adopted": async (on) => {
    const handle = await (await passedOn(on)).handOver();
    return { fence: (await on.own(() => on.there.adopt(handle))).fence };
  },
  "holdfast:lock:deadlock": async ({ hf, there, own, stranger }) => {
    const [ours, theirs] = [{}, {}];
    await stranger(() => there.mutex("a").acquire({ owner: theirs }));
    await own(() => hf.mutex("b").acquire({ owner: ours }));
    const waits = stranger(() => there.mutex("b").acquire({ owner: theirs, wait: "1m" })).catch(() => {});
    await until("it waits", async () => (await (await there.inspector()).lock("b"))?.waiting === 1);
    await own(() => hf.mutex("a").acquire({ owner: ours, wait: "1m" })).catch(() => {});
    void waits;
    return { lock: "a" };
  },
  "holdfast:barrier:passed": async ({ hf, there, own, stranger }) => {
    const waits = own(() => hf.barrier("b", 3).wait());
    await until("it waits", async () => (await there.barrier("b", 3).get()).arrived === 1);
    await stranger(() => Promise.all([hf.barrier("b", 3).wait(), there.barrier("b", 3).wait()]));
    await waits;
    return { index: 0 };
  },
  "holdfast:barrier:lapsed": async ({ own, stranger, there, prefix }) => {
    const clock = new ManualClock();
    // No call runs out: the clock goes on for as long as this machine takes for its answer.
    const paused = stage.open({ clock, callTimeout: "10m" });
    const waits = own(() => paused.barrier("b", 2, { ttl: "1h" }).wait({ wait: "10m" }));
    const theirs = there.barrier("b", 2);
    const key = `${prefix}:{b}:barrier`;
    await untilStated(key, redis);
    // As if it had been paused for longer than its ttl.
    await redis.del(`${key}:leases`, `${key}:arrivals`);
    await stranger(() => Promise.all([theirs.wait(), theirs.wait()]));
    await expect(stranger(() => inTime(waits, clock, 50))).rejects.toThrow(ArrivalLapsedError);
    return { barrier: "b" };
  },
  "holdfast:event:set": async ({ hf, own, stranger }) => {
    const [{ version }] = await Promise.all([
      own(() => hf.event("e").set()),
      stranger(() => hf.event("f").set()),
    ]);
    return { version };
  },
  "holdfast:event:cleared": async ({ hf, own, stranger }) => {
    const cleared = [own(() => hf.event("e").clear()), stranger(() => hf.event("f").clear())];
    await Promise.all(cleared);
    return { event: "e" };
  },
  "holdfast:latch:counted": async ({ hf, own, stranger }) => {
    const counted = [own(() => hf.latch("l", 2).countDown()), stranger(() => hf.latch("k", 2).countDown())];
    await Promise.all(counted);
    return { latch: "l" };
  },
  "holdfast:election:elected": async ({ hf, own, stranger }) => {
    const leader = await stranger(() => hf.election("e", { term: "1s" }).campaign());
    const next = own(() => hf.election("e", { term: "1s" }).campaign());
    await stranger(() => leader.resign());
    return { term: (await next).term };
  },
  "holdfast:election:resigned": async ({ hf, own, stranger }) => {
    const leader = await own(() => hf.election("e", { term: "1s" }).campaign());
    await own(() => leader.resign());
    await stranger(() => hf.election("f").campaign());
    return { term: leader.term };
  },
  "holdfast:election:lost": async ({ hf, there, own, stranger }) => {
    const leader = await own(() => hf.election("e", { term: "1s" }).campaign());
    const inspector = await stranger(() => there.inspector());
    await stranger(() => inspector.forceRelease("election:e", { fence: leader.fence }));
    await until("it is lost", () => !leader.valid);
    return { term: leader.term };
  },
  "holdfast:election:transferred": async ({ hf, there, own, stranger }) => {
    const leader = await own(() => hf.election("e", { term: "1s" }).campaign());
    const next = stranger(() => there.election("e").campaign());
    await until("there is a candidate", async () => (await hf.election("e").candidates()).length === 1);
    await own(() => leader.transfer());
    await next;
    return { term: leader.term };
  },
  "holdfast:record:conflict": async ({ hf, there, own, stranger }) => {
    let isFirst = true;
    const update = own(() =>
      hf.record<number>("r").update(async (value) => {
        if (isFirst) await stranger(() => there.record<number>("r").put(7));
        isFirst = false;
        return (value ?? 0) + 1;
      }),
    );
    await update;
    return { record: "r" };
  },
  "holdfast:limit:outage": async ({ own, stranger }) => {
    const client = new Redis(server.url);
    const hf = stage.open({}, client);
    client.disconnect();
    const take = (name: string) => hf.limit(name, { max: 1, per: "1m", outage: "open" }).take("x");
    await Promise.all([own(() => take("l")), stranger(() => take("k"))]);
    return { limit: "l" };
  },
  "holdfast:guard:punished": async ({ hf, own, stranger }) => {
    const hit = (name: string) =>
      hf.guard(name, { hits: 1, per: "1m", penalties: [{ kind: "busy", for: "1m" }] }).hit("x");
    await Promise.all([own(() => hit("g")), stranger(() => hit("h"))]);
    await Promise.all([own(() => hit("g")), stranger(() => hit("h"))]);
    return { guard: "g" };
  },
  "holdfast:guard:outage": async ({ own, stranger }) => {
    const client = new Redis(server.url);
    const hf = stage.open({}, client);
    client.disconnect();
    const hit = (name: string) =>
      hf
        .guard(name, { hits: 1, per: "1m", penalties: [{ kind: "busy", for: "1m" }], outage: "open" })
        .hit("x");
    await Promise.all([own(() => hit("g")), stranger(() => hit("h"))]);
    return { guard: "g" };
  },
  "holdfast:signal:waiting": async ({ hf, own, stranger }) => {
    stranger(
      () =>
        void hf
          .signal("t")
          .wait({ wait: "1m" })
          .catch(() => {}),
    );
    own(
      () =>
        void hf
          .signal("s")
          .wait({ wait: "1m" })
          .catch(() => {}),
    );
    return { signals: ["s"] };
  },
  "holdfast:once:ran": async ({ hf, own, stranger }) => {
    const keep = { keep: "1h" } as const;
    await Promise.all([own(() => hf.once("k", () => 1, keep)), stranger(() => hf.once("l", () => 1, keep))]);
    return { key: "k" };
  },
  "holdfast:once:skipped": async ({ hf, own, stranger }) => {
    const keep = { keep: "1h" } as const;
    const { promise, end } = held();
    const running = stranger(() => hf.once("k", () => promise, keep));
    const skipped = own(() => hf.once("k", () => 2, keep));
    stranger(() => end());
    await Promise.all([running, skipped]);
    return { key: "k" };
  },
  "holdfast:once:failed": async ({ hf, own }) => {
    const fail = () => Promise.reject(new Error("no paper"));
    await own(() => hf.once("k", fail, { keep: "1h" })).catch(() => {});
    return { key: "k" };
  },
  "holdfast:queue:done": async ({ hf, there, own, stranger }) => {
    const seen: unknown[] = [];
    own(() => hf.queue("q").consume(() => void seen.push(who.getStore()), { concurrency: 2 }));
    await stranger(() => Promise.all([hf.queue("q").push(1), there.queue("q").push(2)]));
    await until("both are handled", () => seen.length === 2);
    expect(seen).toEqual(["own", "own"]);
    return { queue: "q" };
  },
  "holdfast:queue:failed": async ({ hf, own, stranger }) => {
    const seen: unknown[] = [];
    const fail = () => Promise.reject(new Error("no paper"));
    own(() => hf.queue("q").consume(fail, { backoff: "1h", onFailed: () => void seen.push(who.getStore()) }));
    await stranger(() => hf.queue("q").push(1));
    await until("it has failed", () => seen.length === 1);
    expect(seen).toEqual(["own"]);
    return { queue: "q" };
  },
  "holdfast:queue:stuck": async ({ hf, own, stranger }) => {
    own(() => hf.queue("q").consume(() => new Promise(() => {}), { timeout: 1, onFailed: () => {} }));
    await stranger(() => hf.queue("q").push(1));
    return { queue: "q" };
  },
  "holdfast:queue:ended": async ({ hf, there, own, stranger }) => {
    await stranger(() => there.queue("q", { order: "fifo" }).push(1));
    own(() => hf.queue("q", { order: "lifo" }).consume(() => {})).done.catch(() => {});
    return { queue: "q" };
  },
  "holdfast:queue:lost": async ({ hf, own, stranger }) => {
    const receives = own(() => hf.queue("q").receive({ deadline: "1s", wait: "10s" }));
    await stranger(() => hf.queue("q").push(1));
    const delivery = await receives;
    await until("it is lost", () => delivery?.isLive === false);
    return { queue: "q" };
  },
  "holdfast:queue:unstored": async ({ hf, own, stranger }) => {
    own(() => hf.queue("q").consume(() => new Map()));
    await stranger(() => hf.queue("q").push(1));
    return { queue: "q" };
  },
  "holdfast:queue:unsettled": async ({ hf, own, stranger, prefix }) => {
    const { promise, end } = held();
    const consumer = own(() => hf.queue("q").consume(() => promise));
    consumer.done.catch(() => {});
    await stranger(() => hf.queue("q").push(1));
    await until("it runs", () => consumer.running === 1);
    await redis.set(`${prefix}:{q}:queue:line`, "of another program");
    stranger(() => end());
    return { queue: "q" };
  },
  "holdfast:middleware:misuse": async ({ hf, own }) => {
    const limits = hf.limit("l", { max: 9, per: "1m" });
    const handler = rateLimit(hf, { limits, address: () => "10.0.0.1" })(async () => new Response("in"));
    const headers = { "x-forwarded-for": "192.0.2.1" };
    await own(() => handler(new Request("http://server/", { headers })));
    return { problem: "forwarded-ignored" };
  },
  "holdfast:middleware:unsettled": async ({ hf, own }) => {
    const limits = hf.limit("l", { max: 9, per: "1m" });
    const count = () => Promise.reject(new Error("no idea"));
    const options = { limits, address: () => "10.0.0.1", trust: false, count } as const;
    await own(() => rateLimit(hf, options)(async () => new Response("in"))(new Request("http://server/")));
    return {};
  },
};

function hearing(name: Name): { readonly seen: Seen[]; stop(): void } {
  const seen: Seen[] = [];
  const hear = (payload: unknown): void =>
    void seen.push({ name, payload: payload as Record<string, unknown>, who: who.getStore() });
  subscribe(name, hear);
  return { seen, stop: () => void unsubscribe(name, hear) };
}

describe("the own context of the caller", () => {
  test.each(Object.entries(scenarios))("%s", async (name, scenario) => {
    const { seen, stop } = hearing(name as Name);
    try {
      const about = await scenario(stage);
      const ours = () => seen.filter(({ payload }) => matches(payload, about)).map((event) => event.who);
      await until("it is told", () => ours().length > 0);
      expect(new Set(ours())).toEqual(new Set(["own"]));
    } finally {
      stop();
    }
  });
});

function matches(payload: Record<string, unknown>, about: Record<string, unknown>): boolean {
  return Object.entries(about).every(([key, value]) => String(payload[key]) === String(value));
}

/** Events that are about no single call: all that have no scenario. */
const channels = (globalThis as unknown as Record<symbol, object>)[Symbol.for("holdfast.channels")] ?? {};

describe("nobody's context", () => {
  test.each(Object.keys(channels).filter((name) => !(name in scenarios)))("%s", (name) => {
    const { seen, stop } = hearing(name as Name);
    stage.stranger(() => publish(name as Name, () => ({}) as never));
    stop();
    expect(seen.map((event) => event.who)).toEqual([undefined]);
  });
});
