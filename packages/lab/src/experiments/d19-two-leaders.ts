/** D19: a leader who overruns its term, where terms are counted by INCR. */
import { type Leadership, LeaseLostError } from "holdfast";
import type { Node } from "../sim/node.js";
import { Account, noneMissing } from "./account.js";
import type { Actor } from "./actor.js";
import { exclusion, fence, sharedMs } from "./check.js";
import { experiment } from "./experiment.js";
import { grants, heldFor, overtaken, payments, stopped } from "./need.js";
import type { Possession } from "./possession.js";
import type { Told, Trial } from "./trial.js";
import { seconds } from "./words.js";

const termMs = 20_000;
const lastsMs = 80_000;
/** How long before the end of its term a leader asks for the next one, and how long after its beginning the others do. */
const earlyMs = 1_000;
const lateMs = 100;
/** When Ann, who has been re-elected, begins her work. */
const worksAtMs = 26_000;

interface Course {
  readonly amount: number;
  readonly atMs: number;
  /** When it begins to work, if it leads by then. */
  readonly worksAtMs: number;
  /** For how long it leads on after its work. */
  readonly staysMs: number;
  readonly afterCheck?: () => void;
}

type Lead = (actor: Actor, redis: Node, account: Account, course: Course) => Promise<void>;

function play(trial: Trial, lead: Lead): void {
  const [ann, bob, redis] = [trial.actor("Ann"), trial.actor("Bob"), trial.server("Redis")];
  const account = new Account(trial);
  const pauseMs = trial.between(25_000, 29_000, "pause");
  const afterCheck = (): void => ann.freeze(pauseMs, "the machine stops, after her last look");
  ann.run(() => lead(ann, redis, account, { amount: 10, atMs: 0, worksAtMs, staysMs: 0, afterCheck }));
  bob.run(() => lead(bob, redis, account, { amount: 20, atMs: 1_000, worksAtMs: 0, staysMs: 12_000 }));
  trial.tell = () => told(trial, account, pauseMs);
}

/** Who increments the counter of a term first leads until the end of that term. */
const leadByIncr: Lead = async (actor, redis, account, course) => {
  await actor.sleep(course.atMs);
  const held = await actor.takes("leader", () => elected(actor, redis));
  const cancel = reelect(actor, redis, held);
  await actor.sleep(Math.max(course.worksAtMs - actor.nowMs, 0));
  await account.pay(account.plain(actor, held), course.amount, async () => {
    await actor.sleep(500);
    course.afterCheck?.();
  });
  await actor.sleep(course.staysMs);
  cancel();
  held.end();
};

function termAt(nowMs: number): number {
  return Math.floor(nowMs / termMs) + 1;
}

async function elected(
  actor: Actor,
  redis: Node,
): Promise<{ readonly token: bigint; readonly leaseMs: number }> {
  for (;;) {
    const term = termAt(actor.nowMs);
    if (await isFirst(actor, redis, term))
      return { token: BigInt(term), leaseMs: term * termMs - actor.nowMs };
    await actor.sleep(term * termMs + lateMs - actor.nowMs);
  }
}

async function isFirst(actor: Actor, redis: Node, term: number): Promise<boolean> {
  return (await actor.ask(redis, ["INCR", `leader:${term}`])) === 1;
}

/** The sitting leader asks for the next term before the others do. Returns the end of that. */
function reelect(actor: Actor, redis: Node, held: Possession): () => void {
  let cancel = (): void => {};
  const ask = async (): Promise<void> => {
    const term = termAt(actor.nowMs) + 1;
    if (held.isEnded || !(await isFirst(actor, redis, term))) return;
    held.renewed(term * termMs - actor.nowMs);
    again();
  };
  const again = (): void => {
    const endMs = termAt(actor.nowMs + earlyMs) * termMs;
    cancel = actor.process.after(endMs - earlyMs - actor.nowMs, ask);
  };
  again();
  return () => cancel();
}

const leadByElection: Lead = async (actor, redis, account, course) => {
  await actor.sleep(course.atMs);
  const election = actor.holdfast(redis).election<string>("leader", { term: termMs, value: actor.name });
  const leadership = await actor.campaign(election, redis);
  const held = actor.possess({ key: "leader", lease: leadership });
  await actor.sleep(Math.max(course.worksAtMs - actor.nowMs, 0));
  await payAsLeader(actor, account, leadership, course);
  await actor.sleep(course.staysMs);
  held.end();
  await leadership.resign();
};

async function payAsLeader(
  actor: Actor,
  account: Account,
  leadership: Leadership<string>,
  { amount, afterCheck }: Course,
): Promise<void> {
  try {
    await account.pay(account.fenced(actor, leadership), amount, async () => {
      await actor.sleep(500);
      leadership.check();
      afterCheck?.();
    });
  } catch (error) {
    if (!(error instanceof LeaseLostError)) throw error;
    actor.trial.count("checks that threw");
  }
}

function told(trial: Trial, { confirmed, balance, missing, refusals }: Account, pauseMs: number): Told {
  const course =
    `Ann, who had stayed in office beyond her first 20 s, was paused for ${seconds(pauseMs)} in the middle of her work, ` +
    "beyond the end of her term. Bob was elected meanwhile, as it should be.";
  const sentence =
    missing > 0
      ? `${course} The counter told Bob that he leads, and nobody told Ann that she does not: two leaders for ` +
        `${seconds(sharedMs(trial))}. When she went on, she wrote over what Bob had written: ${confirmed} were paid in, ` +
        `${balance} are in the account.`
      : `${course} Ann's write came with an older term than Bob's, and the storage refused it; her next look would have ` +
        `told her that her term was over: ${confirmed} confirmed, ${balance} in the account.`;
  const figures = {
    "two leaders, ms": Math.round(sharedMs(trial)),
    "writes refused": refusals,
    "money lost": missing,
  };
  return { sentence, figures };
}

export const twoLeaders = experiment({
  id: "D19",
  title: "Two leaders after an overrun",
  question:
    "Processes elect a leader for terms of 20 seconds, by a counter in Redis: the first to increment it leads. The " +
    "sitting leader asks first, so it stays in office. What if it overruns its term in the middle of its work?",
  recipes: [
    {
      ...{ side: "naive", name: "a term counter by INCR", lastsMs },
      steps: [
        "term = time / 20 s",
        "INCR leader:<term>                      1: I lead until the end of this term",
        "before the end: INCR leader:<term + 1>  the sitting leader asks first",
        "GET balance … SET balance <sum>         the leader's work",
      ],
      needs: [grants(2), overtaken, payments(2)],
      play: (trial) => play(trial, leadByIncr),
    },
    {
      ...{ side: "holdfast", name: "election and fenced record", lastsMs },
      steps: [
        'leadership = await hf.election("leader", { term: "20s" }).campaign()',
        "await record.get({ fence: leadership })  reads; the storage now refuses older terms",
        "leadership.check()                      throws once the term is over",
        "await record.put(sum, { fence: leadership })",
        "await leadership.resign()",
      ],
      needs: [grants(2), overtaken, payments(1), stopped(1), heldFor(termMs)],
      play: (trial) => play(trial, leadByElection),
    },
  ],
  checks: [noneMissing, fence, exclusion],
});
