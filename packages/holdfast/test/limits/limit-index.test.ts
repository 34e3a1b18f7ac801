/** An index of limits: what it resets, and what it says of a key into which somebody else has written. */
import { beforeAll, beforeEach, expect, test } from "vitest";
import { ServerError } from "../../src/errors.ts";
import { script as noteScript } from "../../src/limits/lua/note.lua.ts";
import { limitIndexKey } from "../../src/redis/keys.ts";
import { Engine } from "./engine.ts";
import { VirtualLimits } from "./virtual-limits.ts";

const KEY = limitIndexKey("t", "i");
const HOURLY = { max: 3, per: "1h" } as const;

let engine: Engine;
let virtual: VirtualLimits;

beforeAll(async () => {
  engine = await Engine.start();
  engine.call("SCRIPT", "LOAD", noteScript.source);
});

beforeEach(() => {
  engine.call("FLUSHALL");
  virtual = new VirtualLimits(engine);
});

test("resets every limit in it, or those of one name", async () => {
  const [one, other] = [virtual.limit("one", HOURLY), virtual.limit("other", HOURLY)];
  const index = await virtual.limits.index("i");
  await index.note([one.of("ann"), other.of("ann"), one.of("bob")]);
  await Promise.all([one.take("ann", 3), other.take("ann", 3), one.take("bob", 2)]);
  await index.reset("one");
  const left = async (): Promise<number[]> =>
    (await Promise.all([one.peek("ann"), other.peek("ann"), one.peek("bob")])).map(
      ({ remaining }) => remaining,
    );
  expect(await left()).toEqual([3, 0, 3]);
  await index.reset({ all: true });
  expect(await left()).toEqual([3, 3, 3]);
});

test.each(["a word", '"text"', "{}", "null", "[1,2,3]", '["window","n"]', '["a","b","c","d"]'])(
  "with a foreign member %s it resets all the others, and says what it found",
  async (member) => {
    const limit = virtual.limit("one", HOURLY);
    const index = await virtual.limits.index("i");
    await index.note([limit.of("ann")]);
    await limit.take("ann", 3);
    engine.call("ZADD", KEY, "1", member);
    const error = await index.reset({ all: true }).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(ServerError);
    expect(error).toMatchObject({ code: "SERVER_ERROR", serverCode: "WRONGTYPE" });
    expect(error.message).toContain(KEY);
    expect((await limit.peek("ann")).remaining).toBe(3);
  },
);

test("a key of another type is an error of the catalogue as well", async () => {
  const index = await virtual.limits.index("i");
  engine.call("SET", KEY, "text");
  await expect(index.reset({ all: true })).rejects.toMatchObject({ serverCode: "WRONGTYPE" });
  await expect(index.note([virtual.limit("one", HOURLY).of("ann")])).rejects.toMatchObject({
    serverCode: "WRONGTYPE",
  });
});
