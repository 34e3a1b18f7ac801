/** Five independent servers, and three locks over them: the five steps by hand, npm redlock, and holdfast's. */
import type { Lease, Mutex } from "holdfast";
import { parseLock } from "holdfast/locks/redis";
import type { Node } from "../sim/node.js";
import { redlockOn } from "../sim/redlock-on.js";
import type { Account } from "./account.js";
import type { Actor } from "./actor.js";
import { acquireByNpm, npmRedlockOn } from "./npm-redlock.js";
import { type Payment, payUnderLease } from "./payer.js";
import { redlock, releaseAll } from "./redlock.js";
import type { Trial } from "./trial.js";

/** Holdfast's own limit on a ttl, which a server that restarted waits for before it votes again. */
export const longestTtlMs = 15_000;

export const quorumSteps = [
  'redlock = new Redlock([a, b, c, d, e], { maxTtl: "15s" })',
  'lease = await redlock.mutex("lock").acquire()    3 of 5 granted, and confirmed the token',
  "await record.get({ fence: lease })       reads; the storage now refuses older tokens",
  "lease.check()                           throws once the lease is over",
  "await record.put(sum, { fence: lease }) the token of the lease goes along",
  "await lease.release()",
];

/** Whoever has no majority by then, waits. */
const longAnswerMs = 20;

/** Up for an hour, as servers are. */
export function fiveServers(trial: Trial): readonly Node[] {
  return ["A", "B", "C", "D", "E"].map((name) => trial.server(name, { upForMs: 3_600_000 }));
}

/** Neither hears of the other. */
export function split(actor: Actor, nodes: readonly Node[]): void {
  for (const node of nodes) {
    const link = actor.trial.world.link(actor.process, node);
    link.block("toNode");
    link.block("toProcess");
  }
}

/** How somebody pays under a lock over five servers. Starts it. */
export type Pay = (actor: Actor, nodes: readonly Node[], account: Account, payment: Payment) => void;

export const payByHand: Pay = (actor, nodes, account, { amount, ttlMs, atMs = 0, work, afterCheck }) => {
  actor.run(async () => {
    for (const node of nodes) actor.client(node); // which connects
    await actor.sleep(atMs);
    const held = await redlock(actor, nodes, "lock", ttlMs);
    await account.pay(account.plain(actor, held), amount, async () => {
      await work?.();
      afterCheck?.();
    });
    held.end();
    await releaseAll(actor, nodes, "lock");
  });
};

/** In a world with real clients. */
export const payByNpm: Pay = (actor, nodes, account, { amount, ttlMs, atMs = 0, work, afterCheck }) => {
  actor.run(async () => {
    const redlock = await npmRedlockOn(actor, nodes);
    await actor.sleep(atMs);
    const { held, release } = await acquireByNpm(actor, redlock, nodes, { key: "lock", ttlMs });
    await account.pay(account.plain(actor, held), amount, async () => {
      await work?.();
      afterCheck?.();
    });
    held.end();
    await release();
  });
};

export const payByQuorum: Pay = (actor, nodes, account, payment) => {
  const { ttlMs, atMs = 0, maxHold } = payment;
  actor.run(async () => {
    const links = nodes.map((node) => actor.trial.world.link(actor.process, node));
    const mutex = redlockOn(links, { maxTtl: longestTtlMs }).mutex("lock", {
      ttl: ttlMs,
      maxHold,
    });
    await actor.sleep(atMs);
    const lease = await acquireDrawn(actor, mutex, nodes);
    await payUnderLease(actor, account, payment, lease);
    await actor.release(lease, nodes.find((node) => hasSeat(node, lease)) ?? (nodes[0] as Node));
  });
};

/** The questions, the time until there was a majority, and who granted. */
function acquireDrawn(actor: Actor, mutex: Mutex, nodes: readonly Node[]): Promise<Lease> {
  const askedMs = actor.nowMs;
  let endWait: (() => void) | undefined;
  const cancel = actor.trial.afterTrue(longAnswerMs, () => {
    endWait = actor.drawWait(askedMs + 1);
  });
  const settle = (): void => {
    cancel();
    endWait?.();
  };
  return actor.acquires(
    mutex,
    { wait: 600_000 },
    {
      granted: (lease) => {
        settle();
        drawSeats(actor, nodes, lease, endWait ? null : askedMs);
      },
      gaveUp: settle,
    },
  );
}

/** Whether a server has granted to the lease, and knows it. */
function hasSeat(node: Node, { id }: Lease): boolean {
  const held = node.peek("GET", "holdfast:{lock}:lock");
  const holder = typeof held === "string" ? parseLock(held)?.holder : null;
  // A seat has the id of its claim, and a number where it was taken anew.
  return holder?.id.split(".", 1)[0] === id;
}

/** @param askedMs null: they were granted at last, to somebody who waited */
function drawSeats(actor: Actor, nodes: readonly Node[], lease: Lease, askedMs: number | null): void {
  const { picture } = actor.trial;
  const { nowMs } = actor;
  const granted = nodes.filter((node) => hasSeat(node, lease));
  for (const { name } of granted) {
    if (askedMs !== null) actor.drawCall(name, askedMs, "acquire → granted");
    else
      picture.arrows.push({
        from: name,
        to: actor.name,
        sentMs: nowMs - 1,
        receivedMs: nowMs,
        label: "granted",
      });
  }
  const text = `${actor.name} has ${granted.length} of ${nodes.length}: token ${picture.saw(lease.fence)}`;
  actor.trial.mark(actor.name, "note", text, nowMs);
}
