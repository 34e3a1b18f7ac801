/** hf.inspector() beside records: it reads them, and changes nothing. */
import { UNHURRIED } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  Holdfast,
  type InspectedRecord,
  type Inspector,
  InvalidArgumentError,
  type RecordListOptions,
  ServerError,
} from "../../src/index.js";

let server: EmbeddedValkey;
let redis: Redis;
let hf: Holdfast;
let inspector: Inspector;

beforeAll(async () => {
  server = await EmbeddedValkey.start();
  redis = new Redis(server.port);
  hf = new Holdfast(redis, UNHURRIED);
  inspector = await hf.inspector();
});
afterAll(async () => {
  await hf?.close();
  redis?.disconnect();
  await server?.stop();
});
beforeEach(() => redis.flushall());

async function all(options?: RecordListOptions): Promise<InspectedRecord[]> {
  const found: InspectedRecord[] = [];
  for await (const record of inspector.records(options)) found.push(record);
  return found.sort((a, b) => (`${a.name} ${a.tag}` < `${b.name} ${b.tag}` ? -1 : 1));
}

test("a record: its value, version, fence and end, and looking at it raises no fence", async () => {
  const nothing = { exists: false, value: undefined, size: 0, version: 0n, changedMs: null, fence: 0n };
  expect(await inspector.record("it")).toEqual({ name: "it", tag: null, ...nothing, remainingMs: null });
  const before = Date.now() - 1_000;
  const fence = { fence: 7n, id: "a" };
  const { version } = await hf.record("it", { keep: "1h" }).put({ n: null }, { fence });
  const record = await inspector.record("it");
  expect(record).toMatchObject({ exists: true, value: { n: null }, version, fence: 7n, size: 11 });
  expect(record.changedMs).toBeGreaterThan(before);
  expect(record.remainingMs).toBeLessThanOrEqual(3_600_000);
  await hf.record("it").put(Uint8Array.of(1));
  expect(await inspector.record("it")).toMatchObject({ value: Uint8Array.of(1), remainingMs: null });
  await hf.record("it").put(null);
  expect(await inspector.record("it")).toMatchObject({ exists: true, value: null });
});

test("a record that was deleted shows the version of the delete, and is listed when asked for", async () => {
  const { version } = await hf.record("it").put(1);
  await hf.record("it").delete();
  const record = await inspector.record("it");
  expect(record).toMatchObject({ exists: false, value: undefined });
  expect(record.version).toBeGreaterThan(version);
  expect(await all()).toEqual([]);
  expect(await all({ deleted: true })).toMatchObject([{ name: "it", version: record.version }]);
});

test("lists go by patterns of names and tags, also with names that look like keys", async () => {
  for (const name of ["a", "a:record:b", "{a}", "a}b"]) await hf.record(name).put(name);
  await hf.record("a", { tag: "t1" }).put("tagged");
  await hf.record("large", { tag: "t2" }).put("x".repeat(20_000));
  await hf.mutex("locked").run(() => {});
  await redis.hset("holdfast:{alien}:record:alien", "of", "another program");
  await redis.set("holdfast:{text}:record:text", "of another program");
  expect((await all()).map(({ name, tag }) => [name, tag])).toEqual([
    ["a", null],
    ["a", "t1"],
    ["a:record:b", null],
    ["a}b", null],
    ["large", "t2"],
    ["{a}", null],
  ]);
  expect((await all({ pattern: "a*", tag: "t?" })).map(({ value }) => value)).toEqual(["tagged"]);
  expect(await all({ tag: "t2" })).toMatchObject([{ exists: true, value: undefined, size: 20_003 }]);
  expect((await inspector.record("large", { tag: "t2" })).value).toHaveLength(20_000);
});

test("a key of another program is an error, and so is a name that no record can have", async () => {
  await redis.hset("holdfast:{it}:record:it", "of", "another program");
  await expect(inspector.record("it")).rejects.toBeInstanceOf(ServerError);
  await expect(inspector.record("a}:record:b")).rejects.toBeInstanceOf(InvalidArgumentError);
  await expect(inspector.record("")).rejects.toBeInstanceOf(InvalidArgumentError);
  await expect(inspector.record("a", { tag: "}" })).rejects.toBeInstanceOf(InvalidArgumentError);
  await expect(all({ pattern: "" })).rejects.toBeInstanceOf(InvalidArgumentError);
});
