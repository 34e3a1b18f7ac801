/** Locks over several independent servers: plain Redlock, and holdfast/redlock. In virtual time. */
import { type Lease, StaleTokenError } from "holdfast";
import { NoQuorumError, NotOverQuorumError } from "holdfast/redlock";
import { expect } from "vitest";
import type { Node } from "../../src/sim/node.js";
import { hazardTest as test } from "./hazard-tests.js";
import { cutOff, MAX_TTL_MS, PlainRedlock, redlock, servers, TTL_MS } from "./quorum-scene.js";
import { failure, type Program, Scene } from "./scene.js";

type Fault = (node: Node) => void;

const jump: Fault = (node) => node.valkey.clock.step(60_000);
const forget: Fault = (node) => node.restart({ keep: "nothing" });

/** `a` reaches servers 1 to 3, `b` reaches 3 to 5, and the fault strikes server 3 in between. */
async function twoMajorities(fault: Fault): Promise<{ a: boolean; b: boolean }> {
  const scene = await Scene.open();
  const nodes = servers(scene, 5);
  const [a, b] = [scene.program("a"), scene.program("b")];
  const won = { a: false, b: false };
  cutOff(a, nodes.slice(3));
  cutOff(b, nodes.slice(0, 2));
  a.run(async () => {
    won.a = await new PlainRedlock(a, nodes).tryAcquire();
  });
  scene.world.at(500, () => fault(nodes[2] as Node));
  b.run(async () => {
    await b.sleep(1_000);
    won.b = await new PlainRedlock(b, nodes).tryAcquire();
  });
  await scene.until(1_500); // before the lease of a is over
  return won;
}

interface Overtaken {
  readonly first: Lease;
  readonly second: Lease;
  readonly secondAtMs: number;
  readonly firstValidUntilMs: number;
  readonly refusal: Error;
}

/** The same with holdfast/redlock, and `a` writes when `b` has been there. */
async function overtaken(fault: Fault): Promise<Overtaken> {
  const scene = await Scene.open();
  const nodes = servers(scene, 5);
  const [a, b] = [scene.program("a"), scene.program("b")];
  const leases: Lease[] = [];
  let [firstValidUntilMs, secondAtMs] = [0, 0];
  let refusal: Error | undefined;
  cutOff(a, nodes.slice(3));
  cutOff(b, nodes.slice(0, 2));
  a.run(async () => {
    const lease = await redlock(a, nodes).mutex("it", { ttl: TTL_MS }).acquire();
    leases.push(lease);
    lease.signal.addEventListener("abort", () => {
      firstValidUntilMs = a.nowMs;
    });
    await a.sleep(20_000 - a.nowMs);
    refusal = await failure(a.holdfast().record("it").put("a", { fence: lease }));
  });
  scene.world.at(500, () => fault(nodes[2] as Node));
  b.run(async () => {
    await b.sleep(550); // a renews later, which would count where nobody has come in between
    const lease = await redlock(b, nodes).mutex("it", { ttl: TTL_MS }).acquire({ wait: 15_000 });
    secondAtMs = b.nowMs;
    leases.push(lease);
    await b.holdfast().record("it").put("b", { fence: lease });
  });
  await scene.until(25_000);
  const [first, second] = leases as [Lease, Lease];
  expect(scene.node.peek("HGET", "holdfast:{it}:record:it", "value")).toBe('j"b"');
  return { first, second, firstValidUntilMs, secondAtMs, refusal: refusal as Error };
}

test("plain Redlock: the clock of one of five servers jumps, and two majorities hold [breaks H08]", async () => {
  expect(await twoMajorities(jump)).toEqual({ a: true, b: true });
});

test("the clock of one of five servers jumps: two hold, in the order of their tokens, and the first is refused [H08]", async () => {
  const { first, second, refusal } = await overtaken(jump);
  expect(second.fence).toBeGreaterThan(first.fence);
  expect(refusal).toBeInstanceOf(StaleTokenError);
});

test("nodes() tells how far the clock of a server is ahead [H08]", async () => {
  const scene = await Scene.open();
  const nodes = servers(scene, 3);
  jump(nodes[1] as Node);
  const a = scene.program("a");
  let aheadMs: (number | null)[] = [];
  a.run(async () => {
    aheadMs = (await redlock(a, nodes).nodes()).map(({ clockAheadMs }) => clockAheadMs);
  });
  await scene.until(1_000);
  expect(aheadMs.map((ms) => Math.round(Number(ms) / 1_000))).toEqual([0, 60, 0]);
});

test("plain Redlock: one of five servers restarts without its data, and two majorities hold [breaks H40]", async () => {
  expect(await twoMajorities(forget)).toEqual({ a: true, b: true });
});

test("a server that restarted does not vote before every earlier lease is over [H40]", async () => {
  const { first, second, firstValidUntilMs, secondAtMs } = await overtaken(forget);
  expect(secondAtMs).toBeGreaterThan(500 + MAX_TTL_MS);
  expect(firstValidUntilMs).toBeLessThan(secondAtMs);
  expect(second.fence).toBeGreaterThan(first.fence);
});

/** `a` holds at servers 1 and 2 of three; then server 2 is replaced in the list of `b`, who does not reach server 1. */
async function replaced(upForMs: number, hold: (p: Program, nodes: readonly Node[]) => Promise<boolean>) {
  const scene = await Scene.open();
  const nodes = servers(scene, 3);
  const [a, b] = [scene.program("a"), scene.program("b")];
  const won = { a: false, b: false };
  cutOff(a, nodes.slice(2));
  cutOff(b, nodes.slice(0, 1));
  a.run(async () => {
    won.a = await hold(a, nodes);
  });
  b.run(async () => {
    await b.sleep(1_000);
    const fresh = scene.world.node("server 4", { upForMs });
    won.b = await hold(b, [nodes[0] as Node, fresh, nodes[2] as Node]);
  });
  await scene.until(1_900);
  return won;
}

test("plain Redlock: an empty server takes the place of another, and two majorities hold [breaks H55]", async () => {
  const hold = (program: Program, nodes: readonly Node[]) => new PlainRedlock(program, nodes).tryAcquire();
  expect(await replaced(0, hold)).toEqual({ a: true, b: true });
});

test("a server that was started to replace another does not vote at once [H55]", async () => {
  const hold = async (program: Program, nodes: readonly Node[]) =>
    (await redlock(program, nodes)
      .mutex("it", { ttl: TTL_MS })
      .tryAcquire()
      .catch(() => null)) !== null;
  expect(await replaced(0, hold)).toEqual({ a: true, b: false });
});

test("a semaphore that counts at each of three servers lets three in where two may [breaks H71]", async () => {
  const scene = await Scene.open();
  const nodes = servers(scene, 3);
  let entered = 0;
  for (const reached of [nodes.slice(0, 2), nodes.slice(1), [nodes[2] as Node, nodes[0] as Node]]) {
    const program = scene.program(`program ${reached.map(({ name }) => name).join()}`);
    program.run(async () => {
      const counts = await Promise.all(reached.map((node) => program.client({}, node).call("INCR", "it")));
      if (counts.filter((count) => Number(count) <= 2).length >= 2) entered += 1;
    });
  }
  await scene.until(1_000);
  expect(entered).toBe(3);
});

test("a semaphore over a quorum is refused [H71]", async () => {
  const scene = await Scene.open();
  const nodes = servers(scene, 3);
  const a = scene.program("a");
  let error: unknown;
  a.run(async () => {
    const locks = redlock(a, nodes);
    try {
      locks.semaphore();
    } catch (thrown) {
      error = thrown;
    }
  });
  await scene.until(1_000);
  expect(error).toBeInstanceOf(NotOverQuorumError);
});

/** Three programs, each of which is nearest to another server, so that each gets its first vote there. */
async function threeWays(hold: (program: Program, nodes: readonly Node[]) => Promise<void>): Promise<void> {
  const scene = await Scene.open();
  const nodes = servers(scene, 3);
  const programs = nodes.map((_, place) => scene.program(`program ${place + 1}`));
  for (const [place, program] of programs.entries()) {
    for (const [at, node] of nodes.entries()) program.link(node).delayMs = at === place ? [1, 1] : [5, 5];
    program.run(() => hold(program, nodes));
  }
  await scene.until(20_000);
}

test("plain Redlock: three that ask at once, and again after the same time, get one server each for ever [breaks H75]", async () => {
  let won = 0;
  await threeWays(async (program, nodes) => {
    const lock = new PlainRedlock(program, nodes);
    for (let tries = 0; tries < 50; tries++) {
      if (await lock.tryAcquire()) won += 1;
      await program.sleep(200 - (program.nowMs % 200));
    }
  });
  expect(won).toBe(0);
});

test("three that ask at once, each with one server, all hold in turn [H75]", async () => {
  const heldMs: number[] = [];
  await threeWays(async (program, nodes) => {
    const lease = await redlock(program, nodes).mutex("it", { ttl: TTL_MS }).acquire({ wait: 10_000 });
    heldMs.push(program.nowMs);
    await program.sleep(10);
    expect(lease.valid).toBe(true);
    await lease.release();
  });
  expect(heldMs).toHaveLength(3);
  expect(Math.max(...heldMs)).toBeLessThan(1_000);
});

test("plain Redlock with half of four servers: two hold [breaks H76]", async () => {
  const scene = await Scene.open();
  const nodes = servers(scene, 4);
  const programs = [scene.program("a"), scene.program("b")];
  let won = 0;
  for (const [place, program] of programs.entries()) {
    cutOff(program, place === 0 ? nodes.slice(2) : nodes.slice(0, 2));
    program.run(async () => {
      if (await new PlainRedlock(program, nodes, { quorum: 2 }).tryAcquire()) won += 1;
    });
  }
  await scene.until(1_000);
  expect(won).toBe(2);
});

test("over four servers three must grant: with half of them nobody holds [H76]", async () => {
  const scene = await Scene.open();
  const nodes = servers(scene, 4);
  const programs = [scene.program("a"), scene.program("b")];
  const errors: Error[] = [];
  for (const [place, program] of programs.entries()) {
    cutOff(program, place === 0 ? nodes.slice(2) : nodes.slice(0, 2));
    program.run(async () => {
      errors.push(await failure(redlock(program, nodes).mutex("it", { ttl: TTL_MS }).tryAcquire()));
    });
  }
  await scene.until(5_000);
  expect(errors).toMatchObject([{ needed: 3 }, { needed: 3 }]);
  expect(errors.every((error) => error instanceof NoQuorumError)).toBe(true);
});

/** What two servers of three answer to `a` arrives when the leases that they tell of are over. */
async function lateAnswers(hold: (program: Program, nodes: readonly Node[]) => Promise<boolean>) {
  const scene = await Scene.open();
  const nodes = servers(scene, 3);
  const a = scene.program("a");
  let won: boolean | undefined;
  a.run(async () => {
    won = await hold(a, nodes);
  });
  const late = nodes.slice(1);
  scene.world.at(5, () => {
    for (const node of late) a.link(node).block("toProcess");
  });
  scene.world.at(TTL_MS + 500, () => {
    for (const node of late) a.link(node).unblock("toProcess");
  });
  await scene.until(8_000);
  return { won, holders: nodes.map((node) => node.peek("GET", "it")), nodes };
}

test("a majority that is counted without a look at the clock is over before it is had [breaks H77]", async () => {
  const { won, holders } = await lateAnswers(async (program, nodes) => {
    const lock = new PlainRedlock(program, nodes, { patienceMs: 10_000, checksTime: false });
    await program.sleep(10);
    return lock.tryAcquire();
  });
  expect(won).toBe(true);
  expect(holders).toEqual([null, null, null]);
});

test("grants that arrive too late are not counted, and are given back [H77]", async () => {
  const { won, nodes } = await lateAnswers(async (program, all) => {
    const locks = redlock(program, all);
    await program.sleep(10);
    return (
      (await locks
        .mutex("it", { ttl: TTL_MS })
        .tryAcquire()
        .catch(() => null)) !== null
    );
  });
  expect(won).toBe(false);
  for (const node of nodes)
    expect(String(node.peek("GET", "holdfast:{it}:lock") ?? "")).toMatch(/^(\d{16}.)?$/);
});

test("plain Redlock with one server twice in its list: when that one stops, the majority is gone [breaks H78]", async () => {
  const scene = await Scene.open();
  const [one, other] = servers(scene, 2) as [Node, Node];
  const a = scene.program("a");
  const won: boolean[] = [];
  a.run(async () => {
    const lock = new PlainRedlock(a, [one, one, other]);
    won.push(await lock.tryAcquire());
    await lock.release();
    one.crash();
    won.push(await lock.tryAcquire());
  });
  await scene.until(2_000);
  expect(won).toEqual([true, false]);
});

test("one server twice in the list votes once, and nodes() says so [H78]", async () => {
  const scene = await Scene.open();
  const [one, other] = servers(scene, 2) as [Node, Node];
  const a = scene.program("a");
  const errors: Error[] = [];
  let reasons: (string | null)[] = [];
  a.run(async () => {
    const locks = redlock(a, [one, one, other]);
    reasons = (await locks.nodes()).map(({ reason }) => reason);
    other.crash();
    errors.push(await failure(locks.mutex("it", { ttl: TTL_MS }).tryAcquire()));
  });
  await scene.until(2_000);
  // The one that answers first keeps its vote. The other names it.
  const twinOf = (vote: number) => expect.stringContaining(`it is the same server as node ${vote}:`);
  expect([
    [null, twinOf(1), null],
    [twinOf(2), null, null],
  ]).toContainEqual(reasons);
  expect(errors[0]).toBeInstanceOf(NoQuorumError);
  expect(errors[0]?.message).toMatch(/same server/);
});
