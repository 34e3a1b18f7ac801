/** What blocks cost: how much several processes admit that take ahead. The unchanged library in virtual time. */
import { diceFor } from "../chance/dice.js";
import { holdfastOn } from "../sim/holdfast-on.js";
import { World } from "../sim/world.js";

export interface Demand {
  /** Who ask for one target, each at random times. */
  readonly processes: number;
  /** So much of `max` all of them together ask for in each `per`. */
  readonly share: number;
}

/** It begins with nothing used; what is counted is one `per` after that. */
const BEFORE = 2;
const SEED = 1;

interface Terms {
  readonly type: "rolling" | "window";
  readonly max: number;
  readonly per: number;
  readonly block: number;
}

/** What was admitted in one `per`, as a share of `max`. */
async function admittedShare(options: Terms, { processes, share }: Demand): Promise<number> {
  const { max, per } = options;
  const world = await World.create({ seed: SEED });
  const node = world.node("redis");
  let admitted = 0;
  for (let place = 0; place < processes; place += 1) {
    const process = world.process(`p${place}`);
    const dice = diceFor(SEED, `demand ${place}`);
    const limit = holdfastOn(world.link(process, node)).limit("blocks", options);
    process.run(async () => {
      for (;;) {
        await process.sleep(dice.gapMs((per * processes) / (max * share)));
        const isCounted = world.nowMs >= BEFORE * per;
        void limit.take("one").then(({ ok }) => {
          if (ok && isCounted) admitted += 1;
        });
      }
    });
  }
  await world.run((BEFORE + 1) * per);
  if (world.errors.length > 0) throw world.errors[0]?.error;
  return admitted / max;
}

const MAX = 300;
const PER_MS = 30_000;
const BLOCKS = [0, 10, 100];
const DEMANDS: readonly Demand[] = [
  { processes: 1, share: 0.9 },
  { processes: 8, share: 0.9 },
  { processes: 64, share: 0.9 },
  { processes: 64, share: 2 },
];

/** The rows of the table in docs/guides/limits.md: type, asked for, processes, and what was admitted with each block. */
export async function shortfalls(): Promise<readonly (readonly string[])[]> {
  const rows: string[][] = [];
  for (const type of ["rolling", "window"] as const)
    for (const demand of DEMANDS) {
      const row = [`\`${type}\``, percent(demand.share), `${demand.processes}`];
      for (const block of BLOCKS)
        row.push(percent(await admittedShare({ type, max: MAX, per: PER_MS, block }, demand)));
      rows.push(row);
    }
  return rows;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
