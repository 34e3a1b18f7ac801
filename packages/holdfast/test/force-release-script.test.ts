/** What force-release does with a line, on the engine itself. The tests of hf.inspector() have the rest. */
import { expect, test } from "vitest";
import { script } from "../src/locks/backends/redis/lua/force-release.lua.js";
import { ask, holder, keys, onEngine, redis, state, whileFull } from "./lock-lab.js";

onEngine();

/** Takes the lock from whoever holds it. Returns whether it did. */
async function force(fence = 0n): Promise<boolean> {
  const [done] = (await redis.eval(script.source, 4, ...keys, String(fence), "inbox:", 0)) as unknown[];
  return done === 1;
}

test("a holder whose place in line outlived the state of the lock does not get it again", async () => {
  for (const next of [null, "c"]) {
    await redis.del(...keys);
    await ask("a");
    await ask("b", { wait: true });
    await redis.del(keys[0] as string);
    expect((await ask("b"))[0]).toBe(1);
    if (next !== null) await ask(next, { wait: true });
    expect(await force()).toBe(true);
    expect([await holder(), await redis.zcard(keys[1] as string)]).toEqual([next, 0]);
  }
});

test("any token that the holder has reserved for its turns is its own", async () => {
  const [, token] = await ask("a", { turns: 4 });
  const first = BigInt(String(token));
  for (const fence of [first - 1n, first + 4n]) expect(await force(fence)).toBe(false);
  expect(await force(first + 3n)).toBe(true);
  expect(await holder()).toBeNull();
});

test("the token of the holder is compared exactly, also beyond 2^53", async () => {
  const top = 2n ** 53n;
  await redis.set(keys[0] as string, `${top} `);
  expect((await ask("a"))[1]).toBe(String(top + 1n));
  expect(await force(top)).toBe(false);
  expect(await force(top + 1n)).toBe(true);
  expect((await state())?.top).toBe(String(top + 2n));
});

test("a server without memory lets a lock be taken away", async () => {
  await ask("a");
  await ask("b", { wait: true });
  expect(await whileFull(() => force())).toBe(true);
  expect(await holder()).toBe("b");
  expect(await whileFull(() => force())).toBe(true);
  expect(await holder()).toBeNull();
});
