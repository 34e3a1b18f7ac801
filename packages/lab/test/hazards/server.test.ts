/** C: servers that forget, fall back, or are replaced. Each hazard breaks a recipe here, and does not break holdfast. */

import { type Lease, StaleTokenError } from "holdfast";
import { expect } from "vitest";
import { checkFence } from "../../src/history/fence.js";
import { checkIntervals } from "../../src/history/intervals.js";
import { checkTokens } from "../../src/history/tokens.js";
import type { Node } from "../../src/sim/node.js";
import { hazardTest as test } from "./hazard-tests.js";
import { NaiveLock } from "./naive.js";
import { heard, type Program, Scene } from "./scene.js";
import {
  broken,
  type Fault,
  failOver,
  fallBack,
  leaseOf,
  RECORD,
  remember,
  restart,
  TTL_MS,
  twoCounters,
  twoLeases,
} from "./successors.js";

test("a counter of tokens begins anew after a restart [breaks H38]", async () => {
  expect(broken(await twoCounters(restart))).toContain("L1");
});

test("after a restart without memory the next token is larger, and the old holder hears that it was forgotten [H38]", async () => {
  const forgot = heard("holdfast:server:forgot");
  const alone = await Scene.open();
  const c = alone.program("c");
  let lease: Lease | undefined;
  c.run(async () => {
    lease = await c.holdfast().mutex("it", { ttl: TTL_MS }).acquire();
  });
  alone.world.at(1_000, () => alone.node.restart());
  await alone.until(8_000);
  expect(lease?.signal.reason).toMatchObject({ code: "LEASE_LOST", reason: "forgotten" });
  expect(forgot).toContainEqual({ what: "lock", lock: "it" });
  await twoLeases(restart);
  await twoLeases(restart, undefined, 1n);
});

test("a counter of tokens falls back with the append-only file [breaks H39]", async () => {
  expect(broken(await twoCounters(fallBack, remember))).toContain("L1");
});

test("after a fall-back by a second the next token is larger [H39]", async () => {
  await twoLeases(fallBack, remember);
});

test("INCR tokens of two holders are equal after a failover [breaks H41]", async () => {
  expect(broken(await twoCounters(failOver(0), remember))).toContain("L1");
});

test("after a failover to a replica that lags the next token is larger, and the old holder refused [H41]", async () => {
  await twoLeases(failOver(0), remember);
});

test("tokens of the bare clock fall after a failover to a clock that is behind [breaks H42]", async () => {
  const scene = await Scene.open();
  const a = scene.program("a");
  a.run(async () => {
    for (const atMs of [200, 2_000]) {
      await a.sleep(atMs - a.nowMs);
      const invMs = a.nowMs;
      const time = (await a.client().call("TIME")) as string[];
      const token = BigInt(time[0] as string) * 1_000_000n + BigInt(time[1] as string);
      a.note({ f: "acquire", invMs, retMs: a.nowMs, token });
    }
  });
  scene.world.at(100, () => remember(scene));
  scene.world.at(1_000, () => failOver(-5_000)(scene));
  await scene.until(5_000);
  expect(checkTokens(scene.operations)).toMatchObject([{ property: "L2" }]);
});

test("a token that falls is told, given to nobody, and asked for again above the last [H42]", async () => {
  const told = heard("holdfast:lock:token-regression");
  for (const method of ["acquire", "tryAcquire"] as const) {
    const scene = await Scene.open();
    const a = scene.program("a");
    const tokens: bigint[] = [];
    a.run(async () => {
      const mutex = a.holdfast().mutex("it", { localTurns: 1 });
      for (const atMs of [200, 2_000, 2_500]) {
        await a.sleep(atMs - a.nowMs);
        const invMs = a.nowMs;
        const lease = await mutex[method]();
        tokens.push(lease?.fence ?? 0n);
        a.note({ f: "acquire", invMs, retMs: a.nowMs, token: lease?.fence ?? 0n });
        await lease?.release();
      }
    });
    scene.world.at(100, () => remember(scene));
    scene.world.at(1_000, () => failOver(-5_000)(scene));
    await scene.until(10_000);
    const [first = 0n, second = 0n] = tokens;
    expect(tokens).toHaveLength(3);
    expect(second).toBe(first + 1n);
    expect(checkTokens(scene.operations)).toEqual([]);
    const [event] = told.splice(0);
    expect(event).toMatchObject({ lock: "it", seen: first });
    expect(event?.fence).toBeLessThan(first);
    expect(told).toEqual([]);
  }
});

test("a holder that is refused for a token from before the failover acquires above it [H42]", async () => {
  const scene = await Scene.open();
  const [a, b] = [scene.program("a"), scene.program("b")];
  const resource = scene.world.node("resource"); // another server: it keeps what it has seen
  const outcomes: unknown[] = [];
  const ahead = heard("holdfast:lock:token-ahead");
  a.run(async () => {
    await a.sleep(200);
    const lease = await leaseOf(a, []);
    await a.holdfast({}, resource).record("it").put("a", { fence: lease });
    await lease.release();
  });
  b.run(async () => {
    await b.sleep(2_000);
    const hf = b.holdfast();
    const record = b.holdfast({}, resource).record("it");
    let floor: bigint | undefined;
    for (let tries = 0; tries < 2; tries++) {
      const lease = await hf.mutex("it").acquire({ floor });
      const refusal = await record.put("b", { fence: lease }).catch((error) => error);
      outcomes.push(refusal.code ?? "written");
      if (refusal instanceof StaleTokenError) floor = refusal.seen;
      await lease.release();
    }
  });
  scene.world.at(100, () => remember(scene));
  scene.world.at(1_000, () => failOver(-5_000)(scene));
  await scene.until(10_000);
  expect(outcomes).toEqual(["STALE_TOKEN", "written"]);
  expect(resource.peek("HGET", RECORD, "value")).toBe('j"b"');
  expect(ahead).toMatchObject([{ lock: "it" }]);
});

/** `a` stays with the old primary, `b` goes to the promoted replica. Both hold, and both write to one resource. */
async function splitBrain(write: (program: Program, resource: Node, lease: Lease) => Promise<unknown>) {
  const scene = await Scene.open(3);
  const [a, b] = [scene.program("a"), scene.program("b")];
  const [promoted, resource] = [scene.world.node("promoted"), scene.world.node("resource")];
  const leases: Lease[] = [];
  const section = async (program: Program, node: Node, writesMs: number): Promise<void> => {
    const lease = await program.holdfast({}, node).mutex("it", { ttl: TTL_MS }).acquire();
    leases.push(lease);
    await program.sleep(writesMs - program.nowMs);
    const invMs = program.nowMs;
    const about = { f: "write", key: "it", token: lease.fence, nonce: lease.id };
    const error = await write(program, resource, lease).then(
      () => null,
      (thrown: Error & { code?: string }) => thrown,
    );
    const outcome = error ? ({ type: "fail", error: error.code ?? "" } as const) : ({ type: "ok" } as const);
    program.note({ ...about, ...outcome, invMs, retMs: program.nowMs });
  };
  a.run(async () => {
    await a.sleep(1_000);
    await section(a, scene.node, 4_000);
  });
  b.run(async () => {
    await b.sleep(2_000);
    await section(b, promoted, 3_000);
  });
  scene.world.at(900, () => promoted.promote(scene.node.remember()));
  await scene.until(8_000);
  expect(leases).toHaveLength(2);
  return { scene, resource };
}

test("both sides of a split brain write [breaks H43]", async () => {
  const { scene } = await splitBrain((program, resource, lease) =>
    program.client({}, resource).call("SET", "data", lease.id),
  );
  expect(checkFence(scene.operations)).toMatchObject([{ property: "L3" }]);
});

test("of two sides of a split brain the resource serves one [H43]", async () => {
  const { scene } = await splitBrain((program, resource, lease) =>
    program.holdfast({}, resource).record("it").put(lease.id, { fence: lease }),
  );
  expect(checkFence(scene.operations)).toEqual([]);
  expect(scene.operations.map(({ process, type }) => `${process} ${type}`)).toEqual(["b ok", "a fail"]);
});

test("SET NX PX: a promoted clock that is ahead makes a second holder [breaks H45]", async () => {
  const scene = await Scene.open();
  for (const name of ["a", "b"]) {
    const program = scene.program(name);
    program.run(async () => {
      if (name === "b") await program.sleep(2_000);
      await new NaiveLock(program, { ttlMs: TTL_MS }).acquire();
      program.note({ f: "hold", retMs: program.nowMs + TTL_MS, endMs: program.nowMs + TTL_MS });
    });
  }
  scene.world.at(900, () => remember(scene));
  scene.world.at(1_000, () => failOver(20_000)(scene));
  await scene.until(5_000);
  expect(checkIntervals(scene.operations)).toMatchObject([{ property: "L4" }]);
});

test("a promoted clock that is ahead: a larger token, and the first refused; behind: at most a ttl [H45]", async () => {
  const late: Fault = (scene) => void scene.world.at(900, () => remember(scene));
  await twoLeases(failOver(20_000), late);
  const scene = await Scene.open();
  const [a, b] = [scene.program("a"), scene.program("b")];
  let hadMs = 0;
  a.run(() => leaseOf(a, []));
  b.run(async () => {
    await b.sleep(2_000);
    await leaseOf(b, []);
    hadMs = b.nowMs;
  });
  scene.world.at(900, () => remember(scene));
  scene.world.at(1_000, () => {
    a.process.kill();
    failOver(-20_000)(scene);
  });
  await scene.until(40_000);
  expect(hadMs).toBeGreaterThan(TTL_MS);
  expect(hadMs).toBeLessThan(2_000 + TTL_MS + 100);
});
