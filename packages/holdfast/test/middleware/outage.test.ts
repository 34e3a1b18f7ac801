/** The middleware on every framework while Redis is away: what each outage policy answers. */
import { EmbeddedValkey } from "@holdfast/embedded";
import { Holdfast } from "holdfast";
import { Redis } from "ioredis";
import { describe, expect, test } from "vitest";
import { frameworks, type Running } from "./servers.js";

describe.each(frameworks)("%s while Redis is away", (_, start) => {
  test("each outage policy has its answer, the handler runs at most once, and no request hangs", async () => {
    const own = await EmbeddedValkey.start();
    const client = new Redis(own.url, { retryStrategy: () => 50 });
    client.on("error", () => {});
    const away = new Holdfast(client, { callTimeoutMs: 300 });
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
        response.status === 503 ? ((await response.json()) as { type: string }).type : null,
      ]);
    }
    const reduced = "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity";
    expect(seen).toEqual([
      [200, null, null, 1, null],
      [503, null, "5", 0, reduced],
      [200, null, null, 1, null],
      [500, null, null, 0, null],
    ]);
    await Promise.all(started.map((each) => each.stop()));
    await away.close();
    client.disconnect();
  });
});
