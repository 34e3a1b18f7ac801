/** B: what shared, restarted and slow connections do. Each hazard breaks a recipe here, and does not break holdfast. */

import { Holdfast, IndeterminateError, type Lease } from "holdfast";
import { expect } from "vitest";
import { checkIntervals } from "../../src/history/intervals.js";
import { hazardTest as test } from "./hazard-tests.js";
import { NaiveLock } from "./naive.js";
import { failure, heard, type Program, Scene } from "./scene.js";

const TTL_MS = 1_000;
const STATE = "holdfast:{it}:lock";

/** Who holds, as the server says. */
function holder({ node }: Scene): string | null {
  const state = node.peek("GET", STATE);
  const expiryMs = Number(node.peek("PTTL", STATE));
  return typeof state === "string" && state.length > 17 && expiryMs > 86_400_000 ? state : null;
}

test("two databases are two locks, and nobody says so [breaks H33]", async () => {
  const scene = await Scene.open();
  for (const name of ["a", "b"]) {
    const program = scene.program(name);
    program.run(async () => {
      const lock = new NaiveLock(program);
      await lock.client.call("SELECT", name === "a" ? "0" : "1");
      await lock.acquire();
      program.note({ f: "hold", retMs: program.nowMs + 500, endMs: program.nowMs + 500 });
    });
  }
  await scene.until(2_000);
  expect(checkIntervals(scene.operations)).toMatchObject([{ property: "L4" }]);
});

test("EVALSHA alone fails after a restart [breaks H35]", async () => {
  const scene = await Scene.open();
  const a = scene.program("a");
  let error: Error | undefined;
  a.run(async () => {
    const client = a.client();
    const sha1 = String(await client.call("SCRIPT", "LOAD", "return 1"));
    await a.sleep(2_000);
    error = await failure(client.call("EVALSHA", sha1, "0"));
  });
  scene.world.at(1_000, () => scene.node.restart());
  await scene.until(5_000);
  expect(error?.message).toMatch(/^NOSCRIPT/);
});

test("scripts are sent anew after a restart, and it is told [H35]", async () => {
  const scene = await Scene.open();
  const a = scene.program("a");
  const forgot = heard("holdfast:server:forgot");
  const results: string[] = [];
  a.run(async () => {
    const hf = a.holdfast();
    for (let round = 0; round < 2; round++) {
      results.push(await (await hf.mutex("it").acquire()).release());
      await a.sleep(2_000);
    }
  });
  scene.world.at(1_000, () => scene.node.restart());
  await scene.until(10_000);
  expect(results).toEqual(["released", "released"]);
  expect(forgot).toContainEqual({ what: "scripts" });
});

/** A command on the same connection blocks it from 100 ms on, for three seconds. */
async function behindBlpop(believes: (a: Program) => Promise<{ valid(): boolean }>) {
  const scene = await Scene.open(4);
  const [a, b] = [scene.program("a"), scene.program("b")];
  a.run(async () => {
    const lock = await believes(a);
    const fromMs = a.nowMs;
    let toMs = fromMs;
    while (a.nowMs < 3_000) {
      await a.sleep(10);
      if (lock.valid()) toMs = a.nowMs;
    }
    a.note({ f: "hold", invMs: fromMs, retMs: toMs, endMs: toMs });
  });
  b.run(async () => {
    await b.sleep(200);
    while (holder(scene) || scene.node.peek("EXISTS", "it") === 1) await b.sleep(5);
    b.note({ f: "hold", retMs: b.nowMs + 5_000, endMs: b.nowMs + 5_000 });
  });
  await scene.until(10_000);
  expect(scene.operations.map(({ process }) => process).sort()).toEqual(["a", "b"]);
  return { scene, violations: checkIntervals(scene.operations) };
}

test("behind BLPOP a renewal comes too late, and its holder does not know [breaks H36]", async () => {
  const { violations } = await behindBlpop(async (a) => {
    const lock = new NaiveLock(a);
    await lock.acquire();
    let valid = true;
    a.run(async () => {
      for (;;) {
        await a.sleep(TTL_MS / 3);
        valid = await lock.extend();
      }
    });
    void lock.client.call("BLPOP", "jobs", "3");
    return { valid: () => valid };
  });
  expect(violations).toMatchObject([{ property: "L4" }]);
});

test("behind BLPOP a lease is lost before another can hold it; waiting of one's own blocks nothing [H36]", async () => {
  const lost = heard("holdfast:lock:lost");
  const { scene, violations } = await behindBlpop(async (a) => {
    const client = a.client();
    const hf = new Holdfast(client, { clock: a.process.clock, random: a.process.random });
    const lease = await hf.mutex("it", { ttl: TTL_MS }).acquire();
    void client.call("BLPOP", "jobs", "3");
    return { valid: () => lease.valid };
  });
  expect(violations).toEqual([]);
  expect(lost).toMatchObject([{ reason: "expired" }]);
  const blocked = scene.program("waits");
  let lease: Lease | undefined;
  let valid: boolean | undefined;
  blocked.run(async () => {
    const hf = blocked.holdfast();
    await new NaiveLock(blocked).client.call("PING");
    const held = hf.mutex("mine", { ttl: TTL_MS }).acquire();
    await hf.mutex("it").acquire();
    void hf
      .mutex("it", { ttl: 500 })
      .acquire({ wait: 30_000 })
      .catch(() => {});
    lease = await held;
    await blocked.sleep(5_000);
    valid = lease.valid;
  });
  await scene.until(20_000);
  expect(valid).toBe(true);
});

test("SET NX PX: an answer that is read late is a lock that is over [breaks H37]", async () => {
  const scene = await Scene.open();
  const [a, b] = [scene.program("a"), scene.program("b")];
  for (const program of [a, b]) {
    program.run(async () => {
      if (program === b) await b.sleep(2_000);
      const lock = new NaiveLock(program);
      await lock.client.call("PING");
      const asked = lock.tryAcquire();
      a.link().delayMs = [3, 5];
      if (program === a) a.process.after(1, () => a.process.stall(5_000));
      if (await asked)
        program.note({ f: "hold", retMs: program.nowMs + TTL_MS, endMs: program.nowMs + TTL_MS });
    });
  }
  b.run(async () => {
    await b.sleep(4_800);
    if (await new NaiveLock(b).tryAcquire()) {
      b.note({ f: "hold", retMs: b.nowMs + TTL_MS, endMs: b.nowMs + TTL_MS });
    }
  });
  await scene.until(20_000);
  expect(checkIntervals(scene.operations)).toMatchObject([{ property: "L4" }]);
});

test("a grant that is read after its lease is no lease, and is given back [H37]", async () => {
  for (const seed of [1, 2, 3, 4]) {
    const scene = await Scene.open(seed);
    const a = scene.program("a");
    let outcome: unknown;
    a.run(async () => {
      const hf = a.holdfast();
      await hf.mutex("other").tryAcquire();
      const asked = hf.mutex("it", { ttl: TTL_MS }).tryAcquire();
      a.link().delayMs = [3, 5];
      a.process.after(1, () => a.process.stall(5_000));
      outcome = await asked.catch((error) => error);
    });
    await scene.until(20_000);
    expect(outcome).toBeInstanceOf(IndeterminateError);
    expect(scene.node.peek("GET", STATE)).toMatch(/^[1-9]\d{15}.$/); // the last token, and no holder, lapsed or not
  }
});
