/** D: what recipes get wrong by themselves, without any fault but a caller who stops. */

import { type Lease, LeaseLostError } from "holdfast";
import { expect } from "vitest";
import { checkIntervals } from "../../src/history/intervals.js";
import type { Reply } from "../../src/sim/resp.js";
import { hazardTest as test } from "./hazard-tests.js";
import { getsetLock, NaiveLock } from "./naive.js";
import { failure, type Program, Scene } from "./scene.js";

const TTL_MS = 1_000;

test("SETNX and EXPIRE: a crash in between locks for ever [breaks H56]", async () => {
  const scene = await Scene.open();
  const a = scene.program("a");
  a.run(async () => {
    const client = a.client();
    if ((await client.call("SETNX", "it", "a")) === 1) a.process.kill();
    await client.call("EXPIRE", "it", "1");
  });
  await scene.until(60_000);
  expect(scene.node.peek("PTTL", "it")).toBe(-1);
});

test("a holder that dies at any moment of its acquire leaves nothing for ever [H56]", async () => {
  const died = { asHolder: 0, before: 0 };
  for (let killMs = 0; killMs < 9; killMs += 0.9) {
    const scene = await Scene.open(Math.round(killMs * 10));
    const [a, b] = [scene.program("a"), scene.program("b")];
    let hadMs = Number.POSITIVE_INFINITY;
    a.run(() => a.holdfast().mutex("it", { ttl: TTL_MS }).acquire());
    scene.world.at(killMs, () => a.process.kill("vanish"));
    b.run(async () => {
      await b.sleep(20);
      await b.holdfast().mutex("it", { ttl: TTL_MS }).acquire();
      hadMs = b.nowMs;
      await b.sleep(100);
      b.process.kill();
    });
    await scene.until(5_000);
    expect(hadMs).toBeLessThan(killMs + TTL_MS + 100);
    died[hadMs > TTL_MS / 2 ? "asHolder" : "before"] += 1;
    const keys = scene.node.peek("KEYS", "*") as string[];
    expect(keys.length).toBeGreaterThan(0);
    for (const key of keys)
      expect([key, Number(scene.node.peek("PTTL", key))]).toEqual([key, expect.any(Number)]);
    for (const key of keys) expect(Number(scene.node.peek("PTTL", key))).toBeGreaterThan(0);
  }
  expect(Math.min(died.asHolder, died.before)).toBeGreaterThan(0);
});

/** `a` is late with its release: `b` holds by then. What the server says of the lock afterwards. */
async function lateRelease(
  release: (a: Program, lock: NaiveLock) => Promise<unknown>,
): Promise<Reply | undefined> {
  const scene = await Scene.open();
  const [a, b] = [scene.program("a"), scene.program("b")];
  a.run(async () => {
    const lock = new NaiveLock(a, { ttlMs: TTL_MS });
    await lock.acquire();
    await release(a, lock);
  });
  b.run(async () => {
    await b.sleep(200);
    await new NaiveLock(b, { ttlMs: 60_000 }).acquire();
  });
  await scene.until(10_000);
  return scene.node.peek("GET", "it");
}

test("DEL frees the next holder's lock [breaks H57]", async () => {
  const late = async (a: Program, { client }: NaiveLock): Promise<void> => {
    await a.sleep(2_000);
    await client.call("DEL", "it");
  };
  expect(await lateRelease(late)).toBe(null);
});

test("GET and then DEL frees the next holder's lock as well [breaks H57]", async () => {
  const late = async (a: Program, lock: NaiveLock): Promise<void> => {
    if (!(await lock.isHeld())) return;
    a.process.stall(2_000);
    await lock.client.call("DEL", "it");
  };
  expect(await lateRelease(late)).toBe(null);
});

test("a late release says lapsed, and the next holder keeps the lock [H57]", async () => {
  const scene = await Scene.open();
  const [a, b] = [scene.program("a"), scene.program("b")];
  let released: string | undefined;
  let lease: Lease | undefined;
  a.run(async () => {
    const own = await a.holdfast().mutex("it", { ttl: TTL_MS }).acquire();
    a.process.stall(3_000);
    released = await own.release();
  });
  b.run(async () => {
    await b.sleep(200);
    lease = await b.holdfast().mutex("it", { ttl: TTL_MS }).acquire();
  });
  await scene.until(10_000);
  expect(released).toBe("lapsed");
  expect(lease?.valid).toBe(true);
  expect(scene.node.peek("GET", "holdfast:{it}:lock")).toContain(lease?.id);
});

/** One holds, and another one, whose clock is 200 ms ahead, asks again and again. */
async function clocksApart(acquire: (program: Program) => Promise<boolean>) {
  const scene = await Scene.open();
  const [slow, fast] = [scene.program("slow"), scene.program("fast", { wallOffsetMs: 200 })];
  for (const program of [slow, fast]) {
    program.run(async () => {
      if (program === fast) await fast.sleep(100);
      const askedMs = program.nowMs;
      while (!(await acquire(program))) await program.sleep(10);
      const endMs = program === slow ? askedMs + TTL_MS * 0.98 : program.nowMs + TTL_MS;
      program.note({ f: "hold", retMs: endMs, endMs });
      program.process.kill();
    });
  }
  await scene.until(3_500);
  expect(scene.operations).toHaveLength(2);
  return checkIntervals(scene.operations);
}

test("GETSET: with clocks 200 ms apart two win [breaks H58]", async () => {
  expect(await clocksApart((program) => getsetLock(program, TTL_MS))).toMatchObject([{ property: "L4" }]);
});

test("clients whose clocks are apart: one wins [H58]", async () => {
  const holdfasts = new Map<Program, ReturnType<Program["holdfast"]>>();
  const violations = await clocksApart(async (program) => {
    const hf = holdfasts.get(program) ?? program.holdfast();
    holdfasts.set(program, hf);
    const lease = await hf.mutex("it", { ttl: TTL_MS }).tryAcquire();
    return lease !== null;
  });
  expect(violations).toEqual([]);
});

test("SET PX as an extension takes the next holder's lock [breaks H60]", async () => {
  const scene = await Scene.open();
  const [a, b] = [scene.program("a"), scene.program("b")];
  a.run(async () => {
    const lock = new NaiveLock(a, { ttlMs: TTL_MS });
    await lock.acquire();
    await a.sleep(2_000);
    await lock.client.call("SET", "it", "a", "PX", String(TTL_MS));
  });
  b.run(async () => {
    await b.sleep(1_500);
    await new NaiveLock(b, { ttlMs: 60_000 }).acquire();
  });
  await scene.until(2_500);
  expect(scene.node.peek("GET", "it")).toBe("a");
});

test("a renewal of a lost lock writes nothing, and the lease is lost [H60]", async () => {
  const scene = await Scene.open();
  const a = scene.program("a");
  let lease: Lease | undefined;
  a.run(async () => {
    lease = await a.holdfast().mutex("it", { ttl: TTL_MS }).acquire();
  });
  scene.world.at(100, () => scene.node.peek("DEL", "holdfast:{it}:lock"));
  await scene.until(900);
  expect(lease?.signal.reason).toMatchObject({ code: "LEASE_LOST", reason: "forgotten" });
  expect(scene.node.peek("KEYS", "*")).toEqual([]);
  await late();
});

/** As with the recipe: the renewal comes when another holds. */
async function late(): Promise<void> {
  const scene = await Scene.open();
  const [a, b] = [scene.program("a"), scene.program("b")];
  const leases: Lease[] = [];
  a.run(async () => {
    leases.push(await a.holdfast().mutex("it", { ttl: TTL_MS }).acquire());
    a.link().block("toNode");
  });
  b.run(async () => {
    await b.sleep(1_500);
    leases.push(await b.holdfast().mutex("it", { ttl: 60_000 }).acquire());
  });
  const held = (): Reply | undefined => scene.node.peek("GET", "holdfast:{it}:lock");
  const leftMs = (): number => Number(scene.node.peek("PTTL", "holdfast:{it}:lock")) - 86_400_000;
  await scene.until(2_000);
  const [before, ran] = [held(), scene.scriptsRun];
  a.link().unblock("toNode");
  await scene.until(2_500);
  expect(scene.scriptsRun).toBeGreaterThan(ran); // it came
  expect(leases.map(({ valid }) => valid)).toEqual([false, true]);
  expect(before).toContain(leases[1]?.id);
  expect(held()).toBe(before);
  expect(leftMs()).toBeLessThan(59_500);
}

/** Commands per hand-over, with so many who wait. */
async function commandsPerHandOver(
  waiters: number,
  section: (program: Program, work: () => Promise<void>) => Promise<void>,
): Promise<number> {
  const scene = await Scene.open();
  let [handOvers, before, after] = [0, 0, 0];
  const calls = (): number => {
    const stats = String(scene.node.peek("INFO", "commandstats"));
    const sent = [...stats.matchAll(/cmdstat_(\w+):calls=(\d+)/g)];
    return sent.reduce(
      (sum, [, name, count]) => sum + (/^(set|eval|evalsha|get)$/.test(name ?? "") ? Number(count) : 0),
      0,
    );
  };
  for (let place = 0; place < waiters; place++) {
    const program = scene.program(`w${place}`);
    program.run(async () => {
      await program.sleep(place % 50);
      for (;;) {
        await section(program, async () => {
          await program.sleep(20);
          handOvers += 1;
        });
      }
    });
  }
  scene.world.at(1_500, () => {
    before = calls();
    handOvers = 0;
  });
  scene.world.at(3_500, () => {
    after = calls();
  });
  await scene.until(3_500);
  expect(handOvers).toBeGreaterThan(10);
  return (after - before) / handOvers;
}

const naiveLocks = new WeakMap<Program, NaiveLock>();
const polling = async (program: Program, work: () => Promise<void>): Promise<void> => {
  const lock = naiveLocks.get(program) ?? new NaiveLock(program, { ttlMs: 30_000 });
  naiveLocks.set(program, lock);
  await lock.acquire();
  await work();
  await lock.release();
};

const locks = new WeakMap<Program, ReturnType<Program["holdfast"]>>();
const waiting = async (program: Program, work: () => Promise<void>): Promise<void> => {
  const hf = locks.get(program) ?? program.holdfast();
  locks.set(program, hf);
  const lease = await hf.mutex("it", { localTurns: 1 }).acquire({ wait: 60_000 });
  await work();
  await lease.release();
};

test("polling: commands per hand-over grow with the waiters [breaks H65]", async () => {
  const [few, many] = [await commandsPerHandOver(10, polling), await commandsPerHandOver(100, polling)];
  expect(many).toBeGreaterThan(few * 4);
});

test("commands per hand-over are the same for 10 waiters and for 100 [H65]", async () => {
  const [few, many] = [await commandsPerHandOver(10, waiting), await commandsPerHandOver(100, waiting)];
  expect(few).toBeLessThan(14);
  expect(many).toBeLessThan(few * 1.5);
});

/** `b` waits and dies, `c` stands behind it. After how much time it had the lock that `a` gave back. */
async function behindTheDead(
  waitOf: (program: Program) => Promise<unknown>,
  releaseMs = 1_000,
): Promise<number> {
  const scene = await Scene.open();
  const [a, b, c] = [scene.program("a"), scene.program("b"), scene.program("c")];
  let hadMs = Number.POSITIVE_INFINITY;
  const atMs = async (program: Program, ms: number): Promise<void> => program.sleep(ms - program.nowMs);
  a.run(async () => {
    const held = (await waitOf(a)) as { release(): Promise<unknown> };
    await atMs(a, releaseMs);
    await held.release();
  });
  b.run(async () => {
    await atMs(b, 100);
    await waitOf(b);
  });
  c.run(async () => {
    await atMs(c, 200);
    await waitOf(c);
    hadMs = c.nowMs;
  });
  scene.world.at(500, () => b.process.kill("vanish"));
  await scene.until(60_000);
  return hadMs - releaseMs;
}

test("a line without signs of life stands still behind a dead waiter [breaks H66]", async () => {
  const wait = async (program: Program) => {
    const client = program.client();
    await client.call("RPUSH", "line", program.name);
    while ((await client.call("LINDEX", "line", "0")) !== program.name) await program.sleep(100);
    return { release: () => client.call("LPOP", "line") };
  };
  expect(await behindTheDead(wait)).toBe(Number.POSITIVE_INFINITY);
});

test("a dead waiter delays the next by its ttl at most [H66]", async () => {
  const wait = (program: Program) =>
    program.holdfast().mutex("it", { ttl: TTL_MS }).acquire({ wait: 50_000 });
  const delayMs = await behindTheDead(wait);
  expect(delayMs).toBeGreaterThan(TTL_MS * 0.3); // it was still taken for alive
  expect(delayMs).toBeLessThan(TTL_MS + 100);
  expect(await behindTheDead(wait, 3_000)).toBeLessThan(100); // by then it is known to be dead
});

test("a renewal that nothing ends keeps the lock of work that failed [breaks H67]", async () => {
  const scene = await Scene.open();
  const a = scene.program("a");
  a.run(async () => {
    const lock = new NaiveLock(a, { ttlMs: TTL_MS });
    await lock.acquire();
    a.run(async () => {
      for (;;) {
        await a.sleep(TTL_MS / 3);
        await lock.extend();
      }
    });
    try {
      throw new Error("the work failed");
    } catch {} // and the release was never reached
  });
  await scene.until(120_000);
  expect(scene.node.peek("GET", "it")).toBe("a");
});

test("run() gives back what failed, and maxHold ends what hangs [H67]", async () => {
  const scene = await Scene.open();
  const a = scene.program("a");
  const failures: unknown[] = [];
  let hanging: Lease | undefined;
  a.run(async () => {
    const hf = a.holdfast();
    await hf
      .mutex("it", { ttl: TTL_MS })
      .run(() => {
        throw new Error("the work failed");
      })
      .catch((error) => failures.push(error));
    expect(await hf.mutex("it").tryAcquire()).not.toBe(null);
    void hf.mutex("hangs", { ttl: TTL_MS, maxHold: 5_000 }).run(async (lease) => {
      hanging = lease;
      await new Promise(() => {});
    });
  });
  const state = (): string => String(scene.node.peek("PTTL", "holdfast:{hangs}:lock"));
  await scene.until(4_900);
  expect([hanging?.valid, Number(state()) > 86_400_000]).toEqual([true, true]);
  await scene.until(6_500);
  expect([hanging?.valid, Number(state()) > 86_400_000]).toEqual([false, false]);
  expect(hanging?.signal.reason).toMatchObject({ reason: "max-hold" });
  expect(failures).toMatchObject([{ message: "the work failed" }]);
});

test("a release that throws hides the error of the work [breaks H72]", async () => {
  const scene = await Scene.open();
  const a = scene.program("a");
  let error: Error | undefined;
  a.run(async () => {
    const lock = new NaiveLock(a, { ttlMs: TTL_MS });
    await lock.acquire();
    const work = async (): Promise<void> => {
      a.process.stall(2_000);
      throw new Error("the work failed");
    };
    const release = async (): Promise<void> => {
      if (!(await lock.release())) throw new Error("the lock was lost"); // as redlock does
    };
    error = await failure(work().finally(release));
  });
  await scene.until(5_000);
  expect(error?.message).toBe("the lock was lost");
});

test("the error of the work comes out, and the loss of the lease is there to be seen [H72]", async () => {
  const scene = await Scene.open();
  const a = scene.program("a");
  let error: Error | undefined;
  let reason: unknown;
  a.run(async () => {
    const mutex = a.holdfast().mutex("it", { ttl: TTL_MS });
    const work = mutex.run((lease) => {
      a.process.stall(2_000);
      const { signal } = lease;
      reason = signal.reason;
      throw new Error("the work failed");
    });
    error = await failure(work);
  });
  await scene.until(5_000);
  expect(error?.message).toBe("the work failed");
  expect(reason).toBeInstanceOf(LeaseLostError);
});
