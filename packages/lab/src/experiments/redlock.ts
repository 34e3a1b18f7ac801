/** Redlock as it is described: SET NX PX on every server, a majority, a validity time; release everywhere. */
import type { Node } from "../sim/node.js";
import type { Actor } from "./actor.js";
import type { Possession } from "./possession.js";

/** Longest wait for one server. */
const PATIENCE_MS = 50;
const RETRY_MS = 200;

const deleteIfOwn = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`;

export const redlockSteps = [
  "SET lock <me> NX PX 10000 on all five servers at once, 50 ms for each",
  "mine, if 3 of 5 said OK, and for 10 s less the time that took",
  "GET balance … SET balance <sum>",
  "if GET lock is <me> then DEL lock, on all five",
];

export async function redlock(
  actor: Actor,
  nodes: readonly Node[],
  key: string,
  ttlMs: number,
): Promise<Possession> {
  return actor.takes(key, async () => {
    for (let tries = 1; ; tries++) {
      const beganMs = actor.process.monoMs;
      const votes = await Promise.all(nodes.map((node) => vote(actor, node, key, ttlMs)));
      const validMs = ttlMs - (actor.process.monoMs - beganMs) - (ttlMs * 0.01 + 2);
      const won = votes.filter(({ isYes }) => isYes).length;
      const hasWon = won > nodes.length / 2 && validMs > 0;
      // Of many questions the first is drawn, and the last.
      if (tries === 1 || hasWon) for (const { draw } of votes) draw();
      if (hasWon) {
        const text = `${actor.name} has ${won} of ${nodes.length}: a majority`;
        actor.trial.mark(actor.name, "note", text, actor.nowMs);
        return { leaseMs: validMs, isWary: true };
      }
      await releaseAll(actor, nodes, key);
      await actor.sleep(RETRY_MS * actor.process.dice.between(0.5, 1.5));
    }
  });
}

export async function releaseAll(actor: Actor, nodes: readonly Node[], key: string): Promise<void> {
  await Promise.all(
    nodes.map((node) => inTime(actor, actor.client(node).call("EVAL", deleteIfOwn, "1", key, actor.name))),
  );
}

interface Vote {
  readonly isYes: boolean;
  draw(): void;
}

async function vote(actor: Actor, node: Node, key: string, ttlMs: number): Promise<Vote> {
  const sentMs = actor.nowMs;
  const client = actor.client(node);
  const reply = await inTime(actor, client.call("SET", key, actor.name, "NX", "PX", String(ttlMs)));
  const receivedMs = reply === undefined ? null : actor.nowMs;
  const label =
    reply === undefined
      ? `SET NX, no answer in ${PATIENCE_MS} ms`
      : `SET NX → ${reply === "OK" ? "OK" : "no"}`;
  const arrow = { from: actor.name, to: node.name, sentMs, receivedMs, label };
  return { isYes: reply === "OK", draw: () => void actor.trial.picture.arrows.push(arrow) };
}

/** undefined: no answer in time. */
function inTime<Value>(actor: Actor, call: Promise<Value>): Promise<Value | undefined> {
  return new Promise((resolve) => {
    const cancel = actor.process.after(PATIENCE_MS, () => resolve(undefined));
    const settle = (value: Value | undefined): void => {
      cancel();
      resolve(value);
    };
    call.then(settle, () => settle(undefined));
  });
}
