/** Copies of a write, which clients send again after a reconnect: write.lua changes nothing, and answers as it did the first time. */
import { EmbeddedValkey } from "@holdfast/embedded";
import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { script } from "../../src/records/lua/write.lua.js";

const KEYS = ["r:{it}:1", "r:{it}:2"] as const;

interface Write {
  readonly key?: string;
  readonly value?: string;
  readonly expected?: string;
  readonly token?: string;
}

const VERSION = expect.stringMatching(/^\d{16}$/);

let server: EmbeddedValkey;
let redis: Redis;

beforeAll(async () => {
  server = await EmbeddedValkey.start();
  redis = new Redis(server.url);
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});
beforeEach(async () => {
  await redis.flushall();
});

type Row = [number, ...(string | number | null)[]];

const send = (writer: string, number: number, ...writes: readonly Write[]): Promise<Row[]> =>
  sendAs(true, writer, number, writes);

async function sendAs(
  together: boolean,
  writer: string,
  number: number,
  writes: readonly Write[],
): Promise<Row[]> {
  const keys = writes.map(({ key = KEYS[0] }) => key);
  const args = writes.flatMap(({ value = "j1", expected = "", token = "" }, place) => [
    value,
    expected,
    token,
    token && writer,
    "",
    "",
    keys[place] as string,
  ]);
  return (await redis.eval(
    script.source,
    keys.length,
    ...keys,
    writer,
    number,
    "",
    0,
    together ? 1 : 0,
    "",
    ...args,
  )) as Row[];
}

const valueIn = (key: string = KEYS[0]): Promise<string | null> => redis.hget(key, "value");

test("a copy is answered as the first was, also when its condition is no longer met", async () => {
  const first = await send("a", 1, { expected: "none", value: "j1" });
  expect(first).toEqual([[1, VERSION]]);
  expect(await send("a", 1, { expected: "none", value: "j1" })).toEqual(first);
  const [[, version]] = first as [Row];
  const second = await send("a", 2, { expected: String(version), value: "j2" });
  expect(await send("a", 2, { expected: String(version), value: "j2" })).toEqual(second);
});

test("a copy writes nothing over the value of a later writer", async () => {
  const first = await send("a", 1, { value: "j1", token: "1" });
  await send("b", 1, { value: "j2", token: "2" });
  expect(await send("a", 1, { value: "j1", token: "1" })).toEqual(first); // it was written: no refusal
  expect(await valueIn()).toBe("j2");
  const gone = await send("a", 2, { value: "" });
  expect(gone).toEqual([[1, expect.any(String)]]);
  await send("b", 2, { value: "j3" });
  expect(await send("a", 2, { value: "" })).toEqual(gone);
  expect(await valueIn()).toBe("j3");
});

test("a copy that a later write of its process has overtaken changes nothing, and is unknown", async () => {
  await send("a", 1, { value: "j1" });
  await send("a", 2, { value: "j2" });
  expect(await send("a", 1, { value: "j1" })).toEqual([[-2]]);
  expect(await send("a", 1, { value: "" })).toEqual([[-2]]);
  expect(await valueIn()).toBe("j2");
});

test("a call that was refused may be sent again, and is judged again", async () => {
  await send("b", 1, { value: "j1" });
  expect(await send("a", 1, { expected: "none" })).toMatchObject([expect.arrayContaining([-1])]);
  await send("b", 2, { value: "" });
  expect(await send("a", 1, { expected: "none", value: "j2" })).toEqual([[1, VERSION]]);
});

test("several records are written all or none, and their copies are known by any of them", async () => {
  const [one, two] = KEYS;
  await send("b", 1, { key: two });
  const both = [
    { key: one, value: "j5" },
    { key: two, value: "j5", expected: "none" },
  ];
  expect(await send("a", 1, ...both)).toEqual([[2], expect.arrayContaining([-1])]);
  expect(await valueIn(one)).toBeNull();
  await send("b", 2, { key: two, value: "" });
  const done = await send("a", 2, ...both);
  expect(done).toEqual([
    [1, VERSION],
    [1, VERSION],
  ]);
  await send("a", 3, { key: two, value: "j6" });
  expect(await send("a", 2, ...both)).toEqual([done[0], [-2]]);
  expect([await valueIn(one), await valueIn(two)]).toEqual(["j5", "j6"]);
});

test("records that are written each by itself are refused, and known as copies, each by itself", async () => {
  const [one, two] = KEYS;
  await send("b", 1, { key: two, value: "j1" });
  const both = [
    { key: one, value: "j5" },
    { key: two, value: "j5", expected: "none" },
  ];
  const first = await sendAs(false, "a", 1, both);
  expect(first).toEqual([[1, VERSION], expect.arrayContaining([-1])]);
  await send("b", 2, { key: one, value: "j6" });
  await send("b", 3, { key: two, value: "" });
  expect(await sendAs(false, "a", 1, both)).toEqual([first[0], [1, VERSION]]);
  expect([await valueIn(one), await valueIn(two)]).toEqual(["j6", "j5"]);
  await redis.set(one, "x");
  expect(await sendAs(false, "a", 2, both)).toEqual([
    [-3, expect.stringMatching(/^WRONGTYPE/)],
    expect.arrayContaining([-1]),
  ]);
  await expect(send("a", 3, ...both)).rejects.toThrow(/^WRONGTYPE/);
});

test("writes of many processes are remembered for a minute, and no longer", async () => {
  for (let at = 0; at < 60; at += 1) await send(`writer-with-a-long-name-${at}`, 1, {});
  const writes = async (): Promise<string[]> =>
    String(await redis.hget(KEYS[0], "writes"))
      .slice(1)
      .split(";");
  expect(await writes()).toHaveLength(60);
  expect(await send("writer-with-a-long-name-0", 1, { value: "j7" })).toEqual([[1, VERSION]]);
  expect(await valueIn()).toBe("j1");
  const second = async (): Promise<number> => Number((await redis.time())[0]);
  let began: number;
  do {
    began = await second();
    await redis.hset(KEYS[0], "writes", `;old 1 ${began - 61}000000;young 1 ${began - 59}000000`);
    await send("a", 1, {});
  } while ((await second()) !== began); // a machine that is busy may let the young one become old
  expect(await writes()).toEqual([expect.stringMatching(/^young /), expect.stringMatching(/^a 1 /)]);
  for (let at = 0; at < 300; at += 1) await send(`writer-with-a-long-name-${at}`, 1, {});
  expect(String(await redis.hget(KEYS[0], "writes")).length).toBeLessThan(6_100);
});
