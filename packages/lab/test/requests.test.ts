/** What is promised of requests as the processes grow, counted in virtual time: docs/guides/capacity.md. */
import { Holdfast, type Lease } from "holdfast";
import { expect, test } from "vitest";
import type { Node } from "../src/sim/node.js";
import type { Process } from "../src/sim/process.js";
import { SimClient } from "../src/sim/sim-client.js";
import { World } from "../src/sim/world.js";

const NAMES = 100;
const WATCH_MS = 60_000;
const PRESENCE_MS = 2_000;
const SETTLE_MS = 3_000;
const MESSAGES = 200;
const LONG_MS = 86_400_000;

interface Member {
  readonly hf: Holdfast;
  readonly process: Process;
  readonly place: number;
}

/** One world of some processes, which do a step together, and the requests and commands that each step costs. */
class Scene {
  readonly #world: World;
  readonly #node: Node;
  readonly #members: readonly Member[];
  #requests = 0;

  private constructor(world: World, processes: number) {
    this.#world = world;
    this.#node = world.node("redis");
    this.#members = Array.from({ length: processes }, (_, place) => {
      const process = world.process(`p${place}`);
      const client = new SimClient(world.link(process, this.#node), {}, () => {
        this.#requests += 1;
      });
      const seams = { clock: process.clock, random: process.random, label: process.name };
      return { hf: new Holdfast(client, seams), process, place };
    });
  }

  static async of(processes: number): Promise<Scene> {
    return new Scene(await World.create({ seed: 1 }), processes);
  }

  async step(
    work: (member: Member) => Promise<unknown>,
  ): Promise<{ readonly requests: number; readonly commands: number }> {
    const before = { requests: this.#requests, commands: this.#commands() };
    let open = this.#members.length;
    for (const member of this.#members) {
      member.process.run(async () => {
        await work(member);
        open -= 1;
        if (open === 0) this.#world.stop();
      });
    }
    await this.#world.run(this.#world.nowMs + LONG_MS);
    for (const { error } of this.#world.errors) throw error;
    expect(open).toBe(0);
    // Less the question before.
    return {
      requests: this.#requests - before.requests,
      commands: this.#commands() - before.commands - 1,
    };
  }

  #commands(): number {
    const text = String(this.#node.peek("INFO", "stats"));
    return Number(/^total_commands_processed:(\d+)/m.exec(text)?.[1]);
  }
}

const sleep = (ms: number) => (member: Member) => member.process.sleep(ms);
const namesOf = ({ place }: Member, processes: number) =>
  Array.from({ length: NAMES / processes }, (_, n) => `${place}:${n}`);

/** Of a ttl of 30 s a third, less a tenth at most: 6 or 7 times in a minute. */
test.each([1, 10])(
  "a process renews all its locks with one request, with %i processes",
  async (processes) => {
    const scene = await Scene.of(processes);
    const leases: Lease[] = [];
    await scene.step(async (member) => {
      const taken = namesOf(member, processes).map((name) => member.hf.mutex(name).acquire());
      leases.push(...(await Promise.all(taken)));
      await member.process.sleep(SETTLE_MS);
    });
    const { requests, commands } = await scene.step(sleep(WATCH_MS));
    expect(leases.filter(({ valid }) => valid).length).toBe(NAMES);
    const rounds = requests / processes;
    expect(rounds).toBeGreaterThanOrEqual(5.5);
    expect(rounds).toBeLessThanOrEqual(7);
    // One EVALSHA for a request, and a few commands for each lock.
    expect(commands / rounds / NAMES).toBeLessThanOrEqual(3);
  },
);

/**
 * Its signs of life, and a PING over its second connection; and every two seconds the question whether that leads to the same server. The
 * last process holds what the others want.
 */
test.each([1, 10])(
  "a process keeps all its places with two requests, and one each two seconds, with %i processes",
  async (processes) => {
    const scene = await Scene.of(processes + 1);
    let answered = 0;
    const isHolder = ({ place }: Member) => place === processes;
    const wanted = Array.from({ length: processes }, (_, place) =>
      namesOf({ place } as Member, processes),
    ).flat();
    await scene.step(async (member) => {
      if (!isHolder(member)) return;
      await Promise.all(wanted.map((name) => member.hf.mutex(name, { ttl: "12h" }).acquire()));
      await member.process.sleep(SETTLE_MS);
    });
    await scene.step(async (member) => {
      const ended = () => {
        answered += 1;
      };
      if (!isHolder(member))
        for (const name of namesOf(member, processes))
          member.hf.mutex(name).acquire({ wait: "12h" }).then(ended, ended);
      await member.process.sleep(SETTLE_MS);
    });
    const { requests, commands } = await scene.step(sleep(WATCH_MS));
    expect(answered).toBe(0);
    const rounds = (requests / processes - WATCH_MS / PRESENCE_MS) / 2;
    expect(rounds).toBeGreaterThanOrEqual(5.5);
    expect(rounds).toBeLessThanOrEqual(8);
    expect(commands / rounds / NAMES).toBeLessThanOrEqual(12);
  },
);

test("a turn of a hot lock costs three requests at most, however many processes want it", async () => {
  const scene = await Scene.of(10);
  let turns = 0;
  const { requests } = await scene.step(async ({ hf, process }) => {
    const endMs = process.monoMs + 4_000;
    while (process.monoMs < endMs) {
      const lease = await hf.mutex("hot").acquire({ wait: "12h" });
      await process.sleep(5);
      turns += 1;
      await lease.release();
    }
  });
  expect(turns).toBeGreaterThan(200);
  expect(requests / turns).toBeLessThanOrEqual(3.2);
});

test.each([1, 10])("a refusal is asked for once by each of %i processes", async (processes) => {
  const scene = await Scene.of(processes);
  const take = ({ hf }: Member) => hf.limit("refused", { max: 10, per: "1m" }).take("one");
  await scene.step(async (member) => {
    for (let n = 0; n < 20; n += 1) await take(member);
  });
  let refused = 0;
  const { requests } = await scene.step(async (member) => {
    for (let n = 0; n < 1_000 / processes; n += 1) {
      if (!(await take(member)).ok) refused += 1;
      await member.process.sleep(10 * processes);
    }
  });
  expect(refused).toBeGreaterThan(900);
  // Every 6 s one call is admitted, and then each process is refused anew.
  expect(requests).toBeLessThanOrEqual(3 * (processes + 1));
});

test.each([1, 10])("messages share requests, with %i processes", async (processes) => {
  const scene = await Scene.of(processes);
  const queue = ({ hf }: Member) => hf.queue("messages");
  await scene.step(async (member) => {
    const own = member.hf.queue(`warm:${member.place}`);
    await own.push(0);
    await (await own.receive())?.ack();
  });
  const pushed = await scene.step((member) =>
    Promise.all(Array.from({ length: MESSAGES / processes }, () => queue(member).push(0))),
  );
  expect(pushed.requests).toBeLessThanOrEqual(2 * processes);
  let handled = 0;
  const consumed = await scene.step(async (member) => {
    const consumer = queue(member).consume(
      async () => {
        handled += 1;
      },
      { concurrency: 16 },
    );
    await member.process.sleep(500);
    await consumer.stop();
  });
  expect(handled).toBe(MESSAGES);
  expect(consumed.requests / handled).toBeLessThanOrEqual(1);
});
