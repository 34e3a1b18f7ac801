/** Every `Returns` line of the header of the script that takes permits away, on the engine itself. */
import { expect, test } from "vitest";
import { script as revoke } from "../src/locks/backends/redis/permits/lua/revoke.lua.js";
import { heard, redis, whileFull } from "./engine.js";
import { holders, keys, onPermits, shift, take, used } from "./permit-lab.js";

onPermits();

async function takeAway(fence: unknown): Promise<unknown[]> {
  return (await redis.eval(revoke.source, 4, ...keys, "0", String(fence), "")) as unknown[];
}

test("{1, now, id, lease, told}: the script tells the holder and serves the line, and every later token is larger", async () => {
  const [, token] = await take("a", {
    weight: 2,
    minFence: "5000000000000000",
    owner: '{"inbox":"inbox"}',
  });
  await take("b", { wait: true });
  const [status, now, id, lease, told] = await takeAway(token);
  expect([status, id, told]).toEqual([1, "a", 1]);
  expect(now).toMatch(/^\d{16}$/);
  expect(lease).toMatch(/^\d{13} 2 5000000000000000 \d{16} 10000 \{"inbox":"inbox"\}$/);
  const [grant, revoked] = await heard();
  expect(grant).toMatch(/^semaphore grant 1 b 5000000000000002 /);
  expect(revoked).toBe("semaphore revoked a");
  expect(await takeAway(token)).toEqual([0]);
  expect([await holders(), await used()]).toEqual([["b"], 1]);
});

test("by any token that a lease has reserved, among many, and by no other", async () => {
  await take("a", { limit: 9, minFence: "5000000000000000", tokens: 3, owner: '{"pid":1}' });
  await take("b", { limit: 9 });
  await take("c", { limit: 9, tokens: 2, owner: '{"pid":3}' });
  for (const fence of ["0", "4999999999999999", "5000000000000006"])
    expect(await takeAway(fence)).toEqual([0]);
  const taken = [];
  for (const fence of ["5000000000000002", "5000000000000005"]) taken.push((await takeAway(fence))[2]);
  expect(taken).toEqual(["a", "c"]);
  expect((await takeAway("5000000000000003"))[2]).toBe("b");
  await expect(takeAway("many")).rejects.toThrow("16 digits");
});

test("by nobody's token where the lease is over, or of another program's making", async () => {
  const [, token] = await take("a", { ttlMs: 1_000 });
  await shift(-2_000);
  expect([await takeAway(token), await used()]).toEqual([[0], 0]);
  const [, other] = await take("b", { owner: '{"tokens":"many","inbox":7}' });
  expect((await takeAway(other)).slice(2, 3)).toEqual(["b"]);
  expect(await heard()).toEqual([]);
});

test("a server without memory lets permits be taken away", async () => {
  const [, token] = await take("a", { weight: 2 });
  await take("b", { wait: true });
  await whileFull(async () => {
    expect((await takeAway(token))[0]).toBe(1);
  });
  expect(await holders()).toEqual(["b"]);
});
