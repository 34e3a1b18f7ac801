/** D, as far as processes wait for each other: who is counted, and what is open. */
import { expect } from "vitest";
import { hazardTest as test } from "./hazard-tests.js";
import { type Program, Scene } from "./scene.js";

/** The recipe: a counter of arrivals; whoever sees a multiple of the parties goes on. */
async function meetByIncr(program: Program, waitMs: number): Promise<boolean> {
  const client = program.client();
  const place = Number(await client.call("INCR", "step"));
  const untilMs = program.nowMs + waitMs;
  while (Number(await client.call("GET", "step")) < Math.ceil(place / 2) * 2) {
    if (program.nowMs > untilMs) return false;
    await program.sleep(20);
  }
  return true;
}

test("a counter of arrivals lets a party go on with one that has given up [breaks H73]", async () => {
  const scene = await Scene.open();
  const [a, b] = [scene.program("a"), scene.program("b")];
  const passed: Record<string, boolean> = {};
  a.run(async () => {
    passed.a = await meetByIncr(a, 100);
  });
  b.run(async () => {
    await b.sleep(500);
    passed.b = await meetByIncr(b, 100);
  });
  await scene.until(2_000);
  expect(passed).toEqual({ a: false, b: true });
});

test("a barrier counts neither a party that has given up nor one that died [H73]", async () => {
  const scene = await Scene.open();
  const [a, b, c] = [scene.program("a"), scene.program("b"), scene.program("c")];
  const passed: Record<string, boolean> = {};
  const meet = async (program: Program, waitMs: number): Promise<boolean> =>
    (await program.holdfast().barrier("step", 2, { ttl: 300 }).wait({ wait: waitMs })) !== null;
  a.run(async () => {
    passed.a = await meet(a, 100);
  });
  c.run(async () => {
    await c.sleep(200);
    passed.c = await meet(c, 60_000);
  });
  scene.world.at(400, () => c.process.kill("vanish"));
  b.run(async () => {
    await b.sleep(1_000);
    passed.b = await meet(b, 100);
  });
  await scene.until(2_000);
  expect(passed).toEqual({ a: false, b: false });
});

test("a latch that is a counter alone is open before anybody has made it [breaks H74]", async () => {
  const scene = await Scene.open();
  const a = scene.program("a");
  let isOpen = false;
  a.run(async () => {
    isOpen = Number((await a.client().call("GET", "start")) ?? 0) === 0;
  });
  await scene.until(1_000);
  expect(isOpen).toBe(true);
});

test("a latch that nobody has used is not open, and opens when it was counted down [H74]", async () => {
  const scene = await Scene.open();
  const [a, b] = [scene.program("a"), scene.program("b")];
  const seen: unknown[] = [];
  a.run(async () => {
    const latch = a.holdfast().latch("start", 2);
    seen.push(await latch.wait({ wait: 0 }));
    await latch.wait({ wait: 10_000 });
    seen.push(a.nowMs >= 600);
  });
  b.run(async () => {
    const latch = b.holdfast().latch("start", 2);
    await b.sleep(300);
    await latch.countDown({ by: "b" });
    await latch.countDown({ by: "b" }); // says so again
    await b.sleep(300);
    await latch.countDown();
  });
  await scene.until(2_000);
  expect(seen).toEqual([null, true]);
});
