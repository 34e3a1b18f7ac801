/**
 * Protocol G: a lock with fencing tokens over independent servers. A reference beside its model (model/quorum), played
 * here with its scripts as they are; holdfast has no quorum lock yet.
 */
import { script as confirmScript } from "../model/quorum/confirm.lua.js";
import { script as grantScript } from "../model/quorum/grant.lua.js";
import type { Node } from "../sim/node.js";
import type { Actor } from "./actor.js";
import type { Possession } from "./possession.js";
import { inTime, RETRY_MS } from "./redlock.js";

const keys = ["2", "{lock}:hold", "{lock}:token"] as const;
const releaseIfOwn =
  'local held = redis.call("GET", KEYS[1]) if held and string.sub(held, 18) == ARGV[1] then redis.call("DEL", KEYS[1]) end';
/** Clocks that are further apart than this are told. */
const mostSkewUs = 1_000_000;

export const quorumSteps = [
  "grant.lua on all five: each says a stamp, its clock or its last token + 1",
  "3 of 5: the token is the largest stamp; confirm.lua tells it to the others",
  "mine, if 3 of 5 confirmed it, and for 10 s less the time that took",
  "balance = await record.enter({ fence: token, id })",
  "await record.write({ fence: token, id }, sum)",
];

interface Vote {
  readonly node: Node;
  readonly stamp: string;
}

export function quorumG(actor: Actor, nodes: readonly Node[], ttlMs: number): Promise<Possession> {
  return actor.takes("lock", async () => {
    for (;;) {
      const beganMs = actor.process.monoMs;
      const asked = await Promise.all(nodes.map((node) => grant(actor, node, ttlMs)));
      const votes = asked.filter((vote) => vote !== null);
      const isMajority = votes.length > nodes.length / 2;
      const token =
        votes
          .map(({ stamp }) => stamp)
          .sort()
          .at(-1) ?? "";
      const confirmed = isMajority ? await Promise.all(votes.map((vote) => confirm(actor, vote, token))) : [];
      const validMs = ttlMs - (actor.process.monoMs - beganMs) - (ttlMs * 0.01 + 2);
      if (confirmed.filter((isYes) => isYes).length > nodes.length / 2 && validMs > 0) {
        tellMajority(actor, votes, nodes.length);
        return { leaseMs: validMs, isWary: true, token: BigInt(token) };
      }
      await releaseG(actor, nodes);
      await actor.sleep(RETRY_MS * actor.process.dice.between(0.5, 1.5));
    }
  });
}

export async function releaseG(actor: Actor, nodes: readonly Node[]): Promise<void> {
  const words = ["EVAL", releaseIfOwn, ...keys, actor.name] as const;
  await Promise.all(nodes.map((node) => inTime(actor, actor.client(node).call(...words))));
}

async function grant(actor: Actor, node: Node, ttlMs: number): Promise<Vote | null> {
  const sentMs = actor.nowMs;
  const words = ["EVAL", grantScript.source, ...keys, actor.name, String(ttlMs), "0"] as const;
  const reply = (await inTime(actor, actor.client(node).call(...words))) as [number, string] | undefined;
  const { picture } = actor.trial;
  if (reply === undefined) {
    picture.arrows.push({ from: actor.name, to: node.name, sentMs, receivedMs: null, label: "grant" });
    return null;
  }
  const [isYes, stamp] = reply;
  actor.drawCall(
    node.name,
    sentMs,
    isYes === 1 ? `grant → stamp ${picture.saw(BigInt(stamp))}` : "grant → no",
  );
  return isYes === 1 ? { node, stamp } : null;
}

/** The node whose stamp is the token knows it. */
async function confirm(actor: Actor, { node, stamp }: Vote, token: string): Promise<boolean> {
  if (stamp === token) return true;
  const words = ["EVAL", confirmScript.source, ...keys, actor.name, stamp, token] as const;
  return (await inTime(actor, actor.client(node).call(...words))) === 1;
}

/** And whose clock cannot be right. */
function tellMajority(actor: Actor, votes: readonly Vote[], of: number): void {
  const { trial, name, nowMs } = actor;
  const sorted = votes.toSorted((a, b) => (a.stamp < b.stamp ? -1 : 1));
  const middle = BigInt(sorted[Math.floor((sorted.length - 1) / 2)]?.stamp ?? 0);
  const outliers = votes.filter(
    ({ stamp }) => BigInt(stamp) - middle > mostSkewUs || middle - BigInt(stamp) > mostSkewUs,
  );
  const said = `${name} has ${votes.length} of ${of}, and all know the token`;
  const off = outliers.map(({ node }) => node.name).join(", ");
  trial.mark(name, "note", off === "" ? said : `${said}; the stamp of ${off} is far from the others`, nowMs);
}
