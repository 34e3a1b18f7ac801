/** B: what client libraries and networks do. Each hazard breaks a recipe here, and does not break holdfast. */

import { IndeterminateError, type Lease, UnavailableError } from "holdfast";
import { expect } from "vitest";
import { checkIntervals } from "../../src/history/intervals.js";
import type { Operation } from "../../src/history/operation.js";
import { hazardTest as test } from "./hazard-tests.js";
import { NaiveLock } from "./naive.js";
import { failure, type Program, Scene } from "./scene.js";

const TTL_MS = 1_000;
const STATE = "holdfast:{it}:lock";

/** Who holds, as the server says. */
function holder({ node }: Scene): string | null {
  const state = node.peek("GET", STATE);
  const expiryMs = Number(node.peek("PTTL", STATE));
  return typeof state === "string" && state.length > 17 && expiryMs > 86_400_000 ? state : null;
}

test("SET NX is sent again and says no, while the caller holds the lock [breaks H20]", async () => {
  const scene = await Scene.open();
  const a = scene.program("a");
  let acquired: boolean | undefined;
  a.run(async () => {
    const lock = new NaiveLock(a, { ttlMs: 30_000 });
    await lock.client.call("PING");
    a.link().loseNext("after");
    acquired = await lock.tryAcquire();
  });
  await scene.until(2_000);
  expect([acquired, scene.node.peek("GET", "it")]).toEqual([false, "a"]);
});

test("an acquire that is sent again succeeds, with one token [H20, H21]", async () => {
  const scene = await Scene.open();
  const a = scene.program("a");
  const leases: (Lease | null)[] = [];
  a.run(async () => {
    const hf = a.holdfast();
    await hf.mutex("other").tryAcquire();
    const mutex = hf.mutex("it", { localTurns: 1 });
    const ways = [
      () => mutex.tryAcquire(),
      () => mutex.acquire(),
      () => mutex.tryAcquire({ floor: 1n }), // by another script
    ];
    for (const acquire of ways) {
      const ranBefore = scene.scriptsRun;
      a.link().loseNext("after");
      const lease = await acquire();
      leases.push(lease);
      expect(scene.scriptsRun - ranBefore).toBeGreaterThan(1);
      const [, token] = / (\d{16}) \d{16} /.exec(String(scene.node.peek("GET", STATE))) ?? [];
      expect(String(lease?.fence)).toBe(token);
      await lease?.release();
    }
  });
  await scene.until(5_000);
  const fences = leases.map((lease) => lease?.fence ?? 0n);
  expect(fences).toHaveLength(3);
  expect(fences.toSorted((one, other) => (one < other ? -1 : 1))).toEqual(fences);
  expect(new Set([...fences, 0n]).size).toBe(4);
});

test("INCR is sent again: two tokens for one grant [breaks H21]", async () => {
  const scene = await Scene.open();
  const a = scene.program("a");
  let token: unknown;
  a.run(async () => {
    const client = a.client();
    await client.call("PING");
    a.link().loseNext("after");
    token = await client.call("INCR", "tokens");
  });
  await scene.until(2_000);
  expect(token).toBe(2);
});

test("a client that never settles a call hangs its caller for good [breaks H19, H24]", async () => {
  const scene = await Scene.open();
  const a = scene.program("a");
  let settled = false;
  a.run(async () => {
    const lock = new NaiveLock(a, { client: a.client({ unanswered: "forget" }) });
    await lock.client.call("PING");
    a.link().loseNext("after");
    await lock.tryAcquire();
    settled = true;
  });
  await scene.until(600_000);
  expect(settled).toBe(false);
});

test("every call settles within its limit, although the client settles none [H24]", async () => {
  const scene = await Scene.open();
  const a = scene.program("a");
  const took: Record<string, number> = {};
  const failures: unknown[] = [];
  const timed = async (title: string, call: () => Promise<unknown>): Promise<void> => {
    const sinceMs = a.nowMs;
    await call().catch((error) => failures.push(error));
    took[title] = a.nowMs - sinceMs;
  };
  a.run(async () => {
    const hf = a.holdfast({ client: { unanswered: "forget" }, callTimeout: 500 });
    const lease = await hf.mutex("it").acquire();
    const mutex = hf.mutex("other", { localTurns: 1 });
    a.link().block("toNode");
    await timed("try", () => mutex.tryAcquire());
    await timed("acquire", () => mutex.acquire({ wait: 1_000 }));
    await timed("enter", () => hf.record("it").get({ fence: lease }));
    await timed("release", async () => expect(await lease.release()).toBe("unknown"));
    await timed("close", () => hf.close());
  });
  await scene.until(60_000);
  expect(Object.keys(took)).toEqual(["try", "acquire", "enter", "release", "close"]);
  for (const ms of Object.values(took)) expect(ms).toBeLessThan(1_500);
  expect(failures).toHaveLength(3);
  for (const error of failures) expect(error).toBeInstanceOf(IndeterminateError);
});

/** `a` asks while the server cannot be reached, gives up, and the server comes back. */
async function givenUp(
  fault: (scene: Scene) => void,
  heal: (scene: Scene) => void,
  ask: (a: Program) => Promise<void>,
) {
  const scene = await Scene.open();
  const a = scene.program("a");
  a.run(() => ask(a));
  scene.world.at(100, () => fault(scene));
  scene.world.at(10_000, () => heal(scene));
  await scene.until(20_000);
  return scene;
}

const stop = ({ node }: Scene): void => node.crash();
const start = ({ node }: Scene): void => node.restart();
const freeze = ({ node }: Scene): void => node.pause();
const thaw = ({ node }: Scene): void => node.resume();

async function askNaive(a: Program): Promise<void> {
  const lock = new NaiveLock(a, { ttlMs: 60_000 });
  await a.sleep(500);
  await Promise.race([lock.tryAcquire(), a.sleep(1_000)]); // and goes on without it
}

/** @param expected how both attempts end */
function asking(expected: typeof IndeterminateError | typeof UnavailableError) {
  return async (a: Program): Promise<void> => {
    const hf = a.holdfast();
    await hf.mutex("other", { ttl: 60_000 }).tryAcquire();
    await a.sleep(500);
    expect(await failure(hf.mutex("it", { ttl: 60_000 }).tryAcquire())).toBeInstanceOf(expected);
    const wait = hf.mutex("it", { ttl: 60_000 }).acquire({ wait: 1_500 });
    expect(await failure(wait)).toBeInstanceOf(expected);
  };
}

test("SET NX from the offline queue takes the lock for nobody [breaks H25]", async () => {
  const { node } = await givenUp(stop, start, askNaive);
  expect(node.peek("GET", "it")).toBe("a");
});

const TOKEN_GIVEN = /^\d*[1-9]/;

/** It came all the same, and was granted to nobody: the last token is there, and no holder. */
function expectGivenBack(scene: Scene): void {
  expect(scene.node.peek("GET", STATE)).toMatch(/^[1-9]\d{15}.$/);
}

test("an acquire that was given up while offline leaves no holder [H25]", async () => {
  const scene = await givenUp(stop, start, asking(UnavailableError));
  // It was not sent, then or later: no token has ever been given for the name, and the first who asks has it.
  expect(String(scene.node.peek("GET", STATE))).not.toMatch(TOKEN_GIVEN);
  const b = scene.program("b");
  const leases: (Lease | null)[] = [];
  b.run(async () => void leases.push(await b.holdfast().mutex("it").tryAcquire()));
  await scene.until(21_000);
  expect(leases).toEqual([expect.objectContaining({ valid: true })]);
});

test("SET NX at a server that stood still takes the lock for nobody [breaks H26]", async () => {
  const { node } = await givenUp(freeze, thaw, askNaive);
  expect(node.peek("GET", "it")).toBe("a");
});

test("an acquire at a server that stood still leaves no holder when it goes on [H26]", async () => {
  expectGivenBack(await givenUp(freeze, thaw, asking(IndeterminateError)));
});

test("a release that throws when the key is gone says that a release failed which was carried out [breaks H27]", async () => {
  const scene = await Scene.open();
  const a = scene.program("a");
  let released: boolean | undefined;
  a.run(async () => {
    const lock = new NaiveLock(a);
    await lock.acquire();
    a.link().loseNext("after");
    released = await lock.release(); // redlock throws where this is false
  });
  await scene.until(2_000);
  expect([released, scene.node.peek("EXISTS", "it")]).toEqual([false, 0]);
});

test("a release whose answer was lost says released [H27]", async () => {
  for (const unanswered of ["resend", "reject", "forget"] as const) {
    const scene = await Scene.open();
    const a = scene.program("a");
    let released: string | undefined;
    let ran = 0;
    a.run(async () => {
      const lease = await a.holdfast({ client: { unanswered } }).mutex("it").acquire();
      const ranBefore = scene.scriptsRun;
      a.link().loseNext("after");
      released = await lease.release();
      ran = scene.scriptsRun - ranBefore;
    });
    await scene.until(5_000);
    expect([unanswered, ran]).toEqual([unanswered, unanswered === "forget" ? 1 : 2]);
    expect([unanswered, holder(scene)]).toEqual([unanswered, null]);
    // Without an answer and without another try, nobody can say more than "unknown".
    expect([unanswered, released]).toEqual([unanswered, unanswered === "forget" ? "unknown" : "released"]);
  }
});

/** `a` holds while its renewals vanish; `b` asks until it holds. */
async function vanishing(believes: (a: Program) => Promise<{ valid(): boolean }>) {
  const scene = await Scene.open(2);
  const [a, b] = [scene.program("a"), scene.program("b")];
  a.run(async () => {
    const lock = await believes(a);
    const fromMs = a.nowMs;
    let toMs = fromMs;
    a.link().block("toNode");
    for (let looks = 0; looks < 400; looks++) {
      await a.sleep(10);
      if (lock.valid()) toMs = a.nowMs;
    }
    a.note({ f: "hold", invMs: fromMs, retMs: toMs, endMs: toMs });
  });
  b.run(async () => {
    await b.sleep(100);
    const lock = new NaiveLock(b);
    while ((await lock.client.call("EXISTS", "it")) === 1 || holder(scene)) await b.sleep(5);
    b.note({ f: "hold", retMs: b.nowMs + 5_000, endMs: b.nowMs + 5_000 });
  });
  await scene.until(20_000);
  const [first, second] = scene.operations as [Operation, Operation];
  expect([first.process, second.process]).toEqual(["a", "b"]);
  return { violations: checkIntervals(scene.operations), believedMs: Number(first.endMs) - first.invMs };
}

test("a renewal that awaits its answer believes in its lock while another holds it [breaks H28]", async () => {
  const { violations } = await vanishing(async (a) => {
    const lock = new NaiveLock(a);
    await lock.acquire();
    let valid = true;
    a.run(async () => {
      for (;;) {
        await a.sleep(TTL_MS / 3);
        valid = await lock.extend();
      }
    });
    return { valid: () => valid };
  });
  expect(violations).toMatchObject([{ property: "L4" }]);
});

test("a lease whose renewals vanish is lost before another can hold it [H28]", async () => {
  const { violations, believedMs } = await vanishing(async (a) => {
    const lease = await a.holdfast().mutex("it", { ttl: TTL_MS }).acquire();
    return { valid: () => lease.valid && !lease.signal.aborted };
  });
  expect(violations).toEqual([]);
  expect(believedMs).toBeGreaterThan(TTL_MS * 0.95);
});

const READ_ONLY = { error: "READONLY You can't write against a read only replica.", share: 1 };

test("a loop that stops at the first error gives up during a failover [breaks H29]", async () => {
  const scene = await Scene.open();
  const a = scene.program("a");
  let error: Error | undefined;
  scene.node.refusal = READ_ONLY;
  a.run(async () => {
    error = await failure(a.client().call("EVAL", "return redis.call('SET', 'it', 'a', 'NX')", "0"));
  });
  scene.world.at(3_000, () => {
    scene.node.refusal = null;
  });
  await scene.until(5_000);
  expect(error?.message).toMatch(/^READONLY/);
});

test("a wait goes on while the server is read-only, and is granted afterwards [H29]", async () => {
  const scene = await Scene.open();
  const a = scene.program("a");
  let grantedMs = 0;
  scene.node.refusal = READ_ONLY;
  a.run(async () => {
    const hf = a.holdfast();
    expect(await failure(hf.mutex("it").tryAcquire())).toMatchObject({
      serverCode: "READONLY",
      passing: true,
    });
    await hf.mutex("it").acquire();
    grantedMs = a.nowMs;
  });
  scene.world.at(3_000, () => {
    scene.node.refusal = null;
  });
  await scene.until(10_000);
  expect(grantedMs).toBeGreaterThan(3_000);
  expect(grantedMs).toBeLessThan(6_000);
});
