/** The rules that watch a run: what each excuses, and what it does not. */
import { compileValkey } from "@holdfast/embedded";
import { expect, it } from "vitest";
import { holdfastOn } from "../../src/sim/holdfast-on.js";
import type { Fault } from "../../src/sim/swarm/plan.js";
import { planOf } from "../../src/sim/swarm/run.js";
import { Scene } from "../../src/sim/swarm/scene.js";
import { Beliefs } from "../../src/sim/swarm/workloads/mutex/beliefs.js";
import { keysOf } from "../../src/sim/swarm/workloads/mutex/node-state.js";
import { NodeWatch } from "../../src/sim/swarm/workloads/mutex/node-watch.js";
import { OneServer } from "../../src/sim/swarm/workloads/mutex/one-server.js";
import { watchSignal } from "../../src/sim/swarm/workloads/mutex/signal-watch.js";
import { World } from "../../src/sim/world.js";

const LOCK = "account:13";
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const OWNER = JSON.stringify({ host: "world", pid: 1, label: "p1", inbox: "inbox" });

/** One process of a plan, and nobody who works in it. */
async function alone({ ttlMs, faults }: { readonly ttlMs: number; readonly faults?: readonly Fault[] }) {
  const drawn = planOf(1);
  const first = drawn.processes.slice(0, 1);
  const usual = { name: "p1", ttlMs, lockDelayMs: 0, maxHoldMs: null, closesAtMs: null, takesPairs: false };
  const processes = first.map((process) => ({ ...process, ...usual }));
  const stall = { kind: "stall", target: "p1", atMs: 0, forMs: 0, value: 0 };
  const plan = { ...drawn, processes, locks: [LOCK], faults: faults ?? [stall] };
  const world = new World({ seed: 1, module: await compileValkey() });
  const scene = new Scene(world, plan);
  const process = world.process("p1");
  for (const planned of processes) scene.lives.set("p1", { plan: planned, process });
  return { world, scene, process, link: scene.link(process) };
}

/** It holds a lease, whose signal is watched; `ends` gets the time at which it aborts. */
async function watchedHolder({ ttlMs }: { readonly ttlMs: number }) {
  const parts = await alone({ ttlMs });
  const { world, scene, process, link } = parts;
  const ends: number[] = [];
  process.run(async () => {
    const lease = await holdfastOn(link).mutex(LOCK, { ttl: ttlMs }).acquire();
    const state = { validMs: 0, wasValid: true, isOver: false, isLost: false, signal: null, hold: null };
    watchSignal(scene, { lock: LOCK, caller: "p1.1", process, lease, ...state });
    lease.signal.addEventListener("abort", () => ends.push(world.nowMs));
  });
  return { ...parts, ends };
}

it("a lease may end early by a renewal that counts a suspension, which a step back of the clock had hidden", async () => {
  const { world, scene, process, link, ends } = await watchedHolder({ ttlMs: 2_000 });
  world.at(200, () => process.stepWall(-HOUR_MS));
  // The answer to the first renewal comes while the process is suspended.
  world.at(400, () => link.block("toProcess"));
  world.at(1_000, () => process.pause("suspend"));
  world.at(1_500, () => link.unblock("toProcess"));
  world.at(2_400, () => process.resume());
  // It shows how little is left, and the next one, which is sent at once, has no answer in time.
  world.at(2_401, () => link.block("toProcess"));
  await world.run(4_000);
  expect(ends).toHaveLength(1);
  expect(scene.failures).toEqual([]);
});

it("a lease may end early when its clock is set ahead after a renewal, which came after a step back", async () => {
  const { world, scene, process, ends } = await watchedHolder({ ttlMs: 9_000 });
  world.at(200, () => process.stepWall(-10_000));
  world.at(5_000, () => process.stepWall(10_000));
  await world.run(7_000);
  expect(ends).toHaveLength(1);
  expect(scene.failures).toEqual([]);
});

it("a process is asked what it knows of its locks three seconds after a stall that waited for its time", async () => {
  const { world, scene, process } = await alone({ ttlMs: 60_000 });
  const watch = new NodeWatch(scene, new Beliefs(scene, new OneServer(scene)));
  const token = world.trueUs;
  // It holds by a claim that it knows nothing of.
  const state = `${token} claim ${token} ${token} ${DAY_MS} 60000 ${OWNER}`;
  scene.node.peek("SET", keysOf(LOCK).lock, state, "PX", String(DAY_MS + 60_000));
  process.stallAtRead(1, 1_000);
  world.at(2_900, () => process.run(() => process.clock.now()));
  await world.run(6_800);
  expect(scene.failures).toEqual([]);
  await world.run(7_100);
  watch.stop();
  expect(scene.failures[0]).toMatchObject({ property: "L9" });
});

const setBack: Fault = { kind: "clock step", target: "redis", atMs: 200, forMs: 0, value: -20_000 };

it("a lease of the dead that a clock set back lengthens may last a ttl from when somebody asks, and no longer", async () => {
  const { world, scene, process } = await alone({ ttlMs: 2_000, faults: [setBack] });
  const watch = new NodeWatch(scene, new Beliefs(scene, new OneServer(scene)));
  const token = world.trueUs;
  const state = `${token} claim ${token} ${token} ${DAY_MS} 2000 ${OWNER}`;
  scene.node.peek("SET", keysOf(LOCK).lock, state, "PX", String(DAY_MS + 2_000));
  world.at(100, () => {
    process.kill();
    scene.deathsMs.set("p1", 100);
  });
  world.at(setBack.atMs, () => scene.node.valkey.clock.step(setBack.value));
  const other = world.process("other");
  const grantsMs: number[] = [];
  other.run(async () => {
    await other.sleep(6_000);
    await holdfastOn(world.link(other, scene.node)).mutex(LOCK).acquire({ wait: 30_000 });
    grantsMs.push(other.nowMs);
  });
  await world.run(7_900);
  // A server that did not shorten the lease again, or lengthened it once more.
  world.at(7_900, () => scene.node.peek("PEXPIRE", keysOf(LOCK).lock, String(DAY_MS + 1_000)));
  await world.run(8_200);
  expect(grantsMs).toEqual([]);
  expect(scene.failures).toEqual([]);
  await world.run(10_000);
  watch.stop();
  expect(scene.failures[0]).toMatchObject({ property: "W1", atMs: 8_250 });
  expect(grantsMs).toHaveLength(1);
});

it("a place in line that was last heard of in the future, by a clock that was set back, is nobody's who waits", async () => {
  const { world, scene, process, link } = await alone({ ttlMs: 2_000, faults: [setBack] });
  const watch = new NodeWatch(scene, new Beliefs(scene, new OneServer(scene)));
  const { lock, line, waiters } = keysOf(LOCK);
  const hear = (): void => {
    const seenMs = Math.floor(scene.node.valkey.clock.realUs() / 1_000);
    scene.node.peek("HSET", waiters, "claim", `${seenMs} 2000 1 1 0 inbox ${OWNER}`);
  };
  scene.node.peek("SET", lock, `${world.trueUs}+`, "PX", String(DAY_MS));
  scene.node.peek("ZADD", line, "1", "claim");
  hear();
  for (const key of [line, waiters]) scene.node.peek("PEXPIRE", key, String(DAY_MS));
  world.at(setBack.atMs, () => scene.node.valkey.clock.step(setBack.value));
  await world.run(6_000);
  expect(scene.failures).toEqual([]);
  world.at(6_000, () => {
    hear();
    process.run(() => holdfastOn(link).mutex("stock:7").tryAcquire());
  });
  await world.run(8_000);
  watch.stop();
  expect(scene.failures[0]).toMatchObject({
    property: "W1",
    message: expect.stringContaining("first in line"),
  });
});
