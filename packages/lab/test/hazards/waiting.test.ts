/** B: what waiters miss. Each hazard breaks a recipe here, and does not break holdfast. */
import { expect } from "vitest";
import { hazardTest as test } from "./hazard-tests.js";
import { NaiveLock } from "./naive.js";
import { type Program, Scene } from "./scene.js";

const TTL_MS = 1_000;

/** A lock whose release is published, and waiters that wait for that. */
async function waitByMessage(b: Program, { look }: { look: "before" | "after" }): Promise<void> {
  const lock = new NaiveLock(b, { ttlMs: 60_000 });
  const subscriber = b.client();
  let woken: () => void = () => {};
  const wake = new Promise<void>((resolve) => {
    woken = resolve;
  });
  if (look === "before" && (await lock.tryAcquire())) return;
  subscriber.on("message", () => woken());
  await subscriber.subscribe("released");
  if (look === "after" && (await lock.tryAcquire())) return;
  await wake;
  await lock.acquire();
}

/** `a` holds until `releaseMs`. Returns when `b` had it. */
async function wakeUp(
  waitOf: (b: Program) => Promise<unknown>,
  releaseMs: number,
  fault: (scene: Scene, b: Program) => void = () => {},
  seed = 1,
) {
  const scene = await Scene.open(seed);
  const [a, b] = [scene.program("a"), scene.program("b")];
  let hadMs = Number.POSITIVE_INFINITY;
  a.run(async () => {
    const lease = await a.holdfast().mutex("it", { ttl: 6_000 }).acquire();
    const lock = new NaiveLock(a, { ttlMs: 60_000 });
    await lock.acquire();
    await a.sleep(releaseMs - a.nowMs);
    await lock.release();
    await lock.client.call("PUBLISH", "released", "it");
    await lease.release();
  });
  b.run(async () => {
    await b.sleep(1_000);
    await waitOf(b);
    hadMs = b.nowMs;
  });
  fault(scene, b);
  await scene.until(60_000);
  return hadMs - releaseMs;
}

const blip = ({ world }: Scene, b: Program): void => {
  world.at(1_999, () => b.link().cut());
};
const waitWithHoldfast = (b: Program) => b.holdfast().mutex("it", { ttl: 6_000 }).acquire({ wait: 50_000 });

test("a waiter that lives by messages alone sleeps on beside a free lock [breaks H30]", async () => {
  expect(await wakeUp((b) => waitByMessage(b, { look: "after" }), 2_000, blip)).toBe(
    Number.POSITIVE_INFINITY,
  );
});

test("a waiter whose messages are lost gets the lock within its fallback [H30]", async () => {
  expect(await wakeUp(waitWithHoldfast, 2_000, blip)).toBeLessThan(500);
  const deaf = ({ world }: Scene, b: Program): void => void world.at(1_999, () => b.link().halfOpen());
  expect(await wakeUp(waitWithHoldfast, 2_000, deaf)).toBeLessThan(6_000 / 3 + 1_000);
});

const MOMENTS = Array.from({ length: 12 }, (_, place) => 1_002 + place * 2);

/** The way to the server is long, so that there is something in between. */
const faraway = (_: Scene, b: Program): void => {
  b.link().delayMs = [4, 6];
};

test("look, then subscribe: a release in between is missed [breaks H31]", async () => {
  const waits: number[] = [];
  for (const releaseMs of MOMENTS) {
    waits.push(await wakeUp((b) => waitByMessage(b, { look: "before" }), releaseMs, faraway));
  }
  expect(waits).toContain(Number.POSITIVE_INFINITY);
});

test("no release is missed, at whichever moment of the wait's beginning it comes [H31]", async () => {
  for (const releaseMs of MOMENTS) {
    expect(await wakeUp(waitWithHoldfast, releaseMs, faraway, releaseMs)).toBeLessThan(100);
  }
});

test("BLPOP: the baton dies with the waiter that took it [breaks H32]", async () => {
  const scene = await Scene.open();
  const [a, b, c] = [scene.program("a"), scene.program("b"), scene.program("c")];
  let got: unknown = "nothing";
  a.run(async () => {
    await a.sleep(1_000);
    await a.client().call("LPUSH", "baton", "go");
  });
  b.run(() => b.client().call("BLPOP", "baton", "0"));
  c.run(async () => {
    await c.sleep(500);
    got = await c.client().call("BLPOP", "baton", "30");
  });
  scene.world.at(1_000, () => b.process.kill("vanish"));
  await scene.until(40_000);
  expect(got).toBe(null);
});

test("a waiter that dies as it is granted delays the next by one ttl at most [H32]", async () => {
  const delaysMs: number[] = [];
  for (const killMs of [999, 1_000.5, 1_001, 1_002, 1_003]) {
    const scene = await Scene.open(Math.round(killMs));
    const [a, b, c] = [scene.program("a"), scene.program("b"), scene.program("c")];
    let hadMs = Number.POSITIVE_INFINITY;
    const take = (program: Program) => program.holdfast().mutex("it", { ttl: TTL_MS }).acquire();
    a.run(async () => {
      const lease = await take(a);
      await a.sleep(1_000 - a.nowMs);
      await lease.release();
    });
    b.run(async () => {
      await b.sleep(100);
      await take(b);
    });
    c.run(async () => {
      await c.sleep(500);
      await take(c);
      hadMs = c.nowMs;
    });
    scene.world.at(killMs, () => b.process.kill("vanish"));
    await scene.until(20_000);
    expect(hadMs).toBeLessThan(killMs + TTL_MS + 500);
    delaysMs.push(hadMs - killMs);
  }
  expect(Math.max(...delaysMs)).toBeGreaterThan(TTL_MS * 0.9); // it was granted, and dead
});
