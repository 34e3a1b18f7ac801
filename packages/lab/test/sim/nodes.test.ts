/** Several nodes in one scene: what strikes one of them leaves the others as they are. */
import { compileValkey } from "@holdfast/embedded";
import { planOf } from "@holdfast/lab/sim";
import { describe, expect, it } from "vitest";
import { diceFor } from "../../src/chance/dice.js";
import type { Node } from "../../src/sim/node.js";
import { redlockOn } from "../../src/sim/redlock-on.js";
import { kindOf, quorumKinds } from "../../src/sim/swarm/faults/kinds.js";
import { setCopy } from "../../src/sim/swarm/faults/restart.js";
import { drawFaultsOverNodes } from "../../src/sim/swarm/faults-over-nodes.js";
import { Scene } from "../../src/sim/swarm/scene.js";
import { World } from "../../src/sim/world.js";

const TTL_MS = 5_000;

async function sceneOf(nodes: number, names = ["p1", "p2"]) {
  const drawn = planOf(1, "limit");
  const processes = drawn.processes
    .slice(0, 1)
    .flatMap((first) => names.map((name) => ({ ...first, name, ttlMs: TTL_MS })));
  const world = new World({ seed: 1, module: await compileValkey() });
  const scene = new Scene(world, { ...drawn, processes, nodes, faults: [] });
  for (const plan of scene.plan.processes)
    scene.lives.set(plan.name, { plan, process: world.process(plan.name) });
  return { world, scene };
}

function infoOf(node: Node, field: string): string {
  const info = String(node.peek("INFO", "server"));
  return new RegExp(`${field}:(.*)`).exec(info)?.[1]?.trim() ?? "";
}

describe("a scene of three nodes", () => {
  it("has nodes that have been up for long, and a link from each process to each", async () => {
    const { scene } = await sceneOf(3);
    expect(scene.nodes.map(({ name }) => name)).toEqual(["n1", "n2", "n3"]);
    for (const node of scene.nodes) expect(Number(infoOf(node, "uptime_in_seconds"))).toBeGreaterThan(86_400);
    const process = scene.lives.get("p1")?.process;
    if (process) expect(new Set(scene.linksOf(process)).size).toBe(3);
  });

  it("blocks the link that a partition names, and no other", async () => {
    const { scene } = await sceneOf(3);
    const end = kindOf("partition").begin(scene, {
      kind: "partition",
      target: "p1",
      node: "n2",
      atMs: 0,
      forMs: 100,
      value: 0,
    });
    const blocked = scene.world.links.filter(({ isSound }) => !isSound);
    expect(blocked.map(({ process, node }) => [process.name, node.name])).toEqual([["p1", "n2"]]);
    end?.();
    expect(scene.world.links.every(({ isSound }) => isSound)).toBe(true);
  });

  it("steps the clock of the node that a fault names", async () => {
    const { scene } = await sceneOf(3);
    kindOf("clock step").begin(scene, { kind: "clock step", target: "n3", atMs: 0, forMs: 0, value: 4_000 });
    expect(scene.nodes.map(({ valkey }) => Math.round(valkey.clock.errorMs))).toEqual([0, 0, 4_000]);
  });

  it("restarts a node with its data, and it knows that it started", async () => {
    const { world, scene } = await sceneOf(3);
    const node = scene.nodes[1] as Node;
    node.peek("SET", "lease", "mine", "PX", "5000");
    const before = infoOf(node, "run_id");
    const fault = { kind: "restart with data", target: "n2", atMs: 0, forMs: 500, value: 0 };
    const end = kindOf(fault.kind).begin(scene, fault);
    expect(node.isUp).toBe(false);
    await world.run(500);
    end?.();
    expect(node.peek("PTTL", "lease")).toBe(4_500);
    expect(infoOf(node, "run_id")).not.toBe(before);
    expect(Number(infoOf(node, "uptime_in_seconds"))).toBeLessThan(2);
    expect(scene.hasForgotten).toBe(false);
  });

  it("restarts a node with what it had some time before, whose keys end when they would have ended", async () => {
    const { world, scene } = await sceneOf(3);
    const node = scene.nodes[0] as Node;
    const fault = { kind: "restart with old data", target: "n1", atMs: 1_000, forMs: 500, value: 400 };
    setCopy(scene, fault);
    node.peek("SET", "old", "1", "PX", "5000");
    await world.run(800);
    node.peek("DEL", "old");
    node.peek("SET", "new", "1");
    await world.run(1_000);
    const end = kindOf(fault.kind).begin(scene, fault);
    await world.run(1_500);
    end?.();
    expect(node.peek("KEYS", "*")).toEqual(["old"]);
    expect(node.peek("PTTL", "old")).toBe(3_500);
    expect(scene.hasForgotten).toBe(true);
    // It does not vote until what it forgot is over.
    expect(scene.mayOverlap(null)).toBe(false);
  });
});

describe("faults that are drawn for several nodes", () => {
  it("strike one place, some, or all at one time, each of which is a fault of its own", async () => {
    const { scene } = await sceneOf(3);
    const nodes = scene.nodes.map(({ name }) => name);
    const { processes } = scene.plan;
    const sizes = new Map<string, Set<number>>();
    for (let seed = 1; seed <= 400; seed++) {
      const spread = { processes, nodes, chaosMs: 4_000, firstMs: 150, most: 6 };
      const faults = drawFaultsOverNodes(diceFor(seed, "faults"), quorumKinds, spread);
      const together = new Map<string, number>();
      for (const { kind, atMs, forMs, value, target, node = target } of faults) {
        expect([...nodes, "p1", "p2"]).toContain(node);
        const strike = [kind, atMs, forMs, value].join(" ");
        together.set(strike, (together.get(strike) ?? 0) + 1);
      }
      for (const [strike, size] of together) {
        const kind = strike.replace(/( \S+){3}$/, "");
        sizes.set(kind, (sizes.get(kind) ?? new Set()).add(size));
      }
    }
    expect([...(sizes.get("partition") ?? [])].sort()).toEqual([1, 2, 3, 4, 5, 6]);
    expect([...(sizes.get("clock step") ?? [])].sort()).toEqual([1, 2, 3]);
    expect([...(sizes.get("pause") ?? [])]).toEqual([1]);
  });
});

describe("leases may overlap", () => {
  it.each([
    { nodes: 1, struck: 1 },
    { nodes: 3, struck: 1 },
    { nodes: 4, struck: 2 },
    { nodes: 5, struck: 1 },
  ])("of $nodes nodes, where $struck lost its data at one time: no fewer", async ({ nodes, struck }) => {
    const { world, scene } = await sceneOf(nodes);
    for (const node of scene.nodes.slice(0, struck)) {
      expect(scene.mayOverlap(null)).toBe(false);
      kindOf("flushall").begin(scene, { kind: "flushall", target: node.name, atMs: 0, forMs: 0, value: 0 });
    }
    expect(scene.mayOverlap("p1")).toBe(true);
    expect(scene.exceptions).toEqual(
      nodes === 1 ? [{ fromMs: 0, toMs: TTL_MS, of: null, node: "redis" }] : [{ fromMs: 0, toMs: TTL_MS }],
    );
    await world.run(TTL_MS);
    expect(scene.mayOverlap("p1")).toBe(false);
  });
});

it("a clock that is set back after a restart lengthens no quarantine", async () => {
  const world = new World({ seed: 1, module: await compileValkey() });
  const nodes = ["n1", "n2", "n3"].map((name) => world.node(name, { upForMs: 3_600_000 }));
  for (const node of nodes.slice(0, 2)) {
    node.restart({ keep: "nothing" });
    node.valkey.clock.step(-31_000);
  }
  const process = world.process("p1");
  let grantedMs = Number.POSITIVE_INFINITY;
  process.run(async () => {
    const links = nodes.map((node) => world.link(process, node));
    await redlockOn(links, { maxTtl: 4_000 }).mutex("it", { ttl: 2_000 }).acquire({ wait: 60_000 });
    grantedMs = world.nowMs;
    world.stop();
  });
  await world.run(70_000);
  expect(grantedMs).toBeGreaterThan(3_999);
  expect(grantedMs).toBeLessThan(6_000);
});
