/** The fence of HTTP resources, over real HTTP. */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, request as rawRequest, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { UNHURRIED } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Holdfast, InvalidArgumentError, StaleTokenError } from "holdfast";
import {
  type FenceStore,
  fencedFetch,
  fencingHeaders,
  HttpFence,
  holderOf,
  MemoryFences,
  RecordFences,
} from "holdfast/fencing/http";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";

const holder = (fence: bigint, id = `id-${fence}`) => ({ fence, id });

let server: Server;
let url: string;
/** What the server under test does; each test sets it. */
let answer: (request: Request) => Promise<Response>;

beforeEach(async () => {
  server = createServer(async (incoming, outgoing) => {
    const headers = new Headers();
    for (const [name, value] of Object.entries(incoming.headers)) headers.set(name, String(value));
    const request = new Request(new URL(incoming.url ?? "/", url), {
      method: incoming.method ?? "GET",
      headers,
    });
    const response = await answer(request).catch((error: Error) => new Response(error.name, { status: 500 }));
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.end(Buffer.from(await response.arrayBuffer()));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, "close");
});

function guarded(fence: HttpFence): (request: Request) => Promise<Response> {
  return async (request) => (await fence.check(request)) ?? new Response("done");
}

/** The suite of a store; `make` gives one that has seen nothing. */
function storeSuite(make: () => FenceStore): void {
  test("a paused holder is refused with 412, and its fetch rejects with the token that overtook it [H62]", async () => {
    answer = guarded(new HttpFence({ store: make() }));
    const put = { method: "PUT", body: "x" };
    expect((await fencedFetch(holder(33n))(`${url}/a`)).status).toBe(200);
    expect((await fencedFetch(holder(34n))(`${url}/a`)).status).toBe(200);
    expect((await fencedFetch(holder(34n))(`${url}/a`, put)).status).toBe(200);
    const late = fencedFetch(holder(33n))(`${url}/a`, put);
    await expect(late).rejects.toThrow(expect.objectContaining({ resource: "/a", token: 33n, seen: 34n }));
    await expect(late).rejects.toBeInstanceOf(StaleTokenError);
    expect((await fencedFetch(holder(33n))(`${url}/b`, put)).status).toBe(200);

    const plain = await fetch(`${url}/a`, { ...put, headers: fencingHeaders(holder(33n)) });
    expect(plain.status).toBe(412);
    expect(plain.headers.get("content-type")).toBe("application/problem+json");
    expect(await plain.json()).toEqual({
      type: "urn:holdfast:problem:stale-token",
      title: "Stale fencing token",
      status: 412,
      detail: "/a has served token 34: the holder of 33 was overtaken and must stop.",
      code: "STALE_TOKEN",
      resource: "/a",
      token: "33",
      seen: "34",
    });
  });

  test("one holder comes as often as it likes; another's equal token is refused [H63]", async () => {
    answer = guarded(new HttpFence({ store: make() }));
    const large = 2n ** 63n - 1n;
    for (let time = 0; time < 3; time++)
      expect((await fencedFetch(holder(large, "a"))(`${url}/a`)).status).toBe(200);
    const refusal = expect.objectContaining({ token: large, seen: large });
    await expect(fencedFetch(holder(large, "b"))(`${url}/a`)).rejects.toThrow(refusal);
    await expect(fencedFetch(holder(large - 1n, "a"))(`${url}/a`)).rejects.toThrow(StaleTokenError);
  });

  test("of many at once the newest is always let in", async () => {
    answer = guarded(new HttpFence({ store: make() }));
    const tokens = Array.from({ length: 40 }, (_, at) => BigInt((at * 17) % 40) + 1n);
    const ends = await Promise.allSettled(tokens.map((token) => fencedFetch(holder(token))(`${url}/a`)));
    expect(ends[tokens.indexOf(40n)]?.status).toBe("fulfilled");
    for (const token of [1n, 39n])
      await expect(fencedFetch(holder(token))(`${url}/a`)).rejects.toThrow(StaleTokenError);
  });
}

describe("in memory", () => {
  storeSuite(() => new MemoryFences());

  test("long names are kept as digests, and are fences of their own", async () => {
    const store = new MemoryFences();
    const long = "/x".repeat(5_000);
    for (const resource of [long, `${long}y`, "x".repeat(512), "x".repeat(513)]) {
      expect(await store.enter(resource, holder(2n))).toBeNull();
      expect(await store.enter(resource, holder(1n))).toBe(2n);
    }
  });

  test("what is dropped is not forgotten: a floor stands for it", async () => {
    const store = new MemoryFences({ capacity: 2 });
    for (const [resource, token] of [
      ["a", 5n],
      ["b", 9n],
      ["c", 7n],
    ] as const)
      expect(await store.enter(resource, holder(token))).toBeNull();
    expect(store.size).toBe(2);
    expect(await store.enter("a", holder(4n))).toBe(5n);
    expect(await store.enter("a", holder(5n))).toBe(5n);
    expect(await store.enter("new", holder(3n))).toBe(5n);
    expect(await store.enter("c", holder(7n))).toBeNull();
    expect(await store.enter("d", holder(10n))).toBeNull(); // drops b: c was there later
    expect(await store.enter("b", holder(9n))).toBe(9n);
    expect(await store.enter("b", holder(11n))).toBeNull();
  });

  test("a million resources do not slow it down, and the newest stay", async () => {
    const store = new MemoryFences({ capacity: 1000 });
    const last = 1_000_000;
    for (let token = 1; token <= last; token++) await store.enter(`r${token}`, holder(BigInt(token), "a"));
    expect(store.size).toBe(1000);
    expect(await store.enter(`r${last - 999}`, holder(BigInt(last - 999), "a"))).toBeNull();
    expect(await store.enter(`r${last - 1000}`, holder(BigInt(last - 1000), "a"))).toBe(BigInt(last - 1000));
  });

  test("a floor to start from refuses who came before it", async () => {
    const store = new MemoryFences({ floor: 100n });
    expect(await store.enter("a", holder(100n))).toBe(100n);
    expect(await store.enter("a", holder(101n))).toBeNull();
    expect(await store.enter("b", holder(99n))).toBe(100n);
  });

  test("what can never work is refused", () => {
    for (const capacity of [0, -1, 1.5, Number.NaN, "9" as never])
      expect(() => new MemoryFences({ capacity })).toThrow(InvalidArgumentError);
    expect(() => new MemoryFences({ floor: 5 as never })).toThrow(InvalidArgumentError);
  });
});

describe("in Valkey", () => {
  let valkey: EmbeddedValkey;
  let made = 0;
  beforeAll(async () => {
    valkey = await EmbeddedValkey.start();
  });
  afterAll(() => valkey.stop());
  const holdfasts: Holdfast[] = [];
  const open = () => {
    const hf = new Holdfast(valkey.url, { ...UNHURRIED, prefix: `t${made++}` });
    holdfasts.push(hf);
    return hf;
  };
  afterEach(async () => {
    for (const hf of holdfasts.splice(0)) await hf.close();
  });

  storeSuite(() => new RecordFences(open()));

  test("a resource of any length and any characters has a fence of its own", async () => {
    const store = new RecordFences(open(), "");
    const long = "/x".repeat(5_000);
    for (const resource of [
      long,
      `${long}y`,
      "/\ud800",
      "/\ud801",
      "}",
      "a}:record:b",
      "x".repeat(512),
      "x".repeat(513),
    ]) {
      expect(await store.enter(resource, holder(2n))).toBeNull();
      expect(await store.enter(resource, holder(1n))).toBe(2n);
    }
    answer = guarded(new HttpFence({ store: new RecordFences(open()) }));
    expect((await fencedFetch(holder(1n))(`${url}/${long}`, { method: "PUT" })).status).toBe(200);
  });

  test("several servers have one fence, and one that cannot ask lets nobody in", async () => {
    const [one, other] = [new HttpFence({ store: new RecordFences(open()) }), open()];
    const store = new RecordFences(holdfasts[0] as Holdfast);
    answer = guarded(one);
    await store.enter("/a", holder(2n));
    await expect(fencedFetch(holder(1n))(`${url}/a`)).rejects.toThrow(StaleTokenError);
    answer = guarded(new HttpFence({ store: new RecordFences(other) }));
    await other.close();
    expect((await fencedFetch(holder(3n))(`${url}/a`)).status).toBe(500);
  });
});

describe("requests", () => {
  const send = (method: string, headers: Record<string, string | string[]> = {}) =>
    new Promise<{ status: number | undefined; headers: IncomingHttpHeaders; body: string }>(
      (resolve, reject) => {
        const request = rawRequest(`${url}/a`, { method, headers }, async (response) => {
          let body = "";
          for await (const chunk of response) body += chunk;
          resolve({ status: response.statusCode, headers: response.headers, body });
        });
        request.on("error", reject).end();
      },
    );

  test("a path is one resource, whichever of its letters are escaped; a resource that is no text is an error", async () => {
    answer = guarded(new HttpFence({ store: new MemoryFences() }));
    expect((await fencedFetch(holder(9n))(`${url}/doc-%C3%A4%2f~`)).status).toBe(200);
    for (const path of ["/%64oc-%c3%a4%2F%7e", "/%64%6F%63%2D%C3%A4%2f~"])
      await expect(fencedFetch(holder(8n))(`${url}${path}`)).rejects.toThrow(StaleTokenError);
    expect((await fencedFetch(holder(8n))(`${url}/doc-%C3%A4/~`)).status).toBe(200);
    for (const resource of [() => undefined, () => "", async () => "/doc", () => ({})]) {
      const fence = new HttpFence({ store: new MemoryFences(), resource: resource as never });
      const request = new Request(url, { method: "PUT", headers: fencingHeaders(holder(1n)) });
      await expect(fence.check(request)).rejects.toThrow(InvalidArgumentError);
      await expect(fence.handle(request, () => new Response("in"))).rejects.toThrow(InvalidArgumentError);
    }
  });

  test("without a token: reads pass, writes need one", async () => {
    const store = new MemoryFences();
    answer = guarded(new HttpFence({ store }));
    for (const method of ["GET", "HEAD", "OPTIONS"]) expect((await send(method)).status).toBe(200);
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
      const { status, headers, body } = await send(method);
      expect(status).toBe(428);
      expect(headers["content-type"]).toBe("application/problem+json");
      expect(JSON.parse(body)).toMatchObject({ status: 428, code: "TOKEN_REQUIRED" });
    }
    answer = guarded(new HttpFence({ store, required: "always" }));
    expect((await send("GET")).status).toBe(428);
    answer = guarded(new HttpFence({ store, required: "never" }));
    expect((await send("DELETE")).status).toBe(200);
  });

  test.each([
    ["letters", { "Fencing-Token": "x1", "Fencing-Holder": "a" }],
    ["a sign", { "Fencing-Token": "-1", "Fencing-Holder": "a" }],
    ["a leading zero", { "Fencing-Token": "01", "Fencing-Holder": "a" }],
    ["a fraction", { "Fencing-Token": "1.0", "Fencing-Holder": "a" }],
    ["an empty token", { "Fencing-Token": "", "Fencing-Holder": "a" }],
    ["too large a token", { "Fencing-Token": "9223372036854775808", "Fencing-Holder": "a" }],
    ["twenty digits", { "Fencing-Token": "11111111111111111111", "Fencing-Holder": "a" }],
    ["two tokens", { "Fencing-Token": ["1", "2"], "Fencing-Holder": "a" }],
    ["two holders", { "Fencing-Token": "1", "Fencing-Holder": ["a", "b"] }],
    ["no holder", { "Fencing-Token": "1" }],
    ["no token", { "Fencing-Holder": "a" }],
    ["an id with a space", { "Fencing-Token": "1", "Fencing-Holder": "a b" }],
    ["an endless id", { "Fencing-Token": "1", "Fencing-Holder": "a".repeat(201) }],
  ])("with %s are refused with 400, whatever is required", async (_title, headers) => {
    for (const required of ["writes", "always", "never"] as const) {
      answer = guarded(new HttpFence({ store: new MemoryFences(), required }));
      const { status, body } = await send("GET", headers);
      expect(status).toBe(400);
      expect(JSON.parse(body)).toMatchObject({ status: 400, code: "INVALID_TOKEN" });
    }
  });

  test("name their resource by the path, or as they are told", async () => {
    const store = new MemoryFences();
    const account = (request: Request) => new URL(request.url).searchParams.get("account") ?? "";
    answer = guarded(new HttpFence({ store, resource: account }));
    await fencedFetch(holder(2n))(`${url}/x?account=13`);
    await expect(fencedFetch(holder(1n))(`${url}/y?account=13`)).rejects.toThrow(StaleTokenError);
    expect((await fencedFetch(holder(1n))(`${url}/x?account=14`)).status).toBe(200);
  });

  test("tell the handler who came", async () => {
    answer = async (request) => new Response(String(holderOf(request)?.fence));
    expect(await (await fencedFetch(holder(7n))(url)).text()).toBe("7");
    expect(await (await fetch(url)).text()).toBe("undefined");
  });
});

describe("handlers of one resource", () => {
  test("run one after the other: a newer holder is let in when the older one's has settled", async () => {
    const fence = new HttpFence({ store: new MemoryFences() });
    const events: string[] = [];
    let finish: () => void = () => {};
    const finishing = new Promise<void>((resolve) => {
      finish = resolve;
    });
    let begun: () => void = () => {};
    const beginning = new Promise<void>((resolve) => {
      begun = resolve;
    });
    answer = (request) =>
      fence.handle(request, async (by) => {
        events.push(`begin ${by?.fence}`);
        begun();
        if (by?.fence === 1n) await finishing;
        events.push(`end ${by?.fence}`);
        return new Response("done");
      });
    const older = fencedFetch(holder(1n))(`${url}/a`);
    await beginning;
    const newer = fencedFetch(holder(2n))(`${url}/a`);
    expect((await fencedFetch(holder(9n))(`${url}/elsewhere`)).status).toBe(200);
    expect((await fetch(`${url}/a`)).status).toBe(200); // an onlooker does not wait
    finish();
    expect((await older).status).toBe(200);
    expect((await newer).status).toBe(200);
    expect(events.filter((event) => !/9|undefined/.test(event))).toEqual([
      "begin 1",
      "end 1",
      "begin 2",
      "end 2",
    ]);
    await expect(fencedFetch(holder(1n))(`${url}/a`)).rejects.toThrow(StaleTokenError);
  });

  test("go on after one that failed", async () => {
    const fence = new HttpFence({ store: new MemoryFences() });
    answer = (request) => fence.handle(request, () => Promise.reject(new Error("boom")));
    expect((await fencedFetch(holder(1n))(`${url}/a`)).status).toBe(500);
    answer = (request) => fence.handle(request, async () => new Response("done"));
    expect((await fencedFetch(holder(1n))(`${url}/a`)).status).toBe(200);
    expect((await fetch(`${url}/a`, { method: "PUT" })).status).toBe(428);
    expect((await fetch(`${url}/a`, { headers: { "Fencing-Token": "x" } })).status).toBe(400);
  });
});

describe("fetch on behalf of a holder", () => {
  test("leaves every other answer alone", async () => {
    answer = async (request) => {
      const type = new URL(request.url).pathname === "/text" ? "text/plain" : "application/problem+json";
      return new Response('{"code":"OTHER"', { status: 412, headers: { "content-type": type } });
    };
    for (const path of ["/text", "/json"]) {
      const response = await fencedFetch(holder(1n))(url + path);
      expect([response.status, await response.text()]).toEqual([412, '{"code":"OTHER"']);
    }
  });

  test("knows a refusal in whatever case its media type is written", async () => {
    const headers = { "content-type": "Application/Problem+JSON; charset=utf-8" };
    answer = async () => new Response('{"code":"STALE_TOKEN","seen":"9"}', { status: 412, headers });
    await expect(fencedFetch(holder(1n))(url)).rejects.toThrow(StaleTokenError);
  });

  test("keeps headers, whoever set them", async () => {
    answer = async (request) =>
      new Response(`${request.headers.get("x-mine")} ${request.headers.get("fencing-token")}`);
    const fetchAs = fencedFetch(holder(3n));
    expect(await (await fetchAs(url, { headers: { "X-Mine": "1" } })).text()).toBe("1 3");
    expect(await (await fetchAs(new Request(url, { headers: { "X-Mine": "2" } }))).text()).toBe("2 3");
    expect(() => fencedFetch({ fence: 1n, id: "a\nb" })).toThrow(InvalidArgumentError);
  });

  test("options that can never work are refused", () => {
    const store = new MemoryFences();
    expect(() => new HttpFence(undefined as never)).toThrow(InvalidArgumentError);
    expect(() => new HttpFence({ store: {} as never })).toThrow(InvalidArgumentError);
    expect(() => new HttpFence({ store, required: "no" as never })).toThrow(InvalidArgumentError);
    expect(() => new HttpFence({ store, ressource: () => "" } as never)).toThrow(InvalidArgumentError);
    expect(() => new RecordFences({} as never)).toThrow(InvalidArgumentError);
    const records = { record: () => ({ get: async () => null }) };
    for (const prefix of ["}", "p".repeat(401), 5])
      expect(() => new RecordFences(records, prefix as string)).toThrow(InvalidArgumentError);
  });
});
