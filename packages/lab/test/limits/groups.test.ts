/**
 * A group is charged as a whole or not at all, whatever becomes of its process and its connection between any two
 * commands; and whoever looks sees no part of it, at any moment. HOLDFAST_LIMIT_SEEDS=200 for a long run.
 */

import { IndeterminateError, type LimitGroup } from "holdfast";
import { describe, expect, it } from "vitest";
import { diceFor } from "../../src/chance/dice.js";
import { holdfastOn } from "../../src/sim/holdfast-on.js";
import type { Node } from "../../src/sim/node.js";
import type { Process } from "../../src/sim/process.js";
import { World } from "../../src/sim/world.js";

const SEEDS = Number(process.env.HOLDFAST_LIMIT_SEEDS ?? 3);
const FOR_MS = 1_500;

/** What each limit has counted: so many groups. */
function counted(node: Node): number[] {
  const text = (key: string): string => String(node.peek("GET", `holdfast:{ann}:limit:${key}`) ?? "0");
  const last = node.peek("LINDEX", "holdfast:{ann}:limit:sliding:c", "-1") ?? "0 0 0";
  return [
    Number(text("lifetime:a")),
    Number(text("window:b").split(" ")[0]) / 2,
    Number(String(last).split(" ")[2]), // the sum up to it, as nothing has ended yet
  ];
}

function groupOn(world: World, process: Process, node: Node, max: number): LimitGroup {
  const hf = holdfastOn(world.link(process, node), { callTimeout: 200 });
  const [a, b, c] = [
    hf.limit("a", { type: "lifetime", max: 10_000 }),
    hf.limit("b", { type: "window", max: 20_000, per: "1d" }),
    hf.limit("c", { type: "sliding", max, per: "1h" }),
  ];
  return hf.limits.all([a.of("ann"), b.of("ann", { cost: 2 }), c.of("ann")]);
}

async function scene(seed: number) {
  const world = await World.create({ seed });
  const node = world.node("redis");
  const dice = diceFor(seed, "faults");
  const tally = { admitted: 0, refused: 0, unknown: 0 };
  for (let place = 0; place < 4; place++) {
    const process = world.process(`p${place}`);
    const max = seed % 3 === 0 ? 8 : 10_000;
    process.run(() => work(process, groupOn(world, process, node, max), tally));
    const link = world.link(process, node);
    for (let atMs = dice.gapMs(300); atMs < FOR_MS; atMs += dice.gapMs(300)) {
      const faults = [
        () => link.cut(),
        () => link.loseNext("before"),
        () => link.loseNext("after"),
        () => process.stall(dice.between(1, 300)),
        () => {
          link.block("toProcess");
          world.at(world.nowMs + 350, () => link.unblock("toProcess"));
        },
      ];
      world.at(atMs, dice.pick(faults));
    }
    if (place > 1) world.at(dice.between(500, FOR_MS), () => process.kill(dice.pick(["crash", "vanish"])));
  }
  const partial: string[] = [];
  const look = (): void => {
    const each = counted(node);
    if (new Set(each).size > 1) partial.push(`${world.nowMs} ms: ${each}`);
    if (world.nowMs < FOR_MS) world.at(world.nowMs + 1.3, look);
  };
  world.at(1, look);
  await world.run(FOR_MS);
  return { world, partial, tally, count: counted(node)[0] ?? 0 };
}

async function work(
  process: Process,
  group: LimitGroup,
  tally: { admitted: number; refused: number; unknown: number },
): Promise<void> {
  for (;;) {
    await process.sleep(process.dice.gapMs(25));
    try {
      const { ok } = await group.take();
      tally[ok ? "admitted" : "refused"] += 1;
    } catch (error) {
      if (error instanceof IndeterminateError) tally.unknown += 1;
    }
  }
}

describe("a group", () => {
  it("is charged as a whole or not at all, and nobody sees a part", async () => {
    const all = { admitted: 0, refused: 0, unknown: 0 };
    for (let seed = 1; seed <= SEEDS; seed++) {
      const { world, partial, tally, count } = await scene(seed);
      expect(world.errors, `seed ${seed}`).toEqual([]);
      expect(partial, `seed ${seed}`).toEqual([]);
      // What came back as taken is counted; what is unknown may be, more than once if it was sent again.
      expect(count, `seed ${seed}`).toBeGreaterThanOrEqual(tally.admitted);
      if (seed % 3 === 0) expect(count, `seed ${seed}`).toBeLessThanOrEqual(8);
      all.admitted += tally.admitted;
      all.refused += tally.refused;
      all.unknown += tally.unknown;
    }
    expect(Math.min(all.admitted, all.refused, all.unknown), JSON.stringify(all)).toBeGreaterThan(0);
  });
});
