/** npm redlock 5 itself, over ioredis, in a world with real clients. */
import { Redis } from "ioredis5";
import Redlock from "redlock5";
import type { Node } from "../sim/node.js";
import type { Actor } from "./actor.js";
import type { Possession } from "./possession.js";

export const npmSteps = [
  "redlock = new Redlock([a, b, c, d, e], { retryCount: -1 })",
  'lock = await redlock.acquire(["lock"], 10000)',
  "GET balance … SET balance <sum>",
  "await lock.release()",
];

/** Connects, and is used once, so that the servers know its scripts from then on. Call it in a turn of the actor. */
export async function npmRedlockOn({ name }: Actor, nodes: readonly Node[]): Promise<Redlock> {
  const clients = nodes.map((node) =>
    new Redis({ host: node.name, disableClientInfo: true }).on("error", nothing),
  );
  const redlock = new Redlock(clients, { retryCount: -1 }).on("error", nothing);
  const lock = await redlock.acquire([`the own one of ${name}`], 1_000);
  await lock.release();
  return redlock;
}

export async function acquireByNpm(
  actor: Actor,
  redlock: Redlock,
  nodes: readonly Node[],
  { key, ttlMs }: { readonly key: string; readonly ttlMs: number },
): Promise<{ held: Possession; release(): Promise<void> }> {
  const askedMs = actor.nowMs;
  actor.trial.mark(actor.name, "note", `${actor.name} asks all ${nodes.length}`, askedMs);
  let release = async (): Promise<void> => {};
  const held = await actor.takes(key, async () => {
    const lock = await redlock.acquire([key], ttlMs);
    // A release that finds no majority of its own throws.
    release = () => lock.release().then(nothing, nothing);
    for (const node of nodes)
      if (node.peek("GET", key) === lock.value) actor.drawCall(node.name, askedMs, "SET NX → OK");
    const leaseMs = lock.expiration - actor.process.wallMs;
    const late = leaseMs < 0 ? `, whose time was over ${Math.round(-leaseMs / 100) / 10} s ago` : "";
    actor.trial.mark(actor.name, "note", `redlock gives ${actor.name} the lock${late}`, actor.nowMs);
    return { leaseMs: Math.max(0, leaseMs) };
  });
  return { held, release };
}

function nothing(): void {}
