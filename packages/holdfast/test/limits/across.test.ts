/** Groups whose parts no script reaches together: reserved one by one, and given back where one refuses. */
import { EmbeddedValkey } from "@holdfast/embedded";
import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { InvalidArgumentError } from "../../src/errors.ts";
import { Holdfast } from "../../src/holdfast.ts";

let valkey: EmbeddedValkey;
let client: Redis;
let hf: Holdfast;

beforeAll(async () => {
  valkey = await EmbeddedValkey.start();
  client = new Redis(valkey.port, { retryStrategy: () => 5 });
  hf = new Holdfast(client, { callTimeout: "15s" });
});
afterAll(async () => {
  await hf?.close();
  client?.disconnect();
  await valkey?.stop();
});
beforeEach(() => client.flushall());

const types = ["rolling", "gcra", "window", "sliding"] as const;

test.each(types)(
  "%s: all are charged, or what was charged is given back, and all that refuse are named",
  async (type) => {
    const perIp = hf.limit("ip", { max: 5, per: "1h", type, cache: false });
    const perUser = hf.limit("user", { max: 2, per: "1h", type, cache: false });
    const perTeam = hf.limit("team", { max: 2, per: "1h", type, cache: false });
    const group = hf.limits.across([perIp.of("192.0.2.1"), perUser.of("ann"), perTeam.of("red")]);
    expect((await group.take(2)).ok).toBe(true);
    const refused = await group.take();
    expect(refused.ok).toBe(false);
    expect(refused.violated.map(({ name }) => name)).toEqual(["user", "team"]);
    expect(refused.results.map(({ ok }) => ok)).toEqual([true, false, false]);
    expect(refused.results[0]?.remaining).toBe(3);
    expect((await perIp.peek("192.0.2.1")).remaining).toBe(3);
    expect((await perUser.peek("ann")).remaining).toBe(0);
    expect((await group.peek()).violated.map(({ name }) => name)).toEqual(["user", "team"]);
  },
);

test("where one cannot be asked, what the others took is given back, and the call rejects", async () => {
  const good = hf.limit("good", { max: 5, per: "1h", cache: false });
  const bad = hf.limit("bad", { max: 5, per: "1h", cache: false });
  await client.lpush("holdfast:{ann}:limit:rolling:bad", "something else");
  await expect(hf.limits.across([good.of("192.0.2.1"), bad.of("ann")]).take()).rejects.toMatchObject({
    code: "SERVER_ERROR",
  });
  expect((await good.peek("192.0.2.1")).remaining).toBe(5);
});

test("what does not run out by itself is refused, also in a group of the group", async () => {
  const ever = hf.limit("ever", { max: 5, type: "lifetime" });
  const hourly = hf.limit("hourly", { max: 5, per: "1h" });
  const inner = hf.limits.all([ever.of("ann")]);
  expect(() => hf.limits.across([hourly.of("ann"), inner])).toThrow(InvalidArgumentError);
});
