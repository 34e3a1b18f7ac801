/** A: what clocks do. Each hazard breaks a recipe here, and does not break holdfast. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { program as programOf, ServerProcess } from "@holdfast/conformance";
import { type Lease, StaleTokenError } from "holdfast";
import { Redis } from "ioredis";
import { expect } from "vitest";
import { checkIntervals } from "../../src/history/intervals.js";
import type { Operation } from "../../src/history/operation.js";
import { hazardTest as test } from "./hazard-tests.js";
import { NaiveLock } from "./naive.js";
import { failure, heard, type Program, Scene } from "./scene.js";

const TTL_MS = 1_000;
const STATE = "holdfast:{it}:lock";

/** Holds from now on, by the program's own belief. */
function hold(program: Program, fromMs: number, toMs: number): void {
  program.note({ f: "hold", invMs: fromMs, retMs: toMs, endMs: toMs });
}

test("SET NX PX: a server's clock set forward makes a second holder, and nobody is the wiser [breaks H06]", async () => {
  const scene = await Scene.open();
  for (const name of ["a", "b"]) {
    const program = scene.program(name);
    program.run(async () => {
      if (name === "b") await program.sleep(200);
      await new NaiveLock(program, { ttlMs: 30_000 }).acquire();
      hold(program, program.nowMs, program.nowMs + 30_000);
      await program.client().call("SET", "data", name);
    });
  }
  scene.world.at(1_000, () => scene.node.valkey.clock.step(31_000));
  await scene.until(5_000);
  expect(checkIntervals(scene.operations)).toMatchObject([{ property: "L4" }]);
  expect(scene.node.peek("GET", "data")).toBe("b");
});

test("a server's clock set forward: the second token is larger, the first is refused, and it is told [H06]", async () => {
  const scene = await Scene.open();
  const [a, b] = [scene.program("a"), scene.program("b")];
  const jumps = heard("holdfast:server:clock-jump");
  const leases: Lease[] = [];
  let refusal: Error | undefined;
  a.run(async () => {
    const hf = a.holdfast();
    const lease = await hf.mutex("it", { ttl: 30_000 }).acquire();
    leases.push(lease);
    await a.sleep(5_000);
    refusal = await failure(hf.record("it").put("a", { fence: lease }));
    await hf.mutex("other").tryAcquire();
  });
  b.run(async () => {
    await b.sleep(2_000);
    const hf = b.holdfast();
    const lease = await hf.mutex("it", { ttl: 30_000 }).acquire();
    leases.push(lease);
    await hf.record("it").get({ fence: lease });
  });
  scene.world.at(1_000, () => scene.node.valkey.clock.step(31_000));
  await scene.until(20_000);
  const [first, second] = leases as [Lease, Lease];
  expect(second.fence).toBeGreaterThan(first.fence);
  expect(refusal).toBeInstanceOf(StaleTokenError);
  expect(jumps).toHaveLength(1);
  expect(jumps[0]?.jumpMs).toBeGreaterThan(30_900);
  expect(jumps[0]?.jumpMs).toBeLessThan(31_100);
});

test("SET NX PX: a server's clock set back keeps a dead holder's lock for an hour [breaks H07]", async () => {
  const scene = await Scene.open();
  const [a, b] = [scene.program("a"), scene.program("b")];
  let granted = false;
  a.run(() => new NaiveLock(a, { ttlMs: 30_000 }).acquire());
  b.run(async () => {
    await b.sleep(200);
    await new NaiveLock(b, { ttlMs: 30_000 }).acquire();
    granted = true;
  });
  scene.world.at(100, () => {
    a.process.kill();
    scene.node.valkey.clock.step(-3_600_000);
  });
  await scene.until(60_000);
  expect(granted).toBe(false);
  expect(scene.node.peek("PTTL", "it")).toBeGreaterThan(3_500_000);
});

test("a server's clock set back: a dead holder's lock is granted a ttl after somebody asked [H07]", async () => {
  const scene = await Scene.open();
  const [a, b] = [scene.program("a"), scene.program("b")];
  let grantedMs = 0;
  a.run(() => a.holdfast().mutex("it", { ttl: 30_000 }).acquire());
  b.run(async () => {
    await b.sleep(200);
    await b.holdfast().mutex("it", { ttl: 30_000 }).acquire({ wait: 600_000 });
    grantedMs = b.nowMs;
  });
  scene.world.at(100, () => {
    a.process.kill();
    scene.node.valkey.clock.step(-3_600_000);
  });
  await scene.until(120_000);
  expect(grantedMs).toBeGreaterThan(29_000);
  expect(grantedMs).toBeLessThan(31_000);
});

interface Overlap {
  readonly believes: (a: Program, ttlMs: number) => Promise<() => boolean>;
  /** What happens to `a` at 500 ms. */
  readonly fault?: (a: Program, scene: Scene) => void;
  /** Seconds of its clocks in a true second. */
  readonly rate?: number;
  readonly ttlMs?: number;
}

/** `a` holds for as long as it believes, and no renewal gets through; `b` holds from when the server's lease is over. */
async function overlap({ believes, fault = () => {}, rate = 1, ttlMs = TTL_MS }: Overlap) {
  const scene = await Scene.open(5);
  const [a, b] = [scene.program("a", { rate }), scene.program("b")];
  a.run(async () => {
    const valid = await believes(a, ttlMs);
    a.link().block("toNode");
    const fromMs = a.nowMs;
    let lastMs = fromMs;
    while (a.nowMs < fromMs + 4 * ttlMs) {
      await a.sleep(2);
      if (valid()) lastMs = a.nowMs;
    }
    hold(a, fromMs, lastMs);
  });
  b.run(async () => {
    await b.sleep(50);
    for (let leftMs = leftAtServer(scene); leftMs > 0; leftMs = leftAtServer(scene)) await b.sleep(leftMs);
    hold(b, b.nowMs, b.nowMs + 10 * ttlMs);
  });
  scene.world.at(500, () => fault(a, scene));
  await scene.until(6 * ttlMs);
  const [first, second] = ["a", "b"].map((name) =>
    scene.operations.find(({ process }) => process === name),
  ) as [Operation, Operation];
  const believedMs = Number(first.endMs) - first.invMs;
  return { violations: checkIntervals(scene.operations), believedMs, heldMs: second.invMs - first.invMs };
}

/** What is left of the lease, or of the naive lock, by the server's own clock, which is true. */
function leftAtServer({ node }: Scene): number {
  return Math.max(Number(node.peek("PTTL", "it")), Number(node.peek("PTTL", STATE)) - 86_400_000);
}

async function ofHoldfast(a: Program, ttlMs: number): Promise<() => boolean> {
  const lease = await a.holdfast().mutex("it", { ttl: ttlMs }).acquire();
  return () => lease.valid;
}

/** SET NX PX, and a lease counted by one clock. */
function counted(clock: (a: Program) => number) {
  return async (a: Program, ttlMs: number): Promise<() => boolean> => {
    const lock = new NaiveLock(a, { ttlMs });
    const sinceMs = clock(a);
    await lock.acquire();
    return () => clock(a) < sinceMs + ttlMs;
  };
}

const wall = (a: Program): number => a.process.clock.now().wallMs;
const mono = (a: Program): number => a.process.clock.now().monoMs;
const setBack = (a: Program): void => a.process.stepWall(-10_000);
const suspend = (a: Program, { world }: Scene): void => {
  a.process.pause("suspend");
  world.at(world.nowMs + 3_000, () => a.process.resume());
};

test("a lease that is measured by the wall clock outlives the server's [breaks H09]", async () => {
  const { violations } = await overlap({ fault: setBack, believes: counted(wall) });
  expect(violations).toMatchObject([{ property: "L4" }]);
});

test("a wall clock that is set back leaves the lease where it is [H09]", async () => {
  const { violations, believedMs } = await overlap({ fault: setBack, believes: ofHoldfast });
  expect(violations).toEqual([]);
  expect(believedMs).toBeGreaterThan(TTL_MS * 0.98);
});

test("a lease that is measured by the monotonic clock alone survives a suspension [breaks H10]", async () => {
  const { violations } = await overlap({ fault: suspend, believes: counted(mono) });
  expect(violations).toMatchObject([{ property: "L4" }]);
});

test("a lease is over at the resume [H10]", async () => {
  const { violations, believedMs } = await overlap({ fault: suspend, believes: ofHoldfast });
  expect(violations).toEqual([]);
  expect(believedMs).toBeGreaterThan(490);
  expect(believedMs).toBeLessThan(500);
});

/** As slow as a clock may be; and 1 % of so long a ttl is much more than whatever else is between a lease and its end. */
const SLOW = { rate: 0.99, ttlMs: 30_000 } as const;

test("a lease that is counted to its full ttl on a slow clock outlives the server's [breaks H12]", async () => {
  const { violations, believedMs, heldMs } = await overlap({ ...SLOW, believes: counted(mono) });
  expect(violations).toMatchObject([{ property: "L4" }]);
  expect(believedMs).toBeGreaterThan(heldMs + 290);
});

test("on a clock that is 1 % slow the lease ends before the server's [H12]", async () => {
  const { violations, believedMs, heldMs } = await overlap({ ...SLOW, believes: ofHoldfast });
  expect(violations).toEqual([]);
  expect(believedMs).toBeLessThan(heldMs);
  expect(believedMs).toBeGreaterThan(SLOW.ttlMs * 0.999); // it was neither cut short nor renewed
  expect(heldMs).toBeLessThan(SLOW.ttlMs + 5);
});

test("setTimeout of more than 2^31 ms fires at once [breaks H15]", async () => {
  const warnings: string[] = [];
  const note = (warning: Error): void => void warnings.push(warning.name);
  process.on("warning", note);
  await new Promise((resolve) => setTimeout(resolve, 2 ** 31)); // 25 days; a test has less
  process.off("warning", note);
  expect(warnings).toContain("TimeoutOverflowWarning");
});

async function printed(program: string): Promise<string> {
  const args = ["--input-type=module", "-e", program];
  return (await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname })).stdout.trim();
}

test("a process that waits for AbortSignal.timeout ends, and its listener never runs [breaks H16]", async () => {
  const program = `
    AbortSignal.timeout(300).addEventListener("abort", () => console.log("released"));
    console.log("waiting");`;
  expect(await printed(program)).toBe("waiting");
});

test("a process that waits by holdfast's clock lives until it rings [H16]", async () => {
  const program = `
    import { systemClock } from "holdfast"; // as it was built
    systemClock.setTimer(() => console.log("released"), 50);
    console.log("waiting");`;
  expect(await printed(program)).toBe("waiting\nreleased");
});

test("a process ends at once when the last of its alarms was cancelled [H16]", async () => {
  const program = `
    import { systemClock } from "holdfast"; // as it was built
    const timer = systemClock.setTimer(() => console.log("too late"), 60_000);
    timer.unref();
    timer.ref();
    timer.unref();
    console.log("done");`;
  expect(await printed(program)).toBe("done");
});

const CLOCK = "local t = redis.call('TIME') local us = t[1] * 1000000 + t[2]";

test("tostring and %d spoil a token [breaks H17]", async () => {
  const { node } = await Scene.open();
  expect(node.peek("EVAL", `${CLOCK} return tostring(us)`, "0")).toMatch(/^1\.\d+e\+15$/);
  expect(node.peek("EVAL", `${CLOCK} return string.format('%d', us)`, "0")).toBe("2147483647");
});

test("a token is the server's clock to the microsecond [H17]", async () => {
  const scene = await Scene.open();
  const a = scene.program("a");
  let lease: Lease | undefined;
  a.run(async () => {
    lease = await a.holdfast().mutex("it").acquire();
  });
  scene.node.valkey.clock.step(0.123);
  await scene.until(1_000);
  const since = String(scene.node.peek("GET", STATE)).split(" ")[2];
  expect(String(lease?.fence)).toBe(since);
  expect(since).toMatch(/^\d{16}$/);
});

const TWO_LOOKS = `
  local a = redis.call('TIME')
  for n = 1, 200000 do local x = n * n end
  local b = redis.call('TIME')
  return (b[1] - a[1]) * 1000000 + b[2] - a[2]`;

test("two looks at the clock in one script differ where the server does not freeze it [breaks H18]", async () => {
  const { node } = await Scene.open();
  // Valkey, and Redis since 7.2, freeze it; Redis 7.0 does not. A script that relies on either is wrong on the other.
  expect(node.peek("EVAL", TWO_LOOKS, "0")).toBe(0);
  const program = programOf("redis-server");
  if (program === "") return;
  const server = await ServerProcess.start({ program });
  const redis = new Redis(server.port, server.host);
  try {
    const [, version = ""] = /redis_version:(\S+)/.exec(await redis.info("server")) ?? [];
    expect([version, Number(await redis.eval(TWO_LOOKS, 0)) > 0]).toEqual([
      version,
      version.startsWith("7.0."),
    ]);
  } finally {
    redis.disconnect();
    await server.stop();
  }
});
