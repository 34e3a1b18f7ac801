/** What is peculiar to a framework: bodies, responses that were sent already, responses that cannot be changed. */
import { EventEmitter, once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { UNHURRIED, until } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { type HttpBindings, serve } from "@hono/node-server";
import express from "express";
import fastify, { type FastifyRequest } from "fastify";
import { type Guard, Holdfast, InvalidArgumentError, type Limit } from "holdfast";
import { type RateLimitOptions, RequestLimiter, targetOf } from "holdfast/middleware";
import { rateLimit as forExpress } from "holdfast/middleware/express";
import { rateLimit as forFastify } from "holdfast/middleware/fastify";
import { rateLimit as forFetch } from "holdfast/middleware/fetch";
import { rateLimit as forHono } from "holdfast/middleware/hono";
import { type Context, Hono } from "hono";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";

let valkey: EmbeddedValkey;
let hf: Holdfast;
let names = 0;
const servers: Server[] = [];

beforeAll(async () => {
  valkey = await EmbeddedValkey.start();
  hf = new Holdfast(valkey.url, UNHURRIED);
});

afterAll(async () => {
  await hf.close();
  await valkey.stop();
});

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  }
});

const perHour = (max: number): Limit => hf.limit(`l${++names}`, { max, per: "1h" });

async function urlOf(server: Server): Promise<string> {
  servers.push(server);
  if (!server.listening) await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const login = (url: string, user: string) =>
  fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ user }),
  }).then(({ status }) => status);

describe("Express", () => {
  test("a key from the body", async () => {
    const app = express().use(express.json());
    const key = (request: express.Request) => request.body.user;
    app.post("/", forExpress(hf, { limits: perHour(1), key }), (_, response) => void response.send("in"));
    const url = await urlOf(app.listen(0, "127.0.0.1"));
    expect([await login(url, "kim"), await login(url, "kim"), await login(url, "lee")]).toEqual([
      200, 429, 200,
    ]);
  });

  test.each([
    ["let on", 1, 1],
    ["refused", 0, 0],
  ])("a response that was sent meanwhile is left alone, where the request is %s", async (_, max, reached) => {
    const app = express();
    let handled = 0;
    app.use((_, response, next) => {
      next();
      response.send("took too long");
    });
    app.use(forExpress(hf, { limits: perHour(max), count: "failures" }));
    app.use(() => {
      handled += 1;
    });
    const response = await fetch(await urlOf(app.listen(0, "127.0.0.1")));
    expect([response.status, await response.text()]).toEqual([200, "took too long"]);
    expect(response.headers.has("ratelimit")).toBe(false);
    await perHour(1).take("behind it"); // answers come in the order of the requests
    await new Promise((resolve) => setImmediate(resolve));
    expect(handled).toBe(reached);
  });

  test("who has hung up before the limits were asked is counted", async () => {
    const guard = hf.guard(`g${++names}`, { hits: 5, per: "1h", penalties: [{ kind: "busy", for: "1m" }] });
    const control = new AbortController();
    const key = async (request: express.Request) => {
      control.abort();
      await once(request.socket, "close");
      return "me";
    };
    const app = express().use(forExpress(hf, { guard: { guard, key, count: "failures" } }));
    const counted = new Promise((resolve) => {
      app.use(() => resolve(null));
    });
    const url = await urlOf(app.listen(0, "127.0.0.1"));
    await expect(fetch(url, { signal: control.signal })).rejects.toThrow(/abort/);
    await counted;
    await until("it is counted", async () => (await guard.look("me")).remaining === 4);
  });

  test("an error is handed on once", async () => {
    const [errors, app] = [[] as unknown[], express()];
    const other = new Holdfast(valkey.url, UNHURRIED);
    const limits = other.limit("l", { max: 1, per: "1h" });
    await other.close();
    app.use(forExpress(other, { limits }));
    app.use((_, response) => void response.send("in"));
    app.use((error: unknown, _: unknown, response: express.Response, __: unknown) => {
      errors.push(error);
      response.status(500).end();
    });
    expect((await fetch(await urlOf(app.listen(0, "127.0.0.1")))).status).toBe(500);
    expect(errors).toMatchObject([{ code: "CLOSED" }]);
  });

  test("a request without a socket has no address, and is settled by its response", async () => {
    const limits = perHour(5);
    const options = { limits, count: "failures" } as const;
    const [refusing, counting] = [forExpress(hf, options), forExpress(hf, { ...options, key: () => "me" })];
    const request = { method: "GET", headers: {} } as express.Request;
    const response = (status: number) => {
      const emitter = new EventEmitter();
      const written = {
        statusCode: status,
        headersSent: false,
        closed: false,
        end: () => emitter.emit("end"),
      };
      return Object.assign(emitter, written, {
        getHeader: () => undefined,
        setHeader: () => {},
        removeHeader: () => {},
      });
    };
    const refused = response(200);
    refusing(request, refused, () => refused.emit("let in"));
    await once(refused, "end");
    expect(refused.statusCode).toBe(400);
    const served = response(200);
    await new Promise<void>((resolve) => counting(request, served, () => resolve()));
    expect(await limits.peek("me")).toMatchObject({ remaining: 4 });
    served.headersSent = true;
    served.emit("close");
    await until("it is given back", async () => (await limits.peek("me")).remaining === 5);
  });

  test("Node's own server, without a framework", async () => {
    const limit = forExpress(hf, { limits: perHour(1) });
    const server = createServer((request, response) => limit(request, response, () => response.end("in")));
    const url = await urlOf(server.listen(0, "127.0.0.1"));
    expect([(await fetch(url)).status, (await fetch(url)).status]).toEqual([200, 429]);
  });
});

describe("Fastify", () => {
  test("a key from the body, on one route", async () => {
    const app = fastify();
    const key = (request: FastifyRequest) => (request.body as { user: string }).user;
    app.post("/", { preHandler: forFastify(hf, { limits: perHour(1), key }) }, async () => "in");
    app.get("/", async () => "free");
    await app.listen({ port: 0, host: "127.0.0.1" });
    const url = await urlOf(app.server);
    expect([await login(url, "kim"), await login(url, "kim"), await login(url, "lee")]).toEqual([
      200, 429, 200,
    ]);
    expect((await fetch(url)).headers.has("ratelimit")).toBe(false);
  });

  test("a response that was sent meanwhile is left alone", async () => {
    const app = fastify();
    let handled = 0;
    app.addHook("onRequest", (_, reply, done) => {
      done();
      reply.send("took too long");
    });
    app.addHook("onRequest", forFastify(hf, { limits: perHour(0) }));
    app.get("/", async () => {
      handled += 1;
    });
    await app.listen({ port: 0, host: "127.0.0.1" });
    const response = await fetch(await urlOf(app.server));
    expect([response.status, await response.text(), handled]).toEqual([200, "took too long", 0]);
  });
});

describe("Hono and fetch", () => {
  test("a key from the context, and an address from wherever it is known", async () => {
    const app = new Hono();
    app.use(
      "/user",
      forHono(hf, { limits: perHour(1), key: (context: Context) => context.req.header("user") }),
    );
    app.use(
      "/ip",
      forHono(hf, { limits: perHour(1), address: (context) => context.req.raw.headers.get("from") }),
    );
    app.all("*", (context) => context.redirect("/elsewhere"));
    const get = async (path: string, headers: Record<string, string>) =>
      (await app.request(path, { headers })).status;
    expect([await get("/user", { user: "kim" }), await get("/user", { user: "kim" })]).toEqual([302, 429]);
    expect([await get("/user", { user: "lee" }), await get("/user", {}), await get("/user", {})]).toEqual([
      302, 302, 302,
    ]);
    expect([await get("/ip", { from: "192.0.2.1" }), await get("/ip", { from: "192.0.2.1" })]).toEqual([
      302, 429,
    ]);
    expect(await get("/ip", { from: "192.0.2.2" })).toBe(302);
  });

  test("a response whose headers cannot be changed is sent on with those of the limit", async () => {
    const upstream = await urlOf(
      createServer((_, response) => response.end("far away")).listen(0, "127.0.0.1"),
    );
    const limits = perHour(5);
    const handler = forFetch(hf, { limits, key: () => "me" })(() => fetch(upstream));
    const response = await handler(new Request("http://server/"));
    expect([await response.text(), response.headers.get("ratelimit")]).toEqual([
      "far away",
      `"${limits.name}";r=4;t=720`,
    ]);
    const app = new Hono().use(forHono(hf, { limits, key: () => "me" })).get("/", () => fetch(upstream));
    expect((await app.request("/")).headers.get("ratelimit")).toMatch(/r=3/);
  });

  test("a network error has no headers and no status: it goes on, and counts as a failure", async () => {
    const limits = perHour(5);
    const options = { limits, key: () => "me", count: "failures" } as const;
    const handler = forFetch(hf, options)(() => Response.error());
    expect((await handler(new Request("http://server/"))).type).toBe("error");
    expect(await limits.peek("me")).toMatchObject({ remaining: 4 });
  });

  test("on Hono a network error goes on as it is, and counts as a failure", async () => {
    const limits = perHour(5);
    const app = new Hono().use(forHono(hf, { limits, key: () => "me", count: "failures" }));
    app.get("/", () => Response.error());
    expect((await app.request("/")).type).toBe("error");
    await until("it is counted", async () => (await limits.peek("me")).remaining === 4);
  });

  test("on Hono no response at all, and one that the handler wrote to Node's own, count as they are", async () => {
    const limits = perHour(9);
    const app = new Hono<{ Bindings: HttpBindings }>();
    app.use(forHono(hf, { limits, key: () => "me", count: "failures" }));
    app.onError((_, context) => context.text("failed", 500));
    app.get("/none", () => undefined as never);
    app.get("/written/:status", async ({ env: { outgoing }, req }) => {
      outgoing.writeHead(Number(req.param("status"))).end();
      return new Response(null, { headers: { "x-hono-already-sent": "true" } });
    });
    const url = await urlOf(serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }) as Server);
    const seen: number[] = [];
    for (const path of ["/none", "/written/401", "/written/200"])
      seen.push((await fetch(`${url}${path}`)).status);
    expect(seen).toEqual([500, 401, 200]);
    await until("they are counted", async () => (await limits.peek("me")).remaining === 7);
  });

  test("the handler's error is the caller's, and counts", async () => {
    const limits = perHour(5);
    const handler = forFetch(hf, { limits, key: () => "me", count: "failures" })(async () => {
      throw new TypeError("the handler's own");
    });
    await expect(handler(new Request("http://server/"))).rejects.toThrow("the handler's own");
    expect(await limits.peek("me")).toMatchObject({ remaining: 4 });
  });
});

describe("headers that an earlier middleware set for its own body do not belie that of a refusal", () => {
  const earlier: readonly (readonly [name: string, value: string])[] = [
    ["Content-Length", "9999"],
    ["Content-Encoding", "gzip"],
    ["Transfer-Encoding", "chunked"],
    ["Trailer", "x-end"],
    ["ETag", '"of-another"'],
  ];
  const refusalFrom = async (url: string): Promise<unknown> => {
    const response = await fetch(url, { signal: AbortSignal.timeout(5_000) });
    const { title } = (await response.json()) as { title: string };
    return [response.status, title, response.headers.get("etag")];
  };
  const whole = [429, "Too many requests", null];

  test.each(earlier)("Express: %s", async (name, value) => {
    const app = express();
    app.use((_, response, next) => {
      response.setHeader(name, value);
      next();
    });
    app.use(forExpress(hf, { limits: perHour(0) }));
    expect(await refusalFrom(await urlOf(app.listen(0, "127.0.0.1")))).toEqual(whole);
  });

  test.each(earlier)("Fastify: %s", async (name, value) => {
    const app = fastify();
    app.addHook("onRequest", async (_, reply) => void reply.header(name, value));
    app.addHook("onRequest", forFastify(hf, { limits: perHour(0) }));
    app.get("/", async () => "in");
    expect(await refusalFrom(await app.listen({ port: 0, host: "127.0.0.1" }))).toEqual(whole);
    await app.close();
  });
});

test("two keys that come to the same are charged once", async () => {
  const [limit, key] = [perHour(5), () => "me"];
  const handler = forFetch(hf, { limits: [limit, limit], key })(async () => new Response("in"));
  expect((await handler(new Request("http://server/"))).headers.get("ratelimit")).toMatch(
    /^"l\d+";r=4;t=720$/,
  );
  expect(await limit.peek("me")).toMatchObject({ remaining: 4 });
});

test.each([
  [1, 3],
  [3, 1],
])("two rules on one count charge the larger of their costs: %i and %i", async (...costs) => {
  const [limit, key] = [perHour(5), () => "me"];
  const limits = costs.map((cost) => ({ limit, key, cost }));
  await forFetch(hf, { limits })(async () => new Response("in"))(new Request("http://server/"));
  expect(await limit.peek("me")).toMatchObject({ remaining: 2 });
});

test.each([
  ["kim", "kim"],
  ["k".repeat(200), "k".repeat(200)],
  ["k".repeat(201), "sha256:HL7wHnZmLCuZuRdc6KNFjnLtzftPI49ihjH-UJ3esyk"],
  ["", "sha256:47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"],
])("a key %o is counted under %o", async (key, target) => {
  const limit = perHour(5);
  await forFetch(hf, { limits: limit, key: () => key })(async () => new Response("in"))(
    new Request("http://server/"),
  );
  expect(targetOf(key)).toBe(target);
  expect(await limit.peek(target)).toMatchObject({ remaining: 4 });
});

describe("misuse is told where the middleware is made", () => {
  const limit = () => perHour(1);
  test.each<[argument: string, options: () => unknown]>([
    ["limits", () => ({})],
    ["limits[0].limit", () => ({ limits: [{ limit: {} as Limit }] })],
    ["limits[0]", () => ({ limits: "ip" })],
    ["guard", () => ({ guard: { guard: {} as Guard } })],
    ["route", () => ({ guard: { guard: limit(), rout: "x" } })],
    ["key", () => ({ limits: limit(), key: "user" })],
    ["cost", () => ({ limits: limit(), cost: -1 })],
    ["count", () => ({ limits: limit(), count: "some" })],
    ["skip", () => ({ limits: limit(), skip: true })],
    ["trust", () => ({ limits: limit(), trust: "loopback" })],
    ["ipv6Prefix", () => ({ limits: limit(), ipv6Prefix: 0 })],
    ["headers", () => ({ limits: limit(), headers: "draft-3" })],
    ["max", () => ({ limits: limit(), max: 5 })],
  ])("%s", (argument, options) => {
    const make = () => new RequestLimiter(hf, options() as RateLimitOptions<unknown>);
    expect(make).toThrow(InvalidArgumentError);
    if (argument !== "route") expect(make).toThrow(expect.objectContaining({ argument }));
  });

  test.each([undefined, null, 5, { limits: "ip", address: "192.0.2.1" }])(
    "options of fetch and Hono that are %j",
    (options) => {
      expect(() => forFetch(hf, options as never)).toThrow(InvalidArgumentError);
      expect(() => forHono(hf, options as never)).toThrow(InvalidArgumentError);
    },
  );

  test("a fetch handler that should count by an address nobody knows", () => {
    expect(() => forFetch(hf, { limits: limit() })).toThrow(/address must say/);
    expect(() => forFetch(hf, { limits: { limit: limit(), key: () => "me" } })).not.toThrow();
  });
});
