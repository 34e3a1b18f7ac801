/**
 * Conformance cases in virtual time: the case, its clients and the engine live in one world, whose clock moves on when
 * nothing is left to do. The end of a lease costs no waiting, and no machine is too slow for a case.
 */
import {
  type ClosingLab,
  type LabClients,
  type LabServer,
  type LockCase,
  type NounCase,
  RedisLab,
  type RedlockCase,
  RedlockLab,
  runCase,
  whyNot,
} from "@holdfast/conformance";
import { compileValkey } from "@holdfast/embedded";
import { Holdfast } from "holdfast";
import { Redis } from "ioredis";
import { beforeAll, describe, expect, it } from "vitest";
import type { Node } from "../../src/sim/node.js";
import type { Process } from "../../src/sim/process.js";
import { ReplyError } from "../../src/sim/resp.js";
import { World } from "../../src/sim/world.js";
import { spawning } from "./contender.js";

type LabOf = (world: World, home: Process) => ClosingLab<RedisLab | RedlockLab>;

/** The seed of each world; the soak tries other orders by another one. */
const SEED = Number(process.env["HOLDFAST_WORLD_SEED"] ?? 1);
const RECONNECT_MS = 20;
/** A packet on its way, and the time after which all that was sent has arrived: a look finds it. */
const DELAY_MS = [0.01, 0.05] as const;
const LOOK_MS = 0.2;
/** A case that takes longer in the world waits for its clock. */
const WAIT_MS = 190;
/** The end of a world, which no case reaches. */
const END_MS = 3_600_000;

const ioredis: LabClients = {
  title: "ioredis 6",
  async open(url) {
    const client = new Redis(url, { disableClientInfo: true, retryStrategy: () => RECONNECT_MS });
    client.on("error", () => {});
    await client.ping();
    return { client, close: () => client.disconnect() };
  },
};

/** A node as the lab meets a server. */
function serverOf(world: World, node: Node, home: Process): LabServer {
  const spawn = spawning(world, home);
  return {
    title: "Valkey in virtual time",
    host: node.name,
    port: 6379,
    async command(...words) {
      await new Promise<void>((resolve) => world.at(world.nowMs + LOOK_MS, () => home.run(resolve)));
      const reply = node.peek(...words);
      if (reply instanceof ReplyError) throw reply;
      return reply;
    },
    freeze: async () => node.pause(),
    thaw: async () => node.resume(),
    restart: async () => node.restart(),
    rollBack: async () => node.restart({ keep: "files" }),
    spawn: (url, prefix) => spawn([url], prefix),
    isOwn: () => world.current === home,
  };
}

/** What the library loads on first use takes files, for which no world waits. */
async function loadAll(): Promise<void> {
  const client = new Redis({ lazyConnect: true });
  const holdfast = new Holdfast(client);
  await holdfast.inspector();
  await holdfast.close();
  client.disconnect();
}

/** Runs a case over so many servers. Returns how much of the world's time it took, in ms. */
async function run(each: NounCase | LockCase | RedlockCase, labOf: LabOf): Promise<number | string> {
  const world = new World({
    seed: SEED,
    module: await compileValkey(),
    realClients: true,
    link: { delayMs: DELAY_MS },
  });
  const home = world.process("case");
  let outcome: (() => number | string) | null = null;
  const finish = (settle: () => number | string): void => {
    outcome = settle;
    world.stop();
  };
  home.run(async () => {
    const lab = labOf(world, home);
    const reason = whyNot(each, lab.lacks);
    try {
      if (reason === null) await runCase(each as NounCase, lab as ClosingLab<RedisLab>);
      else await lab.close();
      const tookMs = world.nowMs;
      finish(() => reason ?? tookMs);
    } catch (error) {
      finish(() => {
        throw error;
      });
    }
  });
  await world.run(END_MS);
  expect(world.errors.map(({ error }) => error)).toEqual([]);
  if (!outcome) throw new Error("nothing was left to do, and the case had not ended");
  return (outcome as () => number | string)();
}

/** Each case over one server, where it shows whether it is right about its waits. */
export function runVirtual(title: string, cases: readonly (NounCase | LockCase)[]): void {
  const labOf: LabOf = (world, home) => new RedisLab(serverOf(world, world.node("server"), home), ioredis);
  suite(title, cases, labOf, true);
}

/** Each case over so many servers. */
export function runVirtualQuorum(
  count: number,
  cases: readonly (LockCase | RedlockCase)[],
  tellsWaits = false,
): void {
  const labOf: LabOf = (world, home) => {
    const nodes = Array.from({ length: count }, (_, place) => world.node(`server-${place + 1}`));
    const servers = nodes.map((node) => serverOf(world, node, home));
    const spawn = spawning(world, home);
    const isOwn = (): boolean => world.current === home;
    return new RedlockLab({ title: `${count} nodes`, servers, spawn, isOwn }, [ioredis]);
  };
  suite(`${count} nodes`, cases, labOf, tellsWaits);
}

function suite(
  title: string,
  cases: readonly (NounCase | LockCase | RedlockCase)[],
  labOf: LabOf,
  tellsWaits: boolean,
): void {
  describe(`${title}, in virtual time`, () => {
    beforeAll(loadAll);

    for (const each of cases) {
      it(each.name, async ({ skip }) => {
        const took = await run(each, labOf);
        if (typeof took === "string") skip(took);
        else if (tellsWaits && SEED === 1)
          expect(took > WAIT_MS, `takes ${took} ms of the world and says waits: ${each.waits}`).toBe(
            each.waits === true,
          );
      });
    }
  });
}
