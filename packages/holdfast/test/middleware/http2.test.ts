/** HTTP/2 on Fastify and Hono: streams that are cancelled, and sessions that end, at any moment. */

import { once } from "node:events";
import { type ClientHttp2Session, connect, constants, createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { UNHURRIED, until } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { serve } from "@hono/node-server";
import fastify from "fastify";
import { Holdfast } from "holdfast";
import type { RateLimitOptions } from "holdfast/middleware";
import { rateLimit as forFastify } from "holdfast/middleware/fastify";
import { rateLimit as forHono } from "holdfast/middleware/hono";
import { Hono } from "hono";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";

let valkey: EmbeddedValkey;
let hf: Holdfast;
let names = 0;
const stops: (() => unknown)[] = [];

beforeAll(async () => {
  valkey = await EmbeddedValkey.start();
  hf = new Holdfast(valkey.url, UNHURRIED);
});

afterAll(async () => {
  await hf.close();
  await valkey.stop();
});

afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

const fresh = () => `http2-${++names}`;
const perHour = (max: number) => hf.limit(fresh(), { max, per: "1h" });
const guardOf = (deny: readonly string[] = []) =>
  hf.guard(fresh(), { hits: 50, per: "1h", penalties: [{ kind: "refuse", for: "1d" }], deny });
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

type Options = RateLimitOptions<unknown>;
interface Running {
  readonly url: string;
  readonly handled: () => number;
}

/** Before the middlewares something waits for as many milliseconds; the handler waits as long, and answers 401. */
async function onFastify(waitMs: number, ...stack: Options[]): Promise<Running> {
  let handled = 0;
  const app = fastify({ http2: true });
  app.addHook("onRequest", () => sleep(waitMs));
  for (const options of stack) app.addHook("onRequest", forFastify(hf, options));
  app.get("/", async (_, reply) => {
    handled += 1;
    await sleep(waitMs);
    return reply.code(401).send("no");
  });
  await app.listen({ port: 0, host: "127.0.0.1" });
  stops.push(() => app.close());
  return { url: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`, handled: () => handled };
}

async function onHono(waitMs: number, ...stack: Options[]): Promise<Running> {
  let handled = 0;
  const app = new Hono();
  app.use(async (_, next) => {
    await sleep(waitMs);
    await next();
  });
  for (const options of stack) app.use(forHono(hf, options));
  app.get("/", async (context) => {
    handled += 1;
    await sleep(waitMs);
    return context.text("no", 401);
  });
  const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1", createServer });
  if (!server.listening) await once(server, "listening");
  stops.push(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, handled: () => handled };
}

function session(url: string): ClientHttp2Session {
  const opened = connect(url);
  opened.on("error", () => {});
  stops.push(() => opened.destroy());
  return opened;
}

function send(on: ClientHttp2Session) {
  const stream = on.request({ ":path": "/" });
  stream.on("error", () => {});
  stream.resume();
  const status = new Promise<number | null>((resolve) => {
    stream.on("response", (headers) => resolve(headers[":status"] ?? null));
    stream.on("close", () => resolve(null));
  });
  return { stream, status };
}

describe.each([
  ["Fastify", onFastify],
  ["Hono", onHono],
])("%s", (_, start) => {
  test("counts, and refuses", async () => {
    const limits = perHour(2);
    const { url, handled } = await start(0, { limits });
    const client = session(url);
    const seen = [];
    for (let at = 0; at < 3; at += 1) seen.push(await send(client).status);
    expect([seen, handled()]).toEqual([[401, 401, 429], 2]);
    expect(await limits.peek("127.0.0.1")).toMatchObject({ remaining: 0 });
  });

  test.each([
    ["a stream is cancelled", (on: ReturnType<typeof send>) => on.stream.close(constants.NGHTTP2_CANCEL)],
    ["a session ends", (on: ReturnType<typeof send>) => on.stream.session?.destroy()],
  ])("where %s, at whatever moment, the failure is counted or the request is refused", async (__, end) => {
    const guard = guardOf();
    const { url, handled } = await start(
      4,
      { limits: perHour(1_000) },
      { guard: { guard, count: "failures" } },
    );
    for (let at = 0; at < 24; at += 1) {
      const client = session(url);
      await once(client, "connect");
      const sent = send(client);
      await sleep(at % 12);
      end(sent);
      await sleep(1);
      client.destroy();
    }
    const isCounted = async () => (await guard.look("127.0.0.1")).remaining === 50 - handled();
    await until("each is counted", isCounted);
    expect((await guard.look("unknown")).remaining).toBe(50);
  });

  test("whoever is denied does not get in by hanging up", async () => {
    const { url, handled } = await start(3, { limits: perHour(1_000) }, { guard: guardOf(["127.0.0.1"]) });
    for (let at = 0; at < 24; at += 1) {
      const client = session(url);
      await once(client, "connect");
      const { stream } = send(client);
      await sleep(at % 8);
      if (at % 2) stream.close(constants.NGHTTP2_CANCEL);
      else client.destroy();
    }
    const client = session(url);
    await until("an answer behind all others", async () => (await send(client).status) === 403);
    expect(handled()).toBe(0);
  });
});
