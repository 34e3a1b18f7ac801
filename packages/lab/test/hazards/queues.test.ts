/** Queues: a message must be there once, and be delivered until it is done. Each hazard breaks a recipe here, and does not break holdfast. */

import type { Delivery } from "holdfast";
import { expect } from "vitest";
import { hazardTest as test } from "./hazard-tests.js";
import { failure, Scene } from "./scene.js";

test("RPUSH is sent again: two jobs [breaks H22]", async () => {
  const scene = await Scene.open();
  const a = scene.program("a");
  a.run(async () => {
    const client = a.client();
    await client.call("PING");
    a.link().loseNext("after");
    await client.call("RPUSH", "jobs", "one");
  });
  await scene.until(2_000);
  expect(scene.node.peek("LLEN", "jobs")).toBe(2);
});

test("a push that is sent again is one message [H22]", async () => {
  const scene = await Scene.open();
  const a = scene.program("a");
  const lengths: number[] = [];
  a.run(async () => {
    const queue = a.holdfast().queue("it");
    await queue.push("first");
    for (const push of [
      () => queue.push("x"),
      () => queue.pushMany(["y", "z"]),
      () => queue.push("w", { delay: 1 }),
    ]) {
      const ranBefore = scene.scriptsRun;
      a.link().loseNext("after");
      await push();
      expect(scene.scriptsRun - ranBefore).toBeGreaterThan(1);
      const { waiting, delayed } = await queue.state();
      lengths.push(waiting + delayed);
    }
  });
  await scene.until(5_000);
  expect(lengths).toEqual([2, 4, 5]);
});

test("LPOP is sent again: the first job is lost [breaks H23]", async () => {
  const scene = await Scene.open();
  const a = scene.program("a");
  let job: unknown;
  a.run(async () => {
    const client = a.client();
    await client.call("RPUSH", "jobs", "one", "two");
    a.link().loseNext("after");
    job = await client.call("LPOP", "jobs");
  });
  await scene.until(2_000);
  expect([job, scene.node.peek("LLEN", "jobs")]).toEqual(["two", 0]);
});

test("a message whose answer was lost is delivered again, before the next one [H23]", async () => {
  const scene = await Scene.open();
  const a = scene.program("a");
  const bodies: unknown[] = [];
  a.run(async () => {
    const queue = a.holdfast().queue("it");
    await queue.pushMany(["one", "two"]);
    a.link().loseNext("after");
    for (let place = 0; place < 2; place += 1) {
      const delivery = await queue.receive();
      bodies.push(delivery?.body);
      await delivery?.ack();
    }
  });
  await scene.until(10_000);
  expect(bodies.toSorted()).toEqual(["one", "two"]);
});

/** A list, with the time at which each job that was taken can be taken again; jobs are known by their text. */
const TAKE = `local due = redis.call("ZRANGE", KEYS[2], 0, ARGV[1], "BYSCORE", "LIMIT", 0, 1)[1]
local job = due or redis.call("LPOP", KEYS[1])
if job then redis.call("ZADD", KEYS[2], ARGV[1] + ARGV[2], job) end
return job`;

test("a job that is hidden for a while: a slow worker ends the one that another has [breaks H68]", async () => {
  const scene = await Scene.open();
  const [a, b] = [scene.program("a"), scene.program("b")];
  const take = (program: typeof a) =>
    program.client().call("EVAL", TAKE, "2", "jobs", "taken", String(Math.floor(program.nowMs)), "1000");
  let second: unknown;
  let isThere: unknown;
  a.run(async () => {
    const client = a.client();
    await client.call("RPUSH", "jobs", "one");
    const job = await take(a);
    await a.sleep(2_000);
    await client.call("ZREM", "taken", String(job));
  });
  b.run(async () => {
    await b.sleep(1_500);
    second = await take(b);
    await b.sleep(1_000);
    isThere = await b.client().call("ZSCORE", "taken", String(second));
  });
  await scene.until(4_000);
  // The job is gone while b works on it: should b die, nobody does it.
  expect([second, isThere]).toEqual(["one", null]);
});

test("a late ack is refused, and the later delivery keeps its message [H68]", async () => {
  const scene = await Scene.open();
  const [a, b] = [scene.program("a"), scene.program("b")];
  let late: Error & { code?: string } = new Error("none");
  const deliveries: (Delivery | null)[] = [];
  let outcome: unknown;
  a.run(async () => {
    const queue = a.holdfast().queue("it", { deadline: 1_000 });
    await queue.push("one");
    const first = await queue.receive({ deadline: 1_000 });
    deliveries.push(first);
    await a.sleep(2_500);
    if (first) late = await failure(first.ack("late"));
  });
  b.run(async () => {
    await b.sleep(100);
    const queue = b.holdfast().queue("it", { deadline: 1_000 });
    const second = await queue.receive({ wait: "5s", deadline: "10s" });
    deliveries.push(second);
    await b.sleep(3_000);
    await second?.ack("in time");
    outcome = await queue.result(second?.id ?? "");
  });
  await scene.until(10_000);
  const [first, second] = deliveries;
  expect([first?.attempt, second?.attempt, late.code]).toEqual([1, 2, "DELIVERY_LOST"]);
  expect((second?.token ?? 0n) > (first?.token ?? 0n)).toBe(true);
  expect(outcome).toMatchObject({ status: "done", result: "in time" });
});

test("LPOP: a job dies with the worker that took it [breaks H69]", async () => {
  const scene = await Scene.open();
  const a = scene.program("a");
  a.run(async () => {
    const client = a.client();
    await client.call("RPUSH", "jobs", "one");
    if ((await client.call("LPOP", "jobs")) === "one") a.process.kill();
  });
  await scene.until(2_000);
  expect(scene.node.peek("EXISTS", "jobs")).toBe(0);
});

test("a worker that dies at any moment loses no message [H69]", async () => {
  for (let killMs = 0; killMs < 9; killMs += 1.5) {
    const scene = await Scene.open();
    const [a, b] = [scene.program("a"), scene.program("b")];
    const done: unknown[] = [];
    b.run(async () => {
      const queue = b.holdfast().queue("it");
      await queue.push("one");
      await b.sleep(1_000);
      queue.consume(async ({ body }) => {
        done.push(body);
      });
    });
    a.run(async () => {
      await a.sleep(100);
      const queue = a.holdfast().queue("it");
      await queue.receive({ wait: 0 });
      await a.sleep(60_000);
    });
    await scene.until(100 + killMs);
    a.process.kill();
    await scene.until(6_000);
    expect([killMs, done]).toEqual([killMs, ["one"]]);
  }
});
