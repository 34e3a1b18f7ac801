/** What D2 and D3 have in common: five servers, of which Ann reaches A, B, C and Bob reaches C, D, E. */
import type { Node } from "../sim/node.js";
import { Account } from "./account.js";
import type { Actor } from "./actor.js";
import { sharedMs } from "./check.js";
import type { Recipe } from "./experiment.js";
import { grants, overtaken, payments, stopped } from "./need.js";
import { mutexSteps, payUnderMutex } from "./payer.js";
import { quorumG, quorumSteps, releaseG } from "./quorum-g.js";
import { redlock, redlockSteps, releaseAll } from "./redlock.js";
import type { Told, Trial } from "./trial.js";
import { seconds } from "./words.js";

const ttlMs = 10_000;
const lastsMs = 40_000;

export interface SplitFault {
  /** When it strikes. */
  readonly atMs: number;
  readonly strike: (trial: Trial, node: Node) => void;
  /** After "When": "the clock of C was set forward". */
  readonly told: (server: string) => string;
}

export function splitRecipes(fault: SplitFault): Recipe[] {
  return [
    {
      ...{ side: "naive", name: "Redlock over five servers, no fence", steps: redlockSteps, lastsMs },
      needs: [grants(2), overtaken, payments(2)],
      play: (trial) => playRedlock(trial, fault),
    },
    {
      ...{ side: "holdfast", name: "mutex on one server, fenced record", steps: mutexSteps, lastsMs },
      needs: [grants(2), overtaken, payments(1), stopped(1)],
      play: (trial) => playMutex(trial, fault),
    },
    {
      ...{
        side: "holdfast",
        name: "to come: five servers with tokens, fenced record",
        steps: quorumSteps,
        lastsMs,
      },
      needs: [grants(2), overtaken, payments(1), stopped(1)],
      play: (trial) => playQuorum(trial, fault),
    },
  ];
}

/** Two cannot reach two of the servers each, which leaves one that both reach. */
function splitCast(trial: Trial) {
  const [ann, bob] = [trial.actor("Ann"), trial.actor("Bob")];
  const nodes = ["A", "B", "C", "D", "E"].map((name) => trial.server(name));
  const account = new Account(trial);
  const [a, b, c, d, e] = nodes as [Node, Node, Node, Node, Node];
  for (const [actor, node] of [
    [ann, d],
    [ann, e],
    [bob, a],
    [bob, b],
  ] as const) {
    const link = trial.world.link(actor.process, node);
    link.block("toNode");
    link.block("toProcess");
  }
  trial.mark("Ann", "note", "the network is split: Ann does not reach D and E, Bob does not reach A and B");
  return { ann, bob, nodes, c, account };
}

const majorities = "Bob's majority was C, D, E: Ann, with A, B, C, was never asked.";

function playRedlock(trial: Trial, fault: SplitFault): void {
  const { ann, bob, nodes, c, account } = splitCast(trial);
  const pay = (actor: Actor, amount: number, atMs: number, workMs: number): void => {
    actor.run(async () => {
      await actor.sleep(atMs);
      const held = await redlock(actor, nodes, "lock", ttlMs);
      await account.pay(account.plain(actor, held), amount, () => actor.sleep(workMs));
      held.end();
      await releaseAll(actor, nodes, "lock");
    });
  };
  pay(ann, 10, 0, 5_000);
  pay(bob, 20, fault.atMs + 500, 2_000);
  trial.world.at(fault.atMs, () => fault.strike(trial, c));
  trial.tell = () => told(trial, account, fault.told("C"), majorities);
}

function playQuorum(trial: Trial, fault: SplitFault): void {
  const { ann, bob, nodes, c, account } = splitCast(trial);
  const pay = (actor: Actor, amount: number, atMs: number, workMs: number): void => {
    actor.run(async () => {
      await actor.sleep(atMs);
      const held = await quorumG(actor, nodes, ttlMs);
      const holder = { fence: held.token, id: actor.name };
      await account.pay(account.fenced(actor, holder), amount, () => actor.sleep(workMs));
      held.end();
      await releaseG(actor, nodes);
    });
  };
  pay(ann, 10, 0, 5_000);
  pay(bob, 20, fault.atMs + 500, 2_000);
  trial.world.at(fault.atMs, () => fault.strike(trial, c));
  trial.tell = () => told(trial, account, fault.told("C"), `${majorities} But Bob's token is larger.`);
}

function playMutex(trial: Trial, fault: SplitFault): void {
  const [ann, bob, redis] = [trial.actor("Ann"), trial.actor("Bob"), trial.server("Redis")];
  const account = new Account(trial);
  payUnderMutex(ann, redis, account, { ttlMs, amount: 10, work: () => ann.sleep(2_500) });
  payUnderMutex(bob, redis, account, {
    ttlMs,
    amount: 20,
    atMs: fault.atMs + 500,
    work: () => bob.sleep(2_000),
  });
  trial.world.at(fault.atMs, () => fault.strike(trial, redis));
  trial.tell = () => told(trial, account, fault.told("Redis"), "Bob got it with a larger token.");
}

function told(trial: Trial, account: Account, fault: string, then: string): Told {
  const { confirmed, balance, missing, refusals } = account;
  const overlapMs = sharedMs(trial);
  const outcome =
    missing !== 0
      ? `Both wrote: ${confirmed} were paid in, ${balance} are in the account.`
      : refusals > 0
        ? `The storage refused Ann's late write: ${confirmed} confirmed, ${balance} in the account.`
        : `Ann learned it before she wrote, and stopped: ${confirmed} confirmed, ${balance} in the account.`;
  return {
    sentence: `${fault}, and forgot that Ann has the lock. ${then} For ${seconds(overlapMs)} two had it. ${outcome}`,
    figures: { "two holders, ms": Math.round(overlapMs), "writes refused": refusals, "money lost": missing },
  };
}

export const notYet =
  "Not in the library yet: a lock over several independent servers. The last run plays the reference scripts of the " +
  "protocol that is meant for it, without the rest of a lock. Today holdfast takes a lock on one server and says what it does not promise there: that no second holder exists after the server's clock was set or its data " +
  "was lost. It promises that tokens rise, so that a fenced storage takes no harm.";
