/** A and D, as far as they concern counts: who says what time it is, and whether a count ends. */
import type { Limit } from "holdfast";
import { expect } from "vitest";
import { hazardTest as test } from "./hazard-tests.js";
import { type Program, Scene } from "./scene.js";

const HOUR_MS = 3_600_000;
const PER_MS = 10_000;
const MAX = 3;

/** Members with the time by the client's clock, as sorted sets are used for semaphores and limits: it evicts, adds, and looks. */
const DATED = `
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[1] - ARGV[2])
  if redis.call('ZCARD', KEYS[1]) >= ARGV[3] + 0 then return 0 end
  redis.call('ZADD', KEYS[1], ARGV[1], ARGV[4])
  return 1`;

async function dated(
  program: Program,
  { max, perMs, member }: { max: number; perMs: number; member: string },
) {
  const { wallMs } = program.process.clock.now();
  const words = [String(wallMs), String(perMs), String(max), member];
  return (await program.client().call("EVAL", DATED, "1", "dated", ...words)) === 1;
}

test("a semaphore that dates its members by the clients' clocks: a fast one evicts the living [breaks H11]", async () => {
  const scene = await Scene.open();
  const [a, fast] = [scene.program("a"), scene.program("fast", { wallOffsetMs: 60_000 })];
  const taken: string[] = [];
  const take = async (program: Program): Promise<void> => {
    if (await dated(program, { max: 1, perMs: PER_MS, member: program.name })) taken.push(program.name);
  };
  a.run(() => take(a));
  fast.run(async () => {
    await fast.sleep(500);
    await take(fast);
  });
  await scene.until(2_000);
  expect(taken).toEqual(["a", "fast"]);
});

test("a fast client takes no permit that is held: the server's clock decides [H11]", async () => {
  const scene = await Scene.open();
  const [a, fast] = [scene.program("a"), scene.program("fast", { wallOffsetMs: 60_000 })];
  const taken: string[] = [];
  const take = async (program: Program): Promise<void> => {
    const semaphore = program.holdfast().semaphore("it", { permits: 1, ttl: PER_MS });
    if (await semaphore.tryAcquire()) taken.push(program.name);
  };
  a.run(() => take(a));
  fast.run(async () => {
    await fast.sleep(500);
    await take(fast);
  });
  await scene.until(2_000);
  expect(taken).toEqual(["a"]);
});

/** GCRA with the time of the server, as it is found: the time at which the bucket is full again is kept, and compared. */
const GCRA = `
  local time = redis.call('TIME')
  local now, full = time[1] * 1000 + time[2] / 1000, redis.call('GET', KEYS[1])
  full = math.max(now, tonumber(full or now)) + ARGV[1] / ARGV[2]
  if full - now > ARGV[1] + 0 then return 0 end
  redis.call('SET', KEYS[1], full)
  return 1`;

/** When calls are admitted that are made every second, where the server's clock is set back by an hour after the burst. */
async function admittedMs(take: (program: Program) => Promise<boolean>): Promise<number[]> {
  const scene = await Scene.open();
  const a = scene.program("a");
  const admitted: number[] = [];
  a.run(async () => {
    for (let count = 0; count < MAX; count++) expect(await take(a)).toBe(true);
    scene.node.valkey.clock.step(-HOUR_MS);
    const fromMs = a.nowMs;
    while (a.nowMs < fromMs + 10 * PER_MS) {
      await a.sleep(1_000);
      if (await take(a)) admitted.push(a.nowMs - fromMs);
    }
  });
  await scene.until(11 * PER_MS);
  return admitted;
}

test("a server's clock set back: a limiter that compares times denies for the whole step [breaks H13]", async () => {
  const words = ["EVAL", GCRA, "1", "it", String(PER_MS), String(MAX)];
  expect(await admittedMs(async (a) => (await a.client().call(...words)) === 1)).toEqual([]);
});

test("a server's clock set back: a limit admits again after at most one period [H13]", async () => {
  for (const type of ["rolling", "gcra", "window", "sliding"] as const) {
    let limit: Limit | undefined;
    const [firstMs = Number.POSITIVE_INFINITY] = await admittedMs(async (a) => {
      limit ??= a.holdfast().limit("it", { type, max: MAX, per: PER_MS });
      return (await limit.take("x")).ok;
    });
    expect([type, firstMs < PER_MS + 1_100]).toEqual([type, true]);
  }
});

/** How many are admitted within a second, where the wall clocks of two programs are a minute apart. */
async function admittedByTwo(take: (program: Program) => Promise<boolean>): Promise<number> {
  const scene = await Scene.open();
  const programs = [scene.program("a"), scene.program("fast", { wallOffsetMs: 60_000 })];
  let admitted = 0;
  for (const program of programs)
    program.run(async () => {
      for (let count = 0; count < 2 * MAX; count++) {
        await program.sleep(100);
        if (await take(program)) admitted += 1;
      }
    });
  await scene.until(2_000);
  return admitted;
}

test("a limiter that counts by its clients' timestamps admits more where their clocks are apart [breaks H14]", async () => {
  let count = 0;
  const take = (program: Program) => {
    count += 1;
    return dated(program, { max: MAX, perMs: PER_MS, member: String(count) });
  };
  expect(await admittedByTwo(take)).toBeGreaterThan(MAX);
});

test("clients whose clocks are apart: together they are admitted what the limit says [H14]", async () => {
  const limits = new Map<Program, Limit>();
  const admitted = await admittedByTwo(async (program) => {
    const limit =
      limits.get(program) ?? program.holdfast().limit("it", { type: "sliding", max: MAX, per: PER_MS });
    limits.set(program, limit);
    return (await limit.take("x")).ok;
  });
  expect(admitted).toBe(MAX);
});

test("INCR, then EXPIRE: a crash in between blocks a user for ever [breaks H59]", async () => {
  const scene = await Scene.open();
  const [a, b] = [scene.program("a"), scene.program("b")];
  a.run(async () => {
    if ((await a.client().call("INCR", "user")) === 1) a.process.kill();
    await a.client().call("EXPIRE", "user", "10");
  });
  let admitted = 0;
  b.run(async () => {
    for (let count = 0; count < 100; count++) {
      await b.sleep(PER_MS);
      // Nobody but the first sets the end.
      if (Number(await b.client().call("INCR", "user")) <= MAX) admitted += 1;
    }
  });
  await scene.until(101 * PER_MS);
  expect(admitted).toBe(MAX - 1);
  expect(scene.node.peek("PTTL", "user")).toBe(-1);
});

test("a caller that dies at any moment of its call leaves no count for ever [H59]", async () => {
  let counted = 0;
  for (let killMs = 0; killMs < 6; killMs += 0.5) {
    const scene = await Scene.open(Math.round(killMs * 10));
    const a = scene.program("a");
    a.run(() => a.holdfast().limit("it", { type: "window", max: MAX, per: PER_MS }).take("x"));
    scene.world.at(killMs, () => a.process.kill("vanish"));
    await scene.until(1_000);
    const keys = scene.node.peek("KEYS", "*") as string[];
    counted += keys.length;
    for (const key of keys) expect(Number(scene.node.peek("PTTL", key))).toBeGreaterThan(0);
  }
  expect(counted).toBeGreaterThan(0);
});

/** Admissions around the end of a window: as many as possible before it, and as many as possible after it. */
async function admittedAtTheEdge(take: (program: Program) => Promise<boolean>): Promise<number> {
  const scene = await Scene.open();
  const a = scene.program("a");
  let admitted = 0;
  a.run(async () => {
    await a.sleep(PER_MS - (a.process.wallMs % PER_MS) + PER_MS - 500);
    for (let count = 0; count < 10; count++) {
      if (await take(a)) admitted += 1;
      await a.sleep(100);
    }
  });
  await scene.until(3 * PER_MS);
  return admitted;
}

test("a fixed window admits twice its limit at its edge [breaks H61]", async () => {
  const admitted = await admittedAtTheEdge(async (a) => {
    const key = `user:${Math.floor(a.process.wallMs / PER_MS)}`;
    return Number(await a.client().call("INCR", key)) <= MAX;
  });
  expect(admitted).toBe(2 * MAX);
});

test("a sliding limit has no edge [H61]", async () => {
  let limit: Limit | undefined;
  const admitted = await admittedAtTheEdge(async (a) => {
    limit ??= a.holdfast().limit("it", { type: "sliding", max: MAX, per: PER_MS });
    return (await limit.take("x")).ok;
  });
  expect(admitted).toBe(MAX);
});
