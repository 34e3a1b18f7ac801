/** Hanging up early is no other identity: a client whose address is lost does not reach the handler. */

import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UNHURRIED, until } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import fastify from "fastify";
import { Holdfast } from "holdfast";
import { ipKey } from "holdfast/middleware";
import { rateLimit as forExpress } from "holdfast/middleware/express";
import { rateLimit as forFastify } from "holdfast/middleware/fastify";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type AnyOptions, frameworks, type Running, type Start } from "./servers.js";

let valkey: EmbeddedValkey;
let hf: Holdfast;
let names = 0;
const stops: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  valkey = await EmbeddedValkey.start();
  hf = new Holdfast(valkey.url, UNHURRIED);
});

afterAll(async () => {
  await hf.close();
  await valkey.stop();
});

afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()));
});

const fresh = () => `hanging-up-${++names}`;
const perHour = (max: number) => hf.limit(fresh(), { max, per: "1h" });
const guardOf = (deny: readonly string[] = []) =>
  hf.guard(fresh(), { hits: 5, per: "1h", penalties: [{ kind: "refuse", for: "1d" }], deny });

async function up(start: Start, ...stack: AnyOptions[]): Promise<Running> {
  const running = await start(hf, ...stack);
  stops.push(() => running.stop());
  return running;
}

/** Writes a request and resets the connection after as many milliseconds, or when something has happened. */
async function hangUp(url: string, path: string, after: number | (() => boolean)): Promise<void> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  socket.on("error", () => {});
  await once(socket, "connect");
  socket.write(`GET ${path} HTTP/1.1\r\nhost: server\r\n\r\n`);
  if (typeof after === "number") await new Promise((resolve) => setTimeout(resolve, after));
  else await until("the moment to hang up", after);
  socket.resetAndDestroy();
}

describe.each(frameworks)("%s", (_, start) => {
  test.each<[rule: string, optionsOf: () => AnyOptions]>([
    ["a limit", () => ({ limits: perHour(1_000) })],
    ["a guard that denies the client", () => ({ guard: guardOf(["127.0.0.1"]) })],
    ["a guard that counts failures", () => ({ guard: { guard: guardOf(), count: "failures" } })],
    ["a key made of ipKey()", () => ({ limits: perHour(1_000), key: () => `kim ${ipKey(undefined)}` })],
  ])("behind a middleware that waited, %s refuses a client that is gone", async (__, optionsOf) => {
    const reasons: string[] = [];
    const { url, handled, begun } = await up(start, {
      ...optionsOf(),
      answer: (answer, { reason }) => {
        reasons.push(`${reason} ${answer.status}`);
        return answer;
      },
    });
    for (let at = 1; at <= 4; at += 1) await hangUp(url, "/late", () => begun() === at);
    await until("all are refused", () => reasons.length === 4);
    expect([handled(), new Set(reasons)]).toEqual([0, new Set(["no-address 400"])]);
  });

  test("a rule that does not go by the address serves such a client as before", async () => {
    const limit = perHour(10);
    const { url, handled, begun } = await up(start, { limits: limit, key: () => "me" });
    await hangUp(url, "/late", () => begun() === 1);
    await until("it is served", () => handled() === 1);
    expect(await limit.peek("me")).toMatchObject({ remaining: 9 });
  });

  test("failures whose responses wait behind a slow one, pipelined, are counted when the client hangs up", async () => {
    const guard = guardOf();
    const { url, handled, release } = await up(start, { guard: { guard, count: "failures" } });
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.on("error", () => {});
    const paths = ["/slow", "/status/401", "/status/401", "/status/401"];
    socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nhost: server\r\n\r\n`).join(""));
    await until("all are handled", () => handled() === 4);
    await fetch(url); // which is answered behind them
    socket.resetAndDestroy();
    // The slow one has an outcome of its own where handlers go on without a client.
    const remaining = ["Hono", "fetch"].includes(_) ? 2 : 1;
    await until("they are counted", async () => (await guard.look("127.0.0.1")).remaining === remaining);
    release();
  });

  test("of those who reset at once, none passes a deny list, whichever middleware has it", async () => {
    const guard = guardOf(["127.0.0.1"]);
    for (const stack of [[{ guard }], [{ limits: perHour(10_000) }, { guard }]]) {
      const { url, handled, entered } = await up(start, ...stack);
      // On a busy machine a server may read nothing of a request before its connection is reset.
      while (entered() === 0)
        await Promise.all(Array.from({ length: 60 }, (__, at) => hangUp(url, "/", at % 4)));
      expect((await fetch(url)).status).toBe(403);
      expect(handled()).toBe(0);
    }
  });

  test("of those who reset at once, no more pass two middlewares than the limit allows", async () => {
    const [limits, other] = [perHour(3), perHour(10_000)];
    const { url, handled } = await up(start, { limits: other }, { limits });
    for (let at = 0; at < 3; at += 1) expect((await fetch(url)).status).toBe(200);
    await Promise.all(Array.from({ length: 60 }, (__, at) => hangUp(url, "/", at % 4)));
    expect((await fetch(url)).status).toBe(429);
    expect(handled()).toBe(3);
    expect(await limits.peek("unknown")).toMatchObject({ remaining: 3 });
  });
});

test("an address that was read in time counts, although the client is gone meanwhile", async () => {
  const limit = perHour(10);
  const order: string[] = [];
  let isPast = false;
  const first = forExpress(hf, { limits: perHour(10) });
  const second = forExpress(hf, { limits: limit });
  const server = createServer((request, response) =>
    first(request, response, async () => {
      isPast = true;
      while (!request.socket.destroyed) await new Promise((resolve) => setTimeout(resolve, 1));
      second(request, response, () => order.push("handled"));
    }),
  ).listen(0, "127.0.0.1");
  stops.push(async () => server.close());
  await once(server, "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  socket.write("GET / HTTP/1.1\r\nhost: server\r\n\r\n");
  await until("it has passed the first", () => isPast);
  socket.resetAndDestroy();
  await until("it is handled", () => order.length > 0);
  expect(order).toEqual(["handled"]);
  expect(await limit.peek("127.0.0.1")).toMatchObject({ remaining: 9 });
});

test("over a Unix socket all share one count, or are those whom a trusted proxy names", async () => {
  const [limits, forwarded] = [perHour(1), perHour(1)];
  const path = join(tmpdir(), `holdfast-${process.pid}.sock`);
  const app = fastify();
  app.get("/", { onRequest: forFastify(hf, { limits }) }, async () => "in");
  app.get("/forwarded", { onRequest: forFastify(hf, { limits: forwarded, trust: 1 }) }, async () => "in");
  await app.listen({ path });
  stops.push(() => app.close());
  const get = async (url: string, client = "") => {
    const socket = connect(path);
    socket.write(
      `GET ${url} HTTP/1.1\r\nhost: server\r\nx-forwarded-for: ${client}\r\nconnection: close\r\n\r\n`,
    );
    let text = "";
    for await (const chunk of socket) text += chunk;
    return Number(text.split(" ")[1]);
  };
  expect([await get("/"), await get("/")]).toEqual([200, 429]);
  expect([await get("/forwarded", "192.0.2.1"), await get("/forwarded", "192.0.2.1")]).toEqual([200, 429]);
  expect(await get("/forwarded", "192.0.2.2")).toBe(200);
});
