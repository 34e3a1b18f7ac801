/** The middleware on every framework while Redis is away: what each outage policy answers. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { freePort } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Holdfast } from "holdfast";
import { Redis } from "ioredis";
import { describe, expect, test } from "vitest";
import { frameworks, type Running } from "./servers.js";

describe.each(frameworks)("%s while Redis is away", (_, start) => {
  test("each outage policy has its answer, the handler runs at most once, and no request hangs", async () => {
    const own = await EmbeddedValkey.start({ port: await freePort() });
    const client = new Redis(own.url, { retryStrategy: () => 50 });
    client.on("error", () => {});
    const away = new Holdfast(client, { callTimeout: 300 });
    const seen: unknown[] = [];
    const started: Running[] = [];
    for (const outage of ["open", "closed", "local", "error"] as const) {
      const limit = away.limit(`l-${outage}`, { max: 10, per: "1h", outage });
      started.push(await start(away, { limits: limit, trust: false }));
    }
    expect((await fetch((started[0] as Running).url)).status).toBe(200);
    await own.stop();
    for (const each of started) {
      const before = each.handled();
      const response = await fetch(each.url);
      const { headers } = response;
      seen.push([
        response.status,
        headers.get("ratelimit"),
        headers.get("retry-after"),
        each.handled() - before,
        response.status === 503 ? await response.json() : null,
      ]);
    }
    const reduced = "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity";
    expect(seen).toEqual([
      [200, null, null, 1, null],
      [
        503,
        null,
        "5",
        0,
        { type: reduced, title: "Temporarily unavailable", status: 503, detail: expect.any(String) },
      ],
      [200, null, null, 1, null],
      [500, null, null, 0, null],
    ]);
    await Promise.all(started.map((each) => each.stop()));
    await away.close();
    client.disconnect();
  });

  test("a request that is under way ends as it would have, and what cannot be given back is told", async () => {
    const own = await EmbeddedValkey.start({ port: await freePort() });
    const client = new Redis(own.url, { retryStrategy: () => 50 });
    client.on("error", () => {});
    const away = new Holdfast(client, { callTimeout: 300 });
    const limits = [1, 2].map((each) => away.limit(`l-${each}`, { max: 10, per: "1h", outage: "open" }));
    const started = await start(away, { limits, count: "failures", trust: false });
    const told = new Promise((resolve) => {
      const hear = (message: unknown) => {
        unsubscribe("holdfast:middleware:unsettled", hear);
        resolve(message);
      };
      subscribe("holdfast:middleware:unsettled", hear);
    });
    const slow = fetch(`${started.url}/slow`);
    while (started.handled() === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await own.stop();
    started.release();
    const response = await slow;
    expect([response.status, await response.text()]).toEqual([200, "answered /slow"]);
    expect(await told).toEqual({ error: expect.any(Error) });
    await started.stop();
    await away.close();
    client.disconnect();
  });
});
