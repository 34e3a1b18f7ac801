import { pictureOf, planOf, runPlan, shrink } from "@holdfast/lab/sim";
import { type Clock, Holdfast, type HoldfastOptions, type RedisClientLike } from "holdfast";
import { describe, expect, it } from "vitest";

/** A first look: `npm run test:matrix` has 300, and `npm run soak` draws fresh ones. */
const seeds = 8;
const twice = 2;
const longMs = 240_000;

describe("the mutex under faults", () => {
  it(`keeps its rules on ${seeds} seeds, and the first ${twice} run the same again`, {
    timeout: longMs,
  }, async () => {
    const broken: string[] = [];
    const hashes: string[] = [];
    let grants = 0;
    for (let seed = 1; seed <= seeds; seed++) {
      const outcome = await runPlan(planOf(seed));
      grants += outcome.progress;
      hashes.push(outcome.hash);
      for (const { property, message } of outcome.failures)
        broken.push(`${property}: ${message} (npm run lab -- --seed ${seed})`);
    }
    expect(broken).toEqual([]);
    expect(grants).toBeGreaterThan(seeds * 10);
    expect(new Set(hashes).size).toBe(seeds);
    for (let seed = 1; seed <= twice; seed++)
      expect((await runPlan(planOf(seed))).hash).toBe(hashes[seed - 1]);
  });
});

describe("the time in which nothing is left of any fault", () => {
  it("begins when the last process is awake, however long after the faults that is", async () => {
    const broken: string[] = [];
    for (let seed = 1; seed <= 5; seed++) {
      const drawn = planOf(seed);
      const usual = {
        ttlMs: 500,
        lockDelayMs: 0,
        maxHoldMs: null,
        lingerMs: 0,
        closesAtMs: null,
        callers: 1,
      };
      const processes = drawn.processes.map((process) => ({ ...process, ...usual }));
      // At its first look at the clock.
      const stall = { kind: "stall", target: "p2", atMs: drawn.chaosMs - 300, forMs: 0, value: 8_004 };
      const locks = drawn.locks.slice(0, 1);
      const plan = { ...drawn, processes, locks, thinkMs: 300, calmMs: 6_000, faults: [stall] };
      for (const { property, message } of (await runPlan(plan)).failures)
        broken.push(`${property}: ${message}`);
    }
    expect(broken).toEqual([]);
  });
});

describe("a process that closes, and begins anew", () => {
  it("may wait for its first connection in every life, where its client queues nothing", async () => {
    const broken: string[] = [];
    for (let seed = 1; seed <= 5; seed++) {
      const drawn = planOf(seed);
      const client = { unanswered: "resend", offlineQueue: false } as const;
      const own = { ttlMs: 1_000, lockDelayMs: 0, maxHoldMs: null, lingerMs: 0, callers: 1, client };
      const usual = { ...own, takesPairs: false };
      const processes = drawn.processes
        .slice(0, 1)
        .map((process) => ({ ...process, ...usual, closesAtMs: 1_000 }));
      // It asks at once, before it can be connected.
      const plan = { ...drawn, processes, thinkMs: 0, chaosMs: 2_500, calmMs: 0, faults: [] };
      for (const { property, message } of (await runPlan(plan)).failures)
        broken.push(`${property}: ${message}`);
    }
    expect(broken).toEqual([]);
  });
});

describe("a library that trusts a slow clock", () => {
  class Careless extends Holdfast {
    constructor(client: RedisClientLike | string, options: HoldfastOptions = {}) {
      super(client, { ...options, clock: slow(options.clock as Clock) });
    }
  }

  /** Half as fast as it should be. */
  function slow(clock: Clock): Clock {
    const now = () => {
      const { monoMs, wallMs } = clock.now();
      return { monoMs: monoMs / 2, wallMs: wallMs / 2 };
    };
    return { now, setTimer: (callback, delayMs) => clock.setTimer(callback, delayMs * 2) };
  }

  it("is found, made small and drawn", { timeout: longMs }, async () => {
    const options = { holdfast: Careless };
    for (let seed = 1; ; seed++) {
      const outcome = await runPlan(planOf(seed), options);
      if (!outcome.failures.some(({ property }) => property === "L4")) continue;
      const found = { ...outcome, failures: outcome.failures.filter(({ property }) => property === "L4") };
      const { outcome: small } = await shrink(found, options);
      const { faults, processes } = small.plan;
      expect(faults.length).toBeLessThanOrEqual(outcome.plan.faults.length);
      expect(processes.length).toBeLessThanOrEqual(outcome.plan.processes.length);
      expect(small.failures.some(({ property }) => property === "L4")).toBe(true);
      const { text, svg } = pictureOf(small, 100);
      expect(text).toContain(`Seed ${seed}`);
      expect(svg).toMatch(/^<svg/);
      expect((await runPlan(small.plan, options)).hash).toBe(small.hash);
      return;
    }
  });
});
