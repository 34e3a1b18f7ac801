import { Holdfast } from "holdfast";
import { Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis5";
import { createClient } from "redis";
import { describe, expect, it } from "vitest";
import { World } from "../../src/sim/world.js";

interface Disposable {
  readonly client: ConstructorParameters<typeof Holdfast>[0];
  close(): void;
}

const libraries: readonly (readonly [name: string, open: () => Promise<Disposable>])[] = [
  ["ioredis 6", async () => ioredis(new Redis({ host: "redis", disableClientInfo: true }))],
  [
    "ioredis 5",
    async () => ioredis(new Redis5({ host: "redis", disableClientInfo: true }) as unknown as Redis),
  ],
  [
    "node-redis 6",
    async () => {
      const client = createClient({ socket: { host: "redis" }, maintNotifications: "disabled" });
      client.on("error", () => {});
      await client.connect();
      return { client, close: () => client.destroy() };
    },
  ],
];

function ioredis(client: Redis): Disposable {
  client.on("error", () => {});
  return { client, close: () => client.disconnect() };
}

/** Three processes over one library, with a connection that breaks after a request was carried out. */
async function crowd(seed: number, open: () => Promise<Disposable>) {
  const world = await World.create({ seed, realClients: true });
  const node = world.node("redis");
  const sections: { fromMs: number; toMs: number }[] = [];
  let ended = 0;
  for (const name of ["a", "b", "c"]) {
    const process = world.process(name);
    process.run(async () => {
      const { client, close } = await open();
      const hf = new Holdfast(client, { clock: process.clock, random: process.random });
      for (let i = 0; i < 10; i++) {
        await process.sleep(process.dice.between(10, 200));
        const lease = await hf.mutex("m", { ttl: 1_000 }).acquire();
        const fromMs = process.nowMs;
        await process.sleep(process.dice.between(1, 50));
        sections.push({ fromMs, toMs: process.nowMs });
        await lease.release();
      }
      await hf.close();
      close();
      ended += 1;
    });
    world.at(700, () => world.link(process, node).loseNext("after"));
    world.at(1_200, () => world.link(process, node).cut());
  }
  await world.run(20_000);
  expect(world.errors).toEqual([]);
  expect(ended).toBe(3);
  const left = [...world.processes.values()].map(({ timerCount, wires }) => [timerCount, wires.size]);
  return { hash: world.hash, sections, left };
}

describe.each(libraries)("%s in a world", (_, open) => {
  it("works through broken connections, the same each time, and leaves nothing behind", async () => {
    const globals = [Date, setTimeout, Math.random, performance.now];
    await crowd(1, open); // what it loads late is loaded now
    const first = await crowd(1, open);
    expect((await crowd(1, open)).hash).toBe(first.hash);
    expect((await crowd(2, open)).hash).not.toBe(first.hash);
    expect(first.sections).toHaveLength(30);
    for (const [place, section] of first.sections.entries())
      expect(section.fromMs).toBeGreaterThanOrEqual(first.sections[place - 1]?.toMs ?? 0);
    expect([Date, setTimeout, Math.random, performance.now]).toEqual(globals);
  });
});
