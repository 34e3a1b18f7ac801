import { AcquireTimeoutError, LeaseLostError } from "holdfast";
import { describe, expect, it } from "vitest";
import { holdfastOn } from "../../src/sim/holdfast-on.js";
import type { Process } from "../../src/sim/process.js";
import { SimClient } from "../../src/sim/sim-client.js";
import { World } from "../../src/sim/world.js";

interface Section {
  readonly process: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly fence: bigint;
}

/** Four processes that want one lock, again and again. */
async function crowd(seed: number) {
  const world = await World.create({ seed });
  const node = world.node("redis");
  const sections: Section[] = [];
  for (const name of ["a", "b", "c", "d"]) {
    const process = world.process(name);
    process.run(async () => {
      const mutex = holdfastOn(world.link(process, node)).mutex("account:13", { ttl: 2_000 });
      for (;;) {
        await process.sleep(process.dice.between(10, 800));
        const lease = await mutex.acquire();
        const fromMs = process.nowMs;
        await process.sleep(process.dice.between(1, 100));
        sections.push({ process: name, fromMs, toMs: process.nowMs, fence: lease.fence });
        await lease.release();
      }
    });
  }
  await world.run(10_000);
  return { world, node, sections };
}

describe("a world", () => {
  it("runs the library on the real engine, each section after the other", async () => {
    const { world, sections } = await crowd(1);
    expect(world.errors).toEqual([]);
    expect(sections.length).toBeGreaterThan(50);
    for (const [place, section] of sections.entries()) {
      const before = sections[place - 1];
      if (!before) continue;
      expect(section.fromMs).toBeGreaterThanOrEqual(before.toMs);
      expect(section.fence).toBeGreaterThan(before.fence);
    }
  });

  it("is the same for the same seed, and another for another", async () => {
    const hashes = [];
    for (const seed of [1, 2, 3, 1, 2, 3]) hashes.push((await crowd(seed)).world.hash);
    expect(hashes.slice(3)).toEqual(hashes.slice(0, 3));
    expect(new Set(hashes).size).toBe(3);
  });

  it("leaves setImmediate as it was", async () => {
    const before = globalThis.setImmediate;
    await crowd(4);
    expect(globalThis.setImmediate).toBe(before);
  });
});

describe("a process", () => {
  /** One holder, and what it saw when it was allowed to go on. */
  async function holder(during: (process: Process, world: World) => void) {
    const world = await World.create({ seed: 7 });
    const node = world.node("redis");
    const process = world.process("holder");
    const seen: { valid: boolean; aborted: boolean; reason: unknown; atMs: number }[] = [];
    process.run(async () => {
      const lease = await holdfastOn(world.link(process, node)).mutex("m", { ttl: 1_000 }).acquire();
      const { signal } = lease;
      await process.sleep(500);
      during(process, world);
      seen.push({ aborted: signal.aborted, valid: lease.valid, reason: signal.reason, atMs: process.nowMs });
      await process.sleep(1);
      seen.push({ aborted: signal.aborted, valid: lease.valid, reason: signal.reason, atMs: process.nowMs });
    });
    await world.run(20_000);
    expect(world.errors).toEqual([]);
    return seen;
  }

  it("stalls in the middle of its code: the clock knows at once, the signal later", async () => {
    const [during, after] = await holder((process) => process.stall(5_000));
    expect(during).toMatchObject({ aborted: false, valid: false });
    expect(during?.atMs).toBeGreaterThan(5_500);
    expect(after).toMatchObject({ aborted: true, valid: false });
    expect(after?.reason).toBeInstanceOf(LeaseLostError);
  });

  it.each(["crash", "vanish"] as const)(
    "sends nothing after its death, and a node hears of that at once: %s",
    async (how) => {
      const world = await World.create({ seed: 7 });
      const node = world.node("redis");
      const process = world.process("writer");
      const connections = (): number => String(node.peek("CLIENT", "LIST")).trim().split("\n").length;
      const before = connections();
      process.run(async () => {
        const client = new SimClient(world.link(process, node));
        await client.call("SET", "k", "before");
        process.stall(5_000);
        await client.call("SET", "k", "after");
      });
      world.at(1_000, () => process.kill(how));
      await world.run(1_100);
      expect(connections() - before).toBe(how === "crash" ? 0 : 1);
      await world.run(10_000);
      expect(node.peek("GET", "k")).toBe("before");
    },
  );

  it("stands still until it is resumed", async () => {
    const [, after] = await holder((process, world) => {
      process.pause();
      world.at(world.nowMs + 3_000, () => process.resume());
    });
    expect(after?.atMs).toBeGreaterThan(3_500);
    expect(after?.valid).toBe(false);
  });

  it("sleeps through a suspension of its machine, on its wall clock", async () => {
    const [, after] = await holder((process, world) => {
      process.pause("suspend");
      world.at(world.nowMs + 3_000, () => process.resume());
    });
    expect(after?.valid).toBe(false);
  });

  it("keeps its lease over a step of its wall clock backwards", async () => {
    const [, after] = await holder((process) => process.stepWall(-60_000));
    expect(after?.valid).toBe(true);
  });
});

describe("the network", () => {
  it.each([
    ["crash", "after"],
    ["vanish", "before"],
  ] as const)("blocked: what was sent before a %s leaves it %s", async (how, left) => {
    const world = await World.create({ seed: 7 });
    const node = world.node("redis");
    const process = world.process("writer");
    const link = world.link(process, node);
    process.run(async () => {
      const client = new SimClient(link);
      await client.call("SET", "k", "before");
      link.block("toNode");
      await client.call("SET", "k", "after");
    });
    world.at(1_000, () => process.kill(how));
    world.at(2_000, () => link.unblock("toNode"));
    await world.run(3_000);
    expect(node.peek("GET", "k")).toBe(left);
  });

  it("half open: the waiter hears of nothing, and gets the lock all the same", async () => {
    const world = await World.create({ seed: 3 });
    const node = world.node("redis");
    const [a, b] = [world.process("a"), world.process("b")];
    let grantedMs = 0;
    a.run(async () => {
      const lease = await holdfastOn(world.link(a, node)).mutex("m", { ttl: 1_000 }).acquire();
      await a.sleep(3_000);
      await lease.release();
    });
    b.run(async () => {
      await b.sleep(100);
      await holdfastOn(world.link(b, node)).mutex("m", { ttl: 1_000 }).acquire();
      grantedMs = b.nowMs;
    });
    world.at(1_000, () => world.link(b, node).halfOpen());
    await world.run(10_000);
    expect(grantedMs).toBeGreaterThan(3_000);
    expect(grantedMs).toBeLessThan(4_500);
  });

  it("one way: requests are carried out, and nobody hears of it", async () => {
    const world = await World.create({ seed: 5 });
    const node = world.node("redis");
    const process = world.process("a");
    let outcome: unknown;
    process.run(async () => {
      const mutex = holdfastOn(world.link(process, node)).mutex("m", { ttl: 1_000 });
      await (await mutex.acquire()).release();
      world.link(process, node).block("toProcess");
      outcome = await mutex.acquire({ wait: 500 }).catch((error) => error);
    });
    await world.run(5_000);
    expect(outcome).toBeInstanceOf(Error);
    expect(outcome).not.toBeInstanceOf(AcquireTimeoutError);
    expect(node.peek("EXISTS", "holdfast:{m}:lock")).toBe(1);
  });
});
