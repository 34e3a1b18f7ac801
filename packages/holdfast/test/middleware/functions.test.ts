/** The caller's own functions, when they throw or return what cannot be used: nobody gets in by it, and no request hangs. */

import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { UNHURRIED, until } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Holdfast, InvalidArgumentError } from "holdfast";
import type { Answer } from "holdfast/middleware";
import { type Incoming, RequestLimiter } from "holdfast/middleware";
import { rateLimit as forExpress } from "holdfast/middleware/express";
import { rateLimit as forFetch } from "holdfast/middleware/fetch";
import { rateLimit as forHono } from "holdfast/middleware/hono";
import { Hono } from "hono";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type AnyOptions, frameworks, type Running, type Start } from "./servers.js";

let valkey: EmbeddedValkey;
let hf: Holdfast;
let names = 0;
const stops: (() => Promise<unknown>)[] = [];
const unsettled: unknown[] = [];
const hear = (message: unknown) => unsettled.push((message as { error: unknown }).error);

beforeAll(async () => {
  valkey = await EmbeddedValkey.start();
  hf = new Holdfast(valkey.url, UNHURRIED);
  subscribe("holdfast:middleware:unsettled", hear);
});

afterAll(async () => {
  unsubscribe("holdfast:middleware:unsettled", hear);
  await hf.close();
  await valkey.stop();
});

beforeEach(() => {
  unsettled.length = 0;
});

afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()));
});

const fresh = () => `functions-${++names}`;
const perHour = (max: number) => hf.limit(fresh(), { max, per: "1h" });
const guardOf = (deny: readonly string[] = []) =>
  hf.guard(fresh(), { hits: 5, per: "1h", penalties: [{ kind: "busy", for: "1d" }], deny });

async function up(start: Start, ...stack: AnyOptions[]): Promise<Running> {
  const running = await start(hf, ...stack);
  stops.push(() => running.stop());
  return running;
}

type Change = (answer: Answer) => unknown;
const withHeader = (name: string, value: unknown): Change => {
  return (answer) => ({ ...answer, headers: { ...answer.headers, [name]: value } });
};

const unusable: readonly (readonly [what: string, change: Change])[] = [
  ["null", () => null],
  ["a promise of null", async () => null],
  ["a number", () => 429],
  ["text", () => "go away"],
  ["an object without members", () => ({})],
  ["a Response", () => new Response("go away", { status: 429 })],
  ["a header with characters beyond Latin-1", withHeader("x-refused", "\u{1f600}")],
  ["a header with a line feed", withHeader("x-refused", "a\r\nset-cookie: b=c")],
  ["a header with a NUL", withHeader("x-refused", "\0")],
  ["a header that is no text", withHeader("x-refused", undefined)],
  ["a header with a bad name", withHeader("x refused", "a")],
  ["headers that are a Headers", (answer) => ({ ...answer, headers: new Headers(answer.headers) })],
  ["headers that are a Map", (answer) => ({ ...answer, headers: new Map(Object.entries(answer.headers)) })],
  ["a length that is too long, for which a client would wait", withHeader("Content-Length", "9999")],
  ["a length that is too short, whose rest would be the next response", withHeader("content-length", "1")],
  ["a coding of the server's own", withHeader("Transfer-Encoding", "gzip")],
  ["a header that announces trailers", withHeader("trailer", "x-end")],
  ["headers left out", ({ status, body }) => ({ status, body })],
  ["a status of 99", (answer) => ({ ...answer, status: 99 })],
  ["a status of 1000", (answer) => ({ ...answer, status: 1_000 })],
  ["a status of 101", (answer) => ({ ...answer, status: 101 })],
  ["a status that is text", (answer) => ({ ...answer, status: "429" })],
  ["a body that is an object", (answer) => ({ ...answer, body: { error: "go away" } })],
  [
    "nothing, but throws",
    () => {
      throw new Error("thrown");
    },
  ],
  ["a promise that rejects", () => Promise.reject(new Error("rejected"))],
  ["a promise that rejects without a reason", () => Promise.reject()],
];

/** Whatever is thrown, the request is not let on: Express takes some of these for leave to go on. */
const thrown: readonly unknown[] = [undefined, null, "", 0, "route", "router", Symbol("odd")];

describe.each(frameworks)("%s", (_, start) => {
  test("an answer that cannot be sent is an error of the framework, and the handler is not reached", async () => {
    let change: Change = (answer) => answer;
    const answer = ((given: Answer) => change(given)) as never;
    for (const rule of [{ limits: perHour(0) }, { guard: guardOf(["127.0.0.1"]) }]) {
      const { url, handled } = await up(start, { ...rule, answer });
      const seen: [string, number][] = [];
      for (const [what, each] of unusable) {
        change = each;
        const response = await fetch(url, { signal: AbortSignal.timeout(5_000) });
        seen.push([what, response.status]);
        expect(response.headers.get("set-cookie")).toBeNull();
      }
      expect(seen).toEqual(unusable.map(([what]) => [what, 500]));
      expect(handled()).toBe(0);
    }
  });

  test.each<[what: string, change: Change]>([
    ["undefined", () => undefined],
    ["a promise of undefined", async () => {}],
  ])("an answer that is %s leaves the answer as it was", async (__, change) => {
    const { url, handled } = await up(start, { limits: perHour(0), answer: change as never });
    const response = await fetch(url);
    expect([response.status, handled()]).toEqual([429, 0]);
    expect(await response.json()).toMatchObject({ title: "Too many requests" });
  });

  test("a header whose name is given twice, in another case, has the later value", async () => {
    const change = withHeader("Content-Type", "text/plain");
    const { url } = await up(start, { limits: perHour(0), answer: change as never });
    const response = await fetch(url);
    expect([response.status, response.headers.get("content-type")?.split(";")[0]]).toEqual([
      429,
      "text/plain",
    ]);
  });

  test("a length that is right can be sent", async () => {
    const change = (answer: Answer) => ({ ...answer, body: "später", headers: { "content-length": "7" } });
    const { url } = await up(start, { limits: perHour(0), answer: change });
    expect(await (await fetch(url)).text()).toBe("später");
  });

  test.each(["key", "cost", "skip", "answer"])(
    "%s throws what is no error: the handler is not reached",
    async (option) => {
      let what: unknown;
      const fail = () => Promise.reject(what);
      const { url, handled } = await up(start, { limits: perHour(0), [option]: fail });
      for (what of thrown) {
        const response = await fetch(url, { signal: AbortSignal.timeout(5_000) });
        expect([what, response.status]).toEqual([what, 500]);
      }
      expect(handled()).toBe(0);
    },
  );

  test.each([204, 205, 304])("an answer without a body, %d", async (status) => {
    const change = (answer: Answer) => ({ ...answer, status });
    const { url } = await up(start, { limits: perHour(0), answer: change });
    expect((await fetch(url)).status).toBe(status);
  });

  test.each<[what: string, options: () => AnyOptions]>([
    [
      "key throws",
      () => ({
        limits: perHour(9),
        key: () => {
          throw new Error("thrown");
        },
      }),
    ],
    ["key rejects", () => ({ limits: perHour(9), key: () => Promise.reject(new Error("rejected")) })],
    ["key is an object", () => ({ limits: perHour(9), key: () => ({ id: 1 }) as never })],
    ["key is a list", () => ({ limits: perHour(9), key: () => ["kim"] as never })],
    ["key is no number", () => ({ limits: perHour(9), key: () => Number.NaN as never })],
    [
      "cost throws",
      () => ({
        limits: perHour(9),
        cost: () => {
          throw new Error("thrown");
        },
      }),
    ],
    ["cost is no number", () => ({ limits: perHour(9), cost: () => Number.NaN })],
    ["cost is negative", () => ({ limits: perHour(9), cost: () => -1, count: "failures" })],
    ["cost is text", () => ({ limits: [perHour(9), perHour(9)], cost: () => "1" as never })],
    [
      "skip throws",
      () => ({
        limits: perHour(9),
        skip: () => {
          throw new Error("thrown");
        },
      }),
    ],
    [
      "route throws",
      () => ({
        guard: {
          guard: guardOf(),
          route: () => {
            throw new Error("thrown");
          },
        },
      }),
    ],
    ["route is an object", () => ({ guard: { guard: guardOf(), route: () => ({}) as never } })],
    ["route is nothing", () => ({ guard: { guard: guardOf(), route: () => undefined as never } })],
  ])("%s: an error of the framework, and the handler is not reached", async (__, options) => {
    const { url, handled } = await up(start, options());
    expect((await fetch(url, { signal: AbortSignal.timeout(5_000) })).status).toBe(500);
    expect(handled()).toBe(0);
  });

  test("count may be asynchronous; where it fails, or returns neither yes nor no, everything stays charged", async () => {
    const none = [
      () => {
        throw new Error("thrown");
      },
      () => undefined,
      async () => null,
      () => Number.NaN,
    ];
    const limits = [async () => false, async () => 1, ...none].map((count) => {
      return { limit: perHour(9), cost: 3, count: count as never };
    });
    const guard = { guard: guardOf(), count: none[0] as never };
    const { url } = await up(start, { limits, guard });
    expect((await fetch(url)).status).toBe(200);
    const left = async () => {
      const peeks = await Promise.all(limits.map(({ limit }) => limit.peek("127.0.0.1")));
      return [...peeks, await guard.guard.look("127.0.0.1")].map(({ remaining }) => remaining).join();
    };
    await until("all are settled", async () => (await left()) === "9,8,6,6,6,6,4");
    expect(unsettled.map((error) => (error as Error).message)).toEqual([
      "thrown",
      "thrown",
      ...Array(3).fill(
        expect.stringMatching(/^count must return true, false or a number, not (undefined|null|NaN)$/),
      ),
    ]);
  });
});

test.each(unusable)(
  "Express: where answer returns %s, next is called once, with the error",
  async (_, change) => {
    const limit = forExpress(hf, { limits: perHour(0), answer: change as never });
    const calls: unknown[] = [];
    const server = createServer((request, response) =>
      limit(request, response, (error) => {
        calls.push(error);
        response.end();
      }),
    ).listen(0, "127.0.0.1");
    stops.push(async () => server.close());
    await once(server, "listening");
    await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    expect(calls).toEqual([expect.any(Error)]);
  },
);

test.each([5, {}, Promise.resolve("192.0.2.1")])("an address that is %j is an error", async (address) => {
  const options = { limits: perHour(1), address: () => address as never };
  const handler = forFetch(hf, options)(async () => new Response("in"));
  await expect(handler(new Request("http://server/"))).rejects.toThrow(InvalidArgumentError);
  const app = new Hono().use(forHono(hf, options)).get("/", (context) => context.text("in"));
  app.onError((error, context) => context.text(error.name, 500));
  expect(await (await app.request("/")).text()).toBe("InvalidArgumentError");
});

test("keys that are numbers are taken as text", async () => {
  const limits = perHour(9);
  const request: Incoming<unknown> = {
    method: "GET",
    address: null,
    header: () => null,
    identity: {},
    raw: null,
  };
  for (const key of [7, 7n, "7"]) {
    const limiter = new RequestLimiter(hf, { limits, key: () => key as never });
    expect((await limiter.admit({ ...request, identity: {} })).answer).toBeNull();
  }
  expect(await limits.peek("7")).toMatchObject({ remaining: 6 });
});
