/** The middleware on every framework, over real HTTP, its headers read by a parser of structured fields. */

import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { Agent, type IncomingMessage, request as rawRequest } from "node:http";
import { UNHURRIED, until } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Holdfast } from "holdfast";
import { Redis } from "ioredis";
import { parseList } from "structured-headers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type AnyOptions, frameworks, type Running, type Start } from "./servers.js";

let server: EmbeddedValkey;
let redis: Redis;
let hf: Holdfast;
let names = 0;
const running: Running[] = [];
const heard: unknown[] = [];
const CHANNELS = ["holdfast:middleware:misuse", "holdfast:middleware:unsettled"];
const hear = (message: unknown) => heard.push(message);

beforeAll(async () => {
  server = await EmbeddedValkey.start();
  redis = new Redis(server.url);
  hf = new Holdfast(redis, UNHURRIED);
  for (const channel of CHANNELS) subscribe(channel, hear);
});

afterAll(async () => {
  for (const channel of CHANNELS) unsubscribe(channel, hear);
  await hf.close();
  redis.disconnect();
  await server.stop();
});

beforeEach(() => {
  heard.length = 0;
});

afterEach(async () => {
  await Promise.all(running.splice(0).map((each) => each.stop()));
});

const fresh = (name: string) => `${name}-${++names}`;
const perHour = (max: number, name = fresh("limit")) => hf.limit(name, { max, per: "1h", type: "window" });

async function up(start: Start, ...stack: AnyOptions[]): Promise<Running> {
  const started = await start(hf, ...stack.map((options) => ({ trust: false, ...options }) as const));
  running.push(started);
  return started;
}

const statuses = async (url: string, n: number): Promise<number[]> => {
  const seen: number[] = [];
  for (let at = 0; at < n; at += 1) seen.push((await fetch(url)).status);
  return seen;
};

/** Name and parameters of each member. */
function membersOf(response: Response, name: string): unknown[] {
  return parseList(response.headers.get(name) ?? "").map(([value, parameters]) => [
    value,
    Object.fromEntries(parameters),
  ]);
}

/** Of ten milliseconds each. */
const MOST_TRIES = 3_000;

/** What happens after a response may take a moment. */
async function eventually(what: () => Promise<void>): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      await what();
      return;
    } catch (error) {
      if (tries === MOST_TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

describe.each(frameworks)("%s", (_, start) => {
  test("counts by address, tells of the limit in each response, and refuses with a problem document", async () => {
    const limit = perHour(2, `${fresh('lo"g\\in')} é`);
    const { url, handled } = await up(start, { limits: limit });
    const first = await fetch(url);
    expect([first.status, await first.text()]).toEqual([200, "answered /"]);
    const name = limit.name.replace("é", "%C3%A9");
    expect(membersOf(first, "ratelimit-policy")).toEqual([[name, { q: 2, w: 3_600 }]]);
    expect(membersOf(first, "ratelimit")).toEqual([[name, { r: 1, t: 3_600 }]]);
    expect(first.headers.get("retry-after")).toBeNull();
    expect((await fetch(url)).status).toBe(200);
    const third = await fetch(url);
    expect(third.status).toBe(429);
    expect(third.headers.get("content-type")).toMatch(/^application\/problem\+json/);
    expect(third.headers.get("cache-control")).toBe("no-store");
    const [[, told]] = membersOf(third, "ratelimit") as [[string, { r: number; t: number }]];
    expect(told).toEqual({ r: 0, t: expect.any(Number) });
    expect(Number(third.headers.get("retry-after"))).toBe(told.t);
    expect(await third.json()).toEqual({
      type: "https://iana.org/assignments/http-problem-types#quota-exceeded",
      title: "Too many requests",
      status: 429,
      detail: expect.stringMatching(/Try again in \d+ s\./),
      "violated-policies": [limit.name],
    });
    expect(handled()).toBe(2);
    expect(await limit.peek("127.0.0.1")).toMatchObject({ remaining: 0 });
  });

  test("several limits are charged together or not at all, and all are told on one response", async () => {
    const [wide, narrow] = [perHour(5, fresh("wide")), perHour(1, fresh("narrow"))];
    const options = { limits: [wide, { limit: narrow, key: () => "everybody", cost: () => 1 }] };
    const { url } = await up(start, options);
    const first = await fetch(url);
    expect(membersOf(first, "ratelimit")).toEqual([
      [wide.name, { r: 4, t: 3_600 }],
      [narrow.name, { r: 0, t: 3_600 }],
    ]);
    const second = await fetch(url);
    expect(second.status).toBe(429);
    expect(await second.json()).toMatchObject({ "violated-policies": [narrow.name] });
    expect(membersOf(second, "ratelimit")).toMatchObject([
      [wide.name, { r: 4 }],
      [narrow.name, { r: 0 }],
    ]);
    expect(await wide.peek("127.0.0.1")).toMatchObject({ remaining: 4 });
  });

  test("middlewares above one another write one list; a limit that both charge is told as misuse", async () => {
    const [outer, inner] = [perHour(5, fresh("outer")), perHour(5, fresh("inner"))];
    const { url } = await up(start, { limits: outer }, { limits: [inner, outer] });
    const response = await fetch(url);
    expect(
      membersOf(response, "ratelimit")
        .map((member) => (member as [string])[0])
        .sort(),
    ).toEqual([inner.name, outer.name].sort());
    await fetch(url);
    expect(heard).toEqual([{ problem: "charged-twice", limit: outer.name, remedy: expect.any(String) }]);
    expect(await outer.peek("127.0.0.1")).toMatchObject({ remaining: 1 });
  });

  test("fields with room for one limit tell of the nearest of all middlewares; of one without fields nothing", async () => {
    const headers = "legacy";
    const [few, many, secret] = [perHour(3), perHour(50), perHour(2)];
    const told = async (url: string) => {
      const seen = (await fetch(url)).headers;
      return ["limit", "remaining"].map((name) => seen.get(`x-ratelimit-${name}`));
    };
    const hidden = { limits: secret, headers: false } as const;
    const [a, b] = [
      { limits: few, headers },
      { limits: many, headers },
    ] as const;
    expect(await told((await up(start, a, hidden, b)).url)).toEqual(["3", "2"]);
    expect(await told((await up(start, b, a)).url)).toEqual(["3", "1"]);
    const large = { limits: many, cost: 49, headers } as const;
    expect(await told((await up(start, { ...a, cost: 0 }, large)).url)).toEqual(["50", "48"]);
    expect(await told((await up(start, a, large)).url)).toEqual(["50", "48"]);
  });

  test("two limits of one name, each of its own prefix, are not the same", async () => {
    const other = new Holdfast(redis, { ...UNHURRIED, prefix: "other" });
    const name = fresh("same");
    const limit = other.limit(name, { max: 5, per: "1h" });
    const inner = await start(other, { limits: limit, trust: false });
    running.push(inner);
    const { url } = await up(start, { limits: perHour(5, name) });
    expect([(await fetch(url)).status, (await fetch(inner.url)).status]).toEqual([200, 200]);
    expect(heard).toEqual([]);
    await other.close();
  });

  test("only failures count: what succeeds, or throws, is settled after the response", async () => {
    const limit = perHour(2);
    const { url } = await up(start, { limits: limit, count: "failures" });
    const left = (remaining: number) =>
      eventually(async () => expect(await limit.peek("127.0.0.1")).toMatchObject({ remaining }));
    for (let at = 0; at < 4; at += 1) {
      expect((await fetch(url)).status).toBe(200);
      await left(2);
    }
    expect((await fetch(`${url}/status/401`)).status).toBe(401);
    await left(1);
    expect((await fetch(`${url}/throw`)).status).toBe(500);
    await left(0);
    expect((await fetch(url)).status).toBe(429);
    await left(0);
    expect(heard).toEqual([]);
  });

  test("of several limits each counts its own outcomes, some in part", async () => {
    const [all, failures, bytes] = [perHour(9), perHour(9), perHour(9)];
    const count = ({ status }: { status: number }) => (status === 401 ? 2 : 1);
    const { url } = await up(start, {
      limits: [
        all,
        { limit: failures, count: ({ status }) => status === 401 },
        { limit: bytes, cost: 3, count },
      ],
    });
    const left = (remaining: number[]) =>
      eventually(async () => {
        const peeks = [all, failures, bytes].map((limit) => limit.peek("127.0.0.1"));
        expect((await Promise.all(peeks)).map((peek) => peek.remaining)).toEqual(remaining);
      });
    await fetch(url);
    await left([8, 9, 8]);
    await fetch(`${url}/status/401`);
    await left([7, 8, 6]);
  });

  test("no burst of requests under way gets more through than the limit", async () => {
    const limit = perHour(3);
    const { url, release, handled } = await up(start, { limits: limit, count: "failures" });
    const seen: number[] = [];
    const burst = Array.from({ length: 8 }, async () => seen.push((await fetch(`${url}/slow`)).status));
    await eventually(async () => expect([handled(), seen]).toEqual([3, [429, 429, 429, 429, 429]]));
    release();
    await Promise.all(burst);
    expect(seen.slice(5)).toEqual([200, 200, 200]);
    await eventually(async () => expect(await limit.peek("127.0.0.1")).toMatchObject({ remaining: 3 }));
  });

  test("what is taken is not given back into a window that began later", async () => {
    const [limit, other] = [perHour(2), perHour(9)];
    const { url, release, handled } = await up(start, {
      limits: [limit, other],
      count: ({ status }) => status === 401,
    });
    const slow = fetch(`${url}/slow`);
    await eventually(async () => expect(handled()).toBe(1));
    await limit.reset("127.0.0.1");
    await limit.take("127.0.0.1");
    release();
    expect((await slow).status).toBe(200);
    await until("the other is given back", async () => (await other.peek("127.0.0.1")).remaining === 9);
    expect(await limit.peek("127.0.0.1")).toMatchObject({ remaining: 1 });
  });

  test("who hangs up before the answer has been counted", async () => {
    const limit = perHour(2);
    const guard = hf.guard(fresh("guard"), {
      hits: 5,
      per: "1h",
      penalties: [{ kind: "busy", for: "1m" }],
    });
    const { url, release, handled } = await up(start, { limits: limit, guard, count: "failures" });
    const control = new AbortController();
    const hung = fetch(`${url}/slow`, { signal: control.signal }).catch((error: Error) => error.name);
    await eventually(async () => expect(handled()).toBe(1));
    control.abort();
    expect(await hung).toBe("AbortError");
    // Hono and fetch handlers go on, and have an outcome of their own.
    if (!["Hono", "fetch"].includes(_)) {
      await eventually(async () => expect(await guard.look("127.0.0.1")).toMatchObject({ remaining: 4 }));
      expect(await limit.peek("127.0.0.1")).toMatchObject({ remaining: 1 });
    }
    release();
    expect((await fetch(url)).status).toBe(200);
    expect(heard).toEqual([]);
  });

  test("a guard postpones, shows people the busy page, and then refuses; an allowed one passes", async () => {
    const penalties = [
      { kind: "postpone", for: 60 },
      { kind: "busy", for: "15s" },
    ] as const;
    const guard = hf.guard(fresh("guard"), { hits: 1, per: "1h", penalties });
    const { url, handled } = await up(start, { guard: { guard, route: () => "/" }, limits: perHour(100) });
    expect(await statuses(url, 1)).toEqual([200]);
    const postponed = await fetch(url, { headers: { accept: "text/html" } });
    expect(postponed.status).toBe(429);
    expect(postponed.headers.get("retry-after")).toBe("1");
    expect(await postponed.json()).toMatchObject({
      type: "https://iana.org/assignments/http-problem-types#abnormal-usage-detected",
    });
    await until("it is over", async () => (await guard.look("127.0.0.1")).ok);
    expect(await statuses(url, 2)).toEqual([200, 429]);
    const page = await fetch(url, { headers: { accept: "text/html,*/*;q=0.8" } });
    expect([page.status, page.headers.get("content-type"), page.headers.get("vary")]).toEqual([
      429,
      "text/html; charset=utf-8",
      expect.stringContaining("Accept"),
    ]);
    expect(Number(page.headers.get("retry-after"))).toBeGreaterThan(10);
    const html = await page.text();
    expect(html).toContain("prefers-color-scheme: dark");
    expect(html).toMatch(/http-equiv="refresh"/);
    expect(html).not.toMatch(/<script|src=|href=|url\(/);
    const posted = await fetch(url, { method: "POST", headers: { accept: "text/html" } });
    expect(await posted.text()).not.toMatch(/http-equiv="refresh"/);
    const program = await fetch(url, { headers: { accept: "application/json" } });
    expect(program.headers.get("content-type")).toMatch(/^application\/problem\+json/);
    expect(handled()).toBe(2);

    const listed = hf.guard(fresh("guard"), { hits: 1, per: "1h", penalties, deny: ["127.0.0.1"] });
    const denied = await fetch((await up(start, { guard: listed })).url);
    expect([denied.status, denied.headers.get("retry-after")]).toEqual([403, null]);
    expect(await denied.json()).toMatchObject({ type: "urn:holdfast:problem:denied", status: 403 });
  });

  test("a guard that counts failures bars who fails too often", async () => {
    const guard = hf.guard(fresh("guard"), {
      hits: 2,
      per: "1h",
      penalties: [{ kind: "refuse", for: "1m" }],
    });
    const { url, handled } = await up(start, { guard: { guard, count: "failures" } });
    for (const hits of [2, 1, 0]) {
      await eventually(async () => expect(await guard.look("127.0.0.1")).toMatchObject({ remaining: hits }));
      if (hits > 0) expect(await statuses(`${url}/status/401`, 1)).toEqual([401]);
    }
    expect(await statuses(url, 2)).toEqual([200, 200]);
    expect(await statuses(`${url}/status/401`, 1)).toEqual([401]);
    await eventually(async () =>
      expect(await guard.look("127.0.0.1")).toMatchObject({ ok: false, strikes: 1 }),
    );
    expect(await statuses(url, 3)).toEqual([429, 429, 429]);
    expect(handled()).toBe(5);
  });

  test("HEAD and OPTIONS are counted as others are, and refused without a body", async () => {
    const limit = perHour(2);
    const { url } = await up(start, { limits: limit });
    expect((await fetch(url, { method: "HEAD" })).status).toBe(200);
    expect((await fetch(url, { method: "OPTIONS" })).status).toBe(200);
    const refused = await fetch(url, { method: "HEAD" });
    expect([refused.status, await refused.text()]).toEqual([429, ""]);
    expect(refused.headers.get("retry-after")).toBe("3600");
    expect((await fetch(url, { method: "OPTIONS" })).status).toBe(429);
  });

  test("one connection serves what is let on and what is refused", async () => {
    const { url } = await up(start, { limits: perHour(2), count: "failures" });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const headers = { "content-type": "text/plain" };
    const seen: number[] = [];
    for (const path of ["/status/401", "/", "/status/401", "/", "/"]) {
      const sent = rawRequest(`${url}${path}`, { agent, method: "POST", headers }).end(
        "a body that nobody reads",
      );
      const [response] = (await once(sent, "response")) as [IncomingMessage];
      response.resume();
      await once(response, "end");
      seen.push(response.statusCode as number);
    }
    expect(seen).toEqual([401, 200, 401, 429, 429]);
    expect(Object.values(agent.freeSockets).flat()).toHaveLength(1);
    agent.destroy();
  });

  test("skips, and does not count whom no key names", async () => {
    const limit = perHour(1);
    const skipping = await up(start, { limits: limit, skip: async () => true });
    const nobody = await up(start, { limits: { limit, key: async () => null } });
    expect(await statuses(skipping.url, 3)).toEqual([200, 200, 200]);
    const response = await fetch(nobody.url);
    expect([response.status, response.headers.get("ratelimit")]).toEqual([200, null]);
    expect(await limit.peek("127.0.0.1")).toMatchObject({ remaining: 1 });
  });

  test("the answer can be changed, and the fields left out", async () => {
    const { url } = await up(start, {
      limits: perHour(0),
      headers: false,
      answer: (answer, { reason, results }) => ({
        ...answer,
        status: 418,
        body: `${reason} ${results.length}`,
      }),
    });
    const response = await fetch(url);
    expect([response.status, await response.text()]).toEqual([418, "limit 1"]);
    expect([...response.headers.keys()].filter((name) => /limit|retry/.test(name))).toEqual([]);
  });

  test("errors of the caller's functions are the framework's to handle, and nothing is charged", async () => {
    const limit = perHour(1);
    const key = () => {
      throw new Error("no session");
    };
    const { url, handled } = await up(start, { limits: [limit, { limit: perHour(1), key }] });
    expect(await statuses(url, 2)).toEqual([500, 500]);
    expect(handled()).toBe(0);
    expect(await limit.peek("127.0.0.1")).toMatchObject({ remaining: 1 });
  });

  test("any key is a target: long, empty, or no text that could stand in a key", async () => {
    const keys = ["x".repeat(10_000), "", "}{", "\ud800", "ä".repeat(300)];
    const limit = perHour(1);
    for (const key of keys) {
      const { url } = await up(start, { limits: limit, key: () => key });
      expect([key.slice(0, 9), ...(await statuses(url, 2))]).toEqual([key.slice(0, 9), 200, 429]);
    }
  });
});
