/** What excuses tokens that begin again, and a lease without a majority, over several nodes: no more than the theorems allow. */
import { compileValkey } from "@holdfast/embedded";
import { describe, expect, it } from "vitest";
import { redlockOn } from "../../src/sim/redlock-on.js";
import { kindOf } from "../../src/sim/swarm/faults/kinds.js";
import { Scene } from "../../src/sim/swarm/scene.js";
import type { Belief } from "../../src/sim/swarm/workloads/mutex/belief.js";
import { type Holder, holderAt, keysOf } from "../../src/sim/swarm/workloads/mutex/node-state.js";
import { drawQuorumPlan } from "../../src/sim/swarm/workloads/redlock/plan.js";
import { Quorum } from "../../src/sim/swarm/workloads/redlock/quorum.js";
import { QuorumTokens } from "../../src/sim/swarm/workloads/redlock/tokens.js";
import { World } from "../../src/sim/world.js";

const LOCK = "account:13";
const TTL_MS = 2_000;

/** One process that has held the lock over three nodes for a moment, and the rules that look at it. */
async function held() {
  const drawn = drawQuorumPlan(1, []);
  const [first] = drawn.processes;
  if (!first) throw new Error("a plan has processes");
  const plan = {
    ...drawn,
    nodes: 3,
    faults: [],
    processes: [{ ...first, name: "p1", ttlMs: TTL_MS, lockDelayMs: 0 }],
  };
  const world = new World({ seed: 1, module: await compileValkey() });
  const scene = new Scene(world, plan);
  const [tokens, quorum] = [new QuorumTokens(scene), new Quorum(scene)];
  const process = world.process("p1");
  for (const planned of plan.processes) scene.lives.set("p1", { plan: planned, process });
  let belief: Belief | null = null;
  process.run(async () => {
    const redlock = redlockOn(scene.linksOf(process), { maxTtl: TTL_MS });
    const pending = scene.history.recorder("p1.1", () => process.nowMs).begin("acquire", LOCK);
    const lease = await redlock.mutex(LOCK, { ttl: TTL_MS }).acquire();
    pending.ok({ token: lease.fence, nonce: lease.id });
    const state = { validMs: 0, wasValid: true, isOver: false, isLost: false, signal: null, hold: null };
    belief = { lock: LOCK, caller: "p1.1", process, lease, ...state };
  });
  await world.run(100);
  const strike = (kind: string, target: string, value = 0): void => {
    kindOf(kind).begin(scene, { kind, target, value, atMs: world.nowMs, forMs: 0 });
  };
  return { world, scene, tokens, quorum, belief: belief as unknown as Belief, strike };
}

describe("tokens may begin again", () => {
  it("not where a node lost its data, and its clock is ahead of all that it gave", async () => {
    const { world, tokens, strike } = await held();
    strike("flushall", "n1");
    strike("flushall", "n2");
    await world.run(200);
    tokens.look();
    expect(tokens.cutsMs).toEqual([]);
  });

  it("not where clocks are behind, and every node knows what it gave", async () => {
    const { world, tokens, strike } = await held();
    for (const node of ["n1", "n2", "n3"]) strike("clock step", node, -5_000);
    await world.run(200);
    expect(tokens.cutsMs).toEqual([]);
  });

  it("not where a minority can give a smaller one", async () => {
    const { world, tokens, strike } = await held();
    strike("clock step", "n1", -5_000);
    strike("flushall", "n1");
    await world.run(200);
    tokens.look();
    expect(tokens.cutsMs).toEqual([]);
  });

  it("where a majority has forgotten it, and its clocks are behind", async () => {
    const { world, tokens, strike } = await held();
    for (const node of ["n1", "n2"]) {
      strike("clock step", node, -5_000);
      strike("flushall", node);
    }
    await world.run(200);
    tokens.look();
    expect(tokens.cutsMs.length).toBeGreaterThan(0);
  });
});

describe("a lease over three nodes", () => {
  it("is held by a majority of them, which is looked at", async () => {
    const { scene, quorum, belief } = await held();
    scene.nodes[0]?.peek("DEL", keysOf(LOCK).lock);
    quorum.compare(belief);
    expect(scene.failures).toEqual([]);
    scene.nodes[1]?.peek("DEL", keysOf(LOCK).lock);
    quorum.compare(belief);
    expect(scene.failures.map(({ property }) => property)).toEqual(["L5"]);
  });

  it("is excused where a node has just restarted, and not for longer than a ttl", async () => {
    const { world, scene, quorum, belief, strike } = await held();
    strike("node crash", "n1");
    scene.nodes[0]?.restart();
    scene.nodes[1]?.peek("DEL", keysOf(LOCK).lock);
    quorum.compare(belief);
    expect(scene.failures).toEqual([]);
    await world.run(100 + TTL_MS + 100);
    quorum.compare(belief);
    expect(scene.failures.map(({ property }) => property)).toEqual(["L5"]);
  });

  it("is free at a majority of them when it was released", async () => {
    const { scene, quorum, belief } = await held();
    quorum.watchRelease(belief)("released");
    expect(scene.failures.map(({ property }) => property)).toEqual(["L9"]);
  });

  it("may be handed to older places of the same claim by its release", async () => {
    const { scene, quorum, belief } = await held();
    const told = quorum.watchRelease(belief);
    for (const node of scene.nodes) {
      const { lock } = keysOf(LOCK);
      const { id } = holderAt(node, LOCK) as Holder;
      node.peek("SET", lock, String(node.peek("GET", lock)).replace(id, `${belief.lease.id}.9`), "KEEPTTL");
      expect(holderAt(node, LOCK)?.id).toBe(`${belief.lease.id}.9`);
    }
    told("released");
    expect(scene.failures).toEqual([]);
  });
});
