/** Groups whose parts have costs of their own, refunds of groups, keys that hold something else, and the index. */
import { EmbeddedValkey } from "@holdfast/embedded";
import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { InvalidArgumentError, ServerError } from "../../src/errors.ts";
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

const used = async (limit: ReturnType<Holdfast["limit"]>, target = "ann"): Promise<number> =>
  limit.policy.max - (await limit.peek(target, 0)).remaining;

test("a part with a cost of its own is charged that, the others what the group is asked for", async () => {
  const requests = hf.limit("requests", { max: 3, per: "1h" });
  const bytes = hf.limit("bytes", { max: 1_000, per: "1h", type: "sliding" });
  const group = hf.limits.all([requests.of("ann"), bytes.of("ann", { cost: 400 })]);
  expect((await group.take()).ok).toBe(true);
  expect((await group.take()).ok).toBe(true);
  const refused = await group.take();
  expect([refused.ok, refused.violated.map(({ name }) => name)]).toEqual([false, ["bytes"]]);
  expect([await used(requests), await used(bytes)]).toEqual([2, 800]);
  expect(() => bytes.of("ann", { cost: 0.5 })).toThrow(InvalidArgumentError);
});

test("a group gives back in one script, each part its own", async () => {
  const requests = hf.limit("requests", { max: 3, per: "1h" });
  const bytes = hf.limit("bytes", { max: 1_000, per: "1h", type: "sliding" });
  const never = hf.limit("never", { max: 0, per: "1h" });
  const group = hf.limits.all([requests.of("ann"), bytes.of("ann", { cost: 400 })]);
  await group.take();
  const before = (await client.info("commandstats")).match(/cmdstat_evalsha:calls=(\d+)/)?.[1];
  const back = await hf.limits.all([...group.parts, never.of("ann")]).refund();
  expect(back).toMatchObject({ ok: true, violated: [], remaining: 0, atMs: null, source: "redis" });
  expect(back.results.map(({ remaining }) => remaining)).toEqual([3, 1_000, 0]);
  const after = (await client.info("commandstats")).match(/cmdstat_evalsha:calls=(\d+)/)?.[1];
  expect(Number(after) - Number(before)).toBe(1);
  expect([await used(requests), await used(bytes)]).toEqual([0, 0]);
});

test.each(["rolling", "gcra", "window", "sliding", "lifetime"] as const)(
  "a %s limit whose key holds something else says so, and writes nothing",
  async (type) => {
    const limit = hf.limit("odd", { max: 3, ...(type === "lifetime" ? { type } : { type, per: "1h" }) });
    const key = `holdfast:{ann}:limit:${type}:odd`;
    for (const write of [() => client.set(key, "-5"), () => client.hset(key, "a", "b")]) {
      await client.del(key);
      await write();
      const error = await limit.take("ann").catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(ServerError);
      expect((error as ServerError).serverCode).toBe("WRONGTYPE");
      await expect(hf.limits.all([limit.of("ann")]).take()).rejects.toThrow(
        /another program owns|wrong kind/,
      );
    }
    expect(await client.hgetall(key)).toEqual({ a: "b" });
  },
);

test("what is given back of a sliding limit is the oldest, or of the moment that is named", async () => {
  const limit = hf.limit("sliding", { max: 9, per: "1h", type: "sliding" });
  const charges = async () =>
    (await client.lrange("holdfast:{ann}:limit:sliding:sliding", 0, -1)).map((item) =>
      item.split(" ").slice(1).join(" "),
    );
  for (const cost of [2, 3, 4]) {
    await limit.take("ann", cost);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  const second = await limit.reserve("bob", 1);
  expect(await charges()).toEqual(["2 2", "3 5", "4 9"]);
  const times = (await client.lrange("holdfast:{ann}:limit:sliding:sliding", 0, -1)).map(
    (item) => item.split(" ")[0],
  );
  const atMs = Number(times[1]) / 1_000;
  expect((await limit.refund("ann", 2, { atMs })).remaining).toBe(2);
  expect(await charges()).toEqual(["2 2", "1 3", "4 7"]);
  expect((await limit.refund("ann", 9, { atMs })).remaining).toBe(5);
  expect(await charges()).toEqual(["4 4"]);
  expect((await limit.refund("ann", 9, { atMs })).remaining).toBe(5);
  await limit.take("ann", 1);
  await limit.refund("ann", 3);
  expect(await charges()).toEqual(["1 4", "1 5"]);
  expect(await used(limit)).toBe(2);
  expect((await second.settle(0)).remaining).toBe(9);
});

test("an index resets what is in it, all or one name, and notes each once in a while", async () => {
  const index = await hf.limits.index("mine");
  const a = hf.limit("a", { max: 3, per: "1h" });
  const b = hf.limit("b", { max: 3, type: "lifetime" });
  const other = hf.limit("other", { max: 3, per: "1h" });
  const targets = Array.from({ length: 1_200 }, (_, n) => `user:${n}`);
  await index.note(targets.map((target) => a.of(target)));
  await index.note([a.of("user:1"), b.of("user:1")]);
  await Promise.all([...targets.map((target) => a.take(target)), b.take("user:1"), other.take("user:1")]);
  expect(await client.zcard("holdfast:{mine}:limits")).toBe(1_201);
  const leftMs = await client.pttl("holdfast:{mine}:limits");
  expect(leftMs).toBeGreaterThan(3_600_000);
  await index.reset("a");
  expect([await used(a, "user:1"), await used(a, "user:1199"), await used(b, "user:1")]).toEqual([0, 0, 1]);
  expect(await client.dbsize()).toBe(3);
  await index.reset({ all: true });
  expect([await used(b, "user:1"), await used(other, "user:1")]).toEqual([0, 1]);
});
