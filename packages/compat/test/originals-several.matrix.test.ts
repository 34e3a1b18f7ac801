/**
 * npm redlock over three servers beside ours: the scenarios of its suite for several instances, in our words. A stranger
 * holds the name at one server or at two; each side has its own keys, so each has a stranger of its own.
 */
import { until } from "@holdfast/conformance";
import type { Redis } from "ioredis";
import OriginalRedlock from "redlock";
import { describe, expect, test } from "vitest";
import { Redlock, redlockOf } from "../src/redlock/index.ts";
import { endsBetween, outcome, type Stats, votes } from "./outcome.ts";
import { type Node, onThreeServers, type Three } from "./three-servers.ts";

type RedlockClass = typeof OriginalRedlock;

const DURATION = 50_000;
const NO_WAIT = { retryCount: 0 };
const STRANGER = "of a stranger";

/** One of the two implementations, and what it has at a server. */
interface Side {
  readonly made: RedlockClass;
  clients(): Redis[];
  /** Lets a stranger hold the name at this server. */
  occupy(node: Node, name: string): Promise<void>;
  isHeld(node: Node, name: string): Promise<boolean>;
  /** What the server has under the name, and how long for: it changes with whatever changes the lock. */
  trace(node: Node, name: string): Promise<unknown>;
}

const theirs = (three: Three): Side => ({
  made: OriginalRedlock,
  clients: () => three.clients(),
  occupy: async ({ admin }, name) => void (await admin.set(name, STRANGER)),
  isHeld: async ({ admin }, name) => (await admin.exists(name)) === 1,
  trace: async ({ admin }, name) => [await admin.get(name), await admin.pttl(name)],
});

const ours = (three: Three): Side => ({
  made: Redlock as unknown as RedlockClass,
  clients() {
    const clients = three.clients();
    // The servers have only just been started, and a busy machine is no failure.
    redlockOf(clients, { quarantine: 0, callTimeout: "10s" });
    return clients;
  },
  occupy: ({ store }, name) => store.seize(name),
  isHeld: async ({ store }, name) => (await store.leftMs(name)) !== null,
  trace: async ({ admin }, name) => [await admin.get(`holdfast:{${name}}:lock`)],
});

interface Scene extends Side {
  readonly nodes: Three["nodes"];
  readonly key: string;
  /** At which servers the name is held. Soon, because an operation does not wait for servers that it does not need. */
  heldAt(name: string, soon: readonly boolean[]): Promise<readonly boolean[]>;
}

type Failed = Error & { readonly attempts: readonly Promise<Stats>[] };

const ALL = [true, true, true];
const NONE = [false, false, false];

const scenarios: Record<string, (scene: Scene) => unknown> = {
  async "a lock is acquired, extended and released at all of them"({ made, clients, key, heldAt }) {
    const sinceMs = Date.now();
    let lock = await new made(clients(), NO_WAIT).acquire([key], DURATION);
    const { value, attempts } = lock;
    const inTime = endsBetween(sinceMs, lock.expiration, DURATION);
    const facts: unknown[] = [inTime, await votes({ attempts }), await heldAt(key, ALL)];
    const extendedMs = Date.now();
    lock = await lock.extend(3 * DURATION);
    facts.push(
      await heldAt(key, ALL),
      lock.value === value,
      endsBetween(extendedMs, lock.expiration, 3 * DURATION),
    );
    facts.push(await votes(await lock.release()), await heldAt(key, NONE));
    return facts;
  },
  async "several resources are one lock"({ made, clients, key, heldAt }) {
    const names = [`${key}-1`, `${key}-2`];
    const redlock = new made(clients(), NO_WAIT);
    const lock = await redlock.acquire(names, DURATION);
    const facts: unknown[] = [];
    for (const name of names) facts.push(await heldAt(name, ALL));
    facts.push(((await outcome(() => redlock.acquire([names[1] ?? ""], DURATION))) as Error).message);
    await lock.release();
    for (const name of names) facts.push(await heldAt(name, NONE));
    return facts;
  },
  async "a minority that is held by a stranger does not matter, and is left alone"(scene) {
    const { made, clients, nodes, key, heldAt, occupy, trace } = scene;
    await occupy(nodes[2], key);
    const before = await trace(nodes[2], key);
    const redlock = new made(clients(), NO_WAIT);
    const errors: string[] = [];
    redlock.on("error", ({ name, message }: Error) => errors.push(`${name}: ${message}`));
    let lock = await redlock.acquire([key], DURATION);
    const facts: unknown[] = [await votes(lock), errors[0], await heldAt(key, ALL)];
    lock = await lock.extend(3 * DURATION);
    facts.push(await heldAt(key, ALL), lock.expiration > Date.now() + 2 * DURATION);
    await lock.release();
    facts.push(await heldAt(key, [false, false, true]), same(before, await trace(nodes[2], key)));
    return facts;
  },
  async "a majority that is held by strangers fails, and leaves nothing of ours"(scene) {
    const { made, clients, nodes, key, heldAt, occupy, trace } = scene;
    await Promise.all([occupy(nodes[1], key), occupy(nodes[2], key)]);
    const before = [await trace(nodes[1], key), await trace(nodes[2], key)];
    const [own, ...strange] = clients();
    const redlock = new made([own, ...strange], NO_WAIT);
    const failed = await redlock.acquire([key], DURATION).catch((error: Failed) => error);
    const stats = await (failed as Failed).attempts[0];
    const facts = [
      failed.constructor.name,
      (failed as Failed).message,
      stats?.membershipSize,
      stats?.quorumSize,
    ];
    for (const client of strange) facts.push(String(stats?.votesAgainst.get(client)));
    const held = await heldAt(key, [false, true, true]);
    return [facts, held, same(before, [await trace(nodes[1], key), await trace(nodes[2], key)])];
  },
  async "two Redlocks exclude each other, in whatever order they name the servers"(scene) {
    const { made, clients, key, heldAt } = scene;
    const [one, other] = [new made(clients(), NO_WAIT), new made(clients().reverse(), NO_WAIT)];
    const lock = await one.acquire([key], DURATION);
    const refused = await outcome(() => other.acquire([key], DURATION));
    await lock.release();
    await heldAt(key, NONE); // a release does not wait for the last server
    const next = await other.acquire([key], DURATION);
    return [(refused as Error).message, await votes(next), await votes(await next.release())];
  },
  async "using extends for as long as the routine runs, and releases"({ made, clients, key, heldAt }) {
    const redlock = new made(clients(), NO_WAIT);
    await (await redlock.acquire([key], DURATION)).release(); // a call has less time when the lock is short
    const facts = await redlock.using([key], 1_200, {}, async (signal) => {
      await new Promise((resolve) => setTimeout(resolve, 1_800));
      return [signal.aborted, String(signal.error), await heldAt(key, ALL)];
    });
    return [facts, await heldAt(key, NONE)];
  },
  async "two usings never overlap"({ made, clients, key }) {
    const settings = { retryCount: -1, retryDelay: 5, retryJitter: 2 };
    const redlocks = [new made(clients(), settings), new made(clients(), settings)];
    let inside = 0;
    return await Promise.all(
      redlocks.map((redlock) =>
        redlock.using([key], DURATION, {}, async () => {
          const seen = ++inside;
          await new Promise((resolve) => setTimeout(resolve, 20));
          inside -= 1;
          return seen;
        }),
      ),
    );
  },
};

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

describe("redlock 5.0.0-beta.2 over three servers", () => {
  onThreeServers((three) => {
    test.each(Object.entries(scenarios))("%s", async (_, scenario) => {
      const run = async (side: Side, key: string): Promise<string> => {
        const { nodes } = three();
        const now = (name: string) => Promise.all(nodes.map((node) => side.isHeld(node, name)));
        const heldAt: Scene["heldAt"] = async (name, soon) => {
          await until("the servers agree", async () => same(await now(name), soon), 10_000).catch(() => {});
          return now(name);
        };
        const result = await outcome(() => scenario({ ...side, nodes, key, heldAt }));
        return JSON.stringify(result, null, 1).replaceAll(key, "KEY");
      };
      const name = three().name();
      expect(await run(ours(three()), `ours-${name}`)).toBe(await run(theirs(three()), `theirs-${name}`));
    });
  });
});
