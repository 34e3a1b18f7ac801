/** What signals cost, and what they leave. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { ManualClock, until } from "@holdfast/conformance";
import { expect, test } from "vitest";
import { begun, name, onEngine, open, redis } from "./signal-lab.js";

onEngine();

test("ten thousand waiters on a thousand names use one connection, and few requests", async () => {
  const hf = open();
  await hf.signal(name).listen();
  const before = await clients();
  const calls = await scriptCalls();
  const allBegan = toldTimes("holdfast:signal:waiting", 10_000);
  const names = Array.from({ length: 1_000 }, (_, n) => `${name}-${n}`);
  const waits = names.flatMap((each) =>
    Array.from({ length: 10 }, () => hf.signal(each).wait({ wait: Number.POSITIVE_INFINITY })),
  );
  await allBegan;
  const begin = await scriptCalls();
  // 1,000 seats in calls of 50 each, and a heartbeat where the machine was slow.
  expect(begin - calls).toBeLessThan(60);
  expect(await clients()).toBe(before);
  const emitter = open();
  const told = await Promise.all(names.map((each) => emitter.signal(each).emit(1)));
  expect(told.every((heard) => heard === 10)).toBe(true);
  await Promise.all(waits);
  const after = await redis.hlen(`holdfast:{${names[0]}}:signal`);
  expect(after).toBe(1);
});

test("close() leaves no timer", async () => {
  const clock = new ManualClock();
  const hf = open({ clock });
  const waits = [hf.signal(name).wait(), hf.signals.all([name, "b"]), hf.signals.matching("*").wait()];
  for (const wait of waits) wait.catch(() => {});
  await hf.signal(name).poll();
  await hf.close();
  expect((await Promise.allSettled(waits)).map(({ status }) => status)).toEqual(Array(3).fill("rejected"));
  await until("no timer is left", () => clock.pendingTimers === 0);
});

test("a wait that follows another in the same turn costs no request", async () => {
  const hf = open();
  const told = begun(name);
  const heard: unknown[] = [];
  const loop = (async () => {
    for (let n = 0; n < 50; n += 1) heard.push((await hf.signal(name).wait())?.data);
  })();
  await told;
  // Its clock stands still, so that it reads the id of the place now, and never again.
  const emitter = open({ clock: new ManualClock() });
  await emitter.signal(`${name}-other`).emit();
  const calls = await scriptCalls();
  for (let n = 0; n < 50; n += 1) {
    expect(await emitter.signal(name).emit(n)).toBe(1);
    await until("it waits again", () => heard.length > n);
  }
  await loop;
  expect((await scriptCalls()) - calls).toBeLessThanOrEqual(52);
});

function toldTimes(channel: string, times: number): Promise<void> {
  return new Promise((resolve) => {
    let left = times;
    const heard = (): void => {
      left -= 1;
      if (left > 0) return;
      unsubscribe(channel, heard);
      resolve();
    };
    subscribe(channel, heard);
  });
}

async function clients(): Promise<number> {
  return String(await redis.call("CLIENT", "LIST"))
    .trim()
    .split("\n").length;
}

async function scriptCalls(): Promise<number> {
  const stats = await redis.info("commandstats");
  return [...stats.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)].reduce(
    (sum, [, calls]) => sum + Number(calls),
    0,
  );
}
