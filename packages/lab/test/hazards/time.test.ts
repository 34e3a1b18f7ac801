import { type Lease, LeaseLostError, StaleTokenError } from "holdfast";
import { expect } from "vitest";
import { hazardTest as test } from "./hazard-tests.js";
import { NaiveLock } from "./naive.js";
import { failure, heard, type Program, Scene } from "./scene.js";

const TTL_MS = 1_000;

/** `b` takes the lock, and writes. */
function next(b: Program, told: { lease?: Lease } = {}): void {
  b.run(async () => {
    await b.sleep(200);
    const hf = b.holdfast();
    told.lease = await hf.mutex("it", { ttl: TTL_MS }).acquire();
    await hf.record("it").get({ fence: told.lease });
    await hf.record("it").put("b", { fence: told.lease });
  });
}

function nextNaive(b: Program): void {
  b.run(async () => {
    await b.sleep(200);
    const lock = new NaiveLock(b, { ttlMs: TTL_MS });
    await lock.acquire();
    await lock.client.call("SET", "data", "b");
  });
}

test("SET NX PX: a paused holder overwrites what the next one wrote [breaks H01]", async () => {
  const scene = await Scene.open();
  const [a, b] = [scene.program("a"), scene.program("b")];
  a.run(async () => {
    const lock = new NaiveLock(a, { ttlMs: TTL_MS });
    await lock.acquire();
    await a.sleep(500);
    await lock.client.call("SET", "data", "a");
  });
  nextNaive(b);
  scene.world.at(300, () => a.process.pause());
  scene.world.at(3_000, () => a.process.resume());
  await scene.until(2_900);
  expect(scene.node.peek("GET", "data")).toBe("b");
  await scene.until(5_000);
  expect(scene.node.peek("GET", "data")).toBe("a");
});

test("a paused holder is refused by the record, knows at its first look, and is told [H01]", async () => {
  const scene = await Scene.open();
  const [a, b] = [scene.program("a"), scene.program("b")];
  const other: { lease?: Lease } = {};
  let valid: boolean | undefined;
  let refusal: Error | undefined;
  let reason: unknown;
  a.run(async () => {
    const hf = a.holdfast();
    const lease = await hf.mutex("it", { ttl: TTL_MS }).acquire();
    const { signal } = lease;
    await hf.record("it").get({ fence: lease });
    await a.sleep(500);
    valid = lease.valid;
    refusal = await failure(hf.record("it").put("a", { fence: lease }));
    reason = signal.reason;
  });
  next(b, other);
  scene.world.at(300, () => a.process.pause());
  scene.world.at(3_000, () => a.process.resume());
  await scene.until(5_000);
  expect(valid).toBe(false);
  expect(refusal).toBeInstanceOf(StaleTokenError);
  expect(refusal).toMatchObject({ seen: other.lease?.fence });
  expect(reason).toBeInstanceOf(LeaseLostError);
  expect(scene.node.peek("HGET", "holdfast:{it}:record:it", "value")).toBe('j"b"');
});

test("SET NX PX: a write that was held up in the network lands after the next holder's [breaks H02]", async () => {
  const scene = await Scene.open();
  const [a, b] = [scene.program("a"), scene.program("b")];
  a.run(async () => {
    const lock = new NaiveLock(a, { ttlMs: TTL_MS });
    await lock.acquire();
    await a.sleep(100);
    a.link().block("toNode");
    await lock.client.call("SET", "data", "a");
  });
  nextNaive(b);
  scene.world.at(3_000, () => a.link().unblock("toNode"));
  await scene.until(5_000);
  expect(scene.node.peek("GET", "data")).toBe("a");
});

test("a write that was held up in the network is refused by the record [H02]", async () => {
  const scene = await Scene.open();
  const [a, b] = [scene.program("a"), scene.program("b")];
  let outcome: Error | undefined;
  let validAtWrite: boolean | undefined;
  a.run(async () => {
    const hf = a.holdfast({ callTimeout: 10_000 });
    const lease = await hf.mutex("it", { ttl: TTL_MS }).acquire();
    await hf.record("it").get({ fence: lease });
    await a.sleep(100);
    a.link().block("toNode");
    validAtWrite = lease.valid;
    outcome = await failure(hf.record("it").put("a", { fence: lease }));
  });
  next(b);
  scene.world.at(3_000, () => a.link().unblock("toNode"));
  await scene.until(9_000);
  expect(validAtWrite).toBe(true);
  expect(outcome).toBeInstanceOf(StaleTokenError);
  expect(scene.node.peek("HGET", "holdfast:{it}:record:it", "value")).toBe('j"b"');
});

/** A section of three steps, the second of which waits for an answer while another callback blocks the loop. */
async function steps(seed: number, mayGoOn: (lease: Lease) => boolean) {
  const scene = await Scene.open(seed);
  const a = scene.program("a");
  const seen: { mayGoOn: boolean; late: boolean }[] = [];
  a.run(async () => {
    const lease = await a.holdfast().mutex("it", { ttl: TTL_MS }).acquire();
    const client = a.client();
    const { signal } = lease;
    await client.call("PING");
    const endMs = a.nowMs + lease.remainingMs;
    a.link().delayMs = [10, 20];
    a.process.after(100, () => a.process.stall(2_000));
    await a.sleep(95);
    await client.call("GET", "data"); // its answer comes during the stall
    seen.push({ mayGoOn: mayGoOn(lease) && !signal.aborted, late: a.nowMs > endMs });
  });
  await scene.until(10_000);
  return seen;
}

const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];

test("a section that believes a signal goes on after its lease: an answer came before the timer [breaks H03]", async () => {
  const seen = (await Promise.all(SEEDS.map((seed) => steps(seed, () => true)))).flat();
  expect(seen.filter(({ late }) => late)).toHaveLength(SEEDS.length);
  expect(seen.some(({ late, mayGoOn }) => late && mayGoOn)).toBe(true);
});

test("check() refuses every step after the lease, in whichever order timers and answers come [H03]", async () => {
  const check = (lease: Lease): boolean => {
    try {
      lease.check();
      return true;
    } catch (error) {
      expect(error).toMatchObject({ code: "LEASE_LOST", reason: "expired" });
      return false;
    }
  };
  const seen = (await Promise.all(SEEDS.map((seed) => steps(seed, check)))).flat();
  expect(seen).toEqual(SEEDS.map(() => ({ mayGoOn: false, late: true })));
});

test("after a long computation the signal still says that all is well [breaks H04]", async () => {
  const scene = await Scene.open();
  const a = scene.program("a");
  let aborted: boolean | undefined;
  a.run(async () => {
    const { signal } = await a.holdfast().mutex("it", { ttl: TTL_MS }).acquire();
    await a.sleep(100);
    a.process.stall(2_500);
    await Promise.resolve();
    aborted = signal.aborted;
  });
  await scene.until(5_000);
  expect(aborted).toBe(false);
});

test("after a long computation the lease is over, and says for how long [H04]", async () => {
  const scene = await Scene.open();
  const a = scene.program("a");
  const lost = heard("holdfast:lock:lost");
  let error: unknown;
  a.run(async () => {
    const lease = await a.holdfast().mutex("it", { ttl: TTL_MS }).acquire();
    await a.sleep(100);
    a.process.stall(2_500);
    try {
      lease.check();
    } catch (thrown) {
      error = thrown;
    }
  });
  await scene.until(5_000);
  expect(error).toMatchObject({ code: "LEASE_LOST", reason: "expired" });
  const { lateMs } = error as LeaseLostError;
  expect(lateMs).toBeGreaterThan(1_500);
  expect(lateMs).toBeLessThan(2_500);
  expect(lost).toMatchObject([{ reason: "expired", lateMs }]);
});

test("asking the server before each write does not help: the pause comes in between [breaks H05]", async () => {
  const scene = await Scene.open();
  const [a, b] = [scene.program("a"), scene.program("b")];
  a.run(async () => {
    const lock = new NaiveLock(a, { ttlMs: TTL_MS });
    await lock.acquire();
    await a.sleep(100);
    if (!(await lock.isHeld())) return;
    a.process.stall(3_000);
    await lock.client.call("SET", "data", "a");
  });
  nextNaive(b);
  await scene.until(6_000);
  expect(scene.node.peek("GET", "data")).toBe("a");
});

test("a pause between the check and the write, wherever it falls, never overwrites the next holder [H05]", async () => {
  // What became of the write of `a`: it was in time, it was refused, or `a` had not come so far.
  const outcomes: string[] = [];
  for (let pausedAtMs = 90; pausedAtMs < 110; pausedAtMs += 3.3) {
    for (const inBetween of [false, true]) {
      const scene = await Scene.open(Math.round(pausedAtMs * 10));
      const [a, b] = [scene.program("a"), scene.program("b")];
      let outcome = "not sent";
      a.run(async () => {
        const hf = a.holdfast();
        const record = hf.record("it");
        const lease = await hf.mutex("it", { ttl: TTL_MS }).acquire();
        await record.get({ fence: lease });
        await a.sleep(95);
        if (!lease.valid) return;
        if (inBetween) a.process.stall(3_000); // as in the recipe
        outcome = await record.put("a", { fence: lease }).then(
          () => "in time",
          ({ code }) => code,
        );
      });
      next(b);
      if (!inBetween) {
        scene.world.at(pausedAtMs, () => a.process.pause());
        scene.world.at(3_000, () => a.process.resume());
      }
      await scene.until(6_000);
      expect(scene.node.peek("HGET", "holdfast:{it}:record:it", "value")).toBe('j"b"');
      if (inBetween) expect(outcome).toBe("STALE_TOKEN");
      outcomes.push(outcome);
    }
  }
  expect([...new Set(outcomes)].sort()).toEqual(["STALE_TOKEN", "in time", "not sent"]);
});
