/** The part that D2 and D3 have in common: five servers, of which Ann reaches A, B, C and Bob reaches C, D, E. */
import type { Node } from "../sim/node.js";
import { Account, noneMissing } from "./account.js";
import { type Check, exclusion, fence, sharedMs, tokens } from "./check.js";
import type { Recipe } from "./experiment.js";
import { fiveServers, type Pay, payByHand, payByNpm, payByQuorum, quorumSteps, split } from "./five.js";
import { contended, grants, type Need, overtaken, payments, stopped, waitedFor } from "./need.js";
import { npmSteps } from "./npm-redlock.js";
import { mutexSteps, payUnderMutex } from "./payer.js";
import { redlockSteps } from "./redlock.js";
import type { Told, Trial } from "./trial.js";
import { seconds } from "./words.js";

const ttlMs = 10_000;
const lastsMs = 40_000;

export interface SplitFault {
  /** When it strikes. */
  readonly atMs: number;
  readonly strike: (trial: Trial, node: Node, excludes: boolean) => void;
  /** After "When": "the clock of C was set forward". */
  readonly told: (server: string) => string;
  /** Whether a majority of holdfast's excludes another even then. */
  readonly excludes: boolean;
}

export function splitRecipes(fault: SplitFault): Recipe[] {
  const naive = { side: "naive", lastsMs, needs: [grants(2), overtaken, payments(2)] } as const;
  const sound = { side: "holdfast", lastsMs } as const;
  const unsafe = { checks: [exclusion, noneMissing, fence] };
  const overtakes = { checks: [noneMissing, fence, tokens], notPromised: [exclusion] };
  const late: readonly Need[] = [grants(2), overtaken, payments(1), stopped(1)];
  const quorum: { readonly checks: readonly Check[]; readonly needs: readonly Need[] } = fault.excludes
    ? {
        checks: [exclusion, noneMissing, fence, tokens],
        needs: [grants(2), contended, payments(1), waitedFor(ttlMs)],
      }
    : { ...overtakes, needs: late };
  return [
    {
      ...{ ...naive, ...unsafe, name: "Redlock by hand over five servers, no fence", steps: redlockSteps },
      play: (trial) => playFive(trial, fault, payByHand),
    },
    {
      ...{ ...naive, ...unsafe, name: "npm redlock 5 over five servers, no fence", steps: npmSteps },
      realClients: true,
      play: (trial) => playFive(trial, fault, payByNpm),
    },
    {
      ...{
        ...sound,
        ...overtakes,
        name: "mutex on one server, fenced record",
        steps: mutexSteps,
        needs: late,
      },
      play: (trial) => playMutex(trial, fault),
    },
    {
      ...{
        ...sound,
        ...quorum,
        name: "holdfast/redlock over five servers, fenced record",
        steps: quorumSteps,
      },
      play: (trial) => playFive(trial, fault, payByQuorum),
    },
  ];
}

/** Two cannot reach two of the servers each, which leaves one that both reach. */
function playFive(trial: Trial, fault: SplitFault, pay: Pay): void {
  const [ann, bob] = [trial.actor("Ann"), trial.actor("Bob")];
  const nodes = fiveServers(trial);
  const account = new Account(trial);
  split(ann, nodes.slice(3));
  split(bob, nodes.slice(0, 2));
  trial.mark("Ann", "note", "the network is split: Ann does not reach D and E, Bob does not reach A and B");
  pay(ann, nodes, account, { ttlMs, amount: 10, work: () => ann.sleep(5_000) });
  pay(bob, nodes, account, { ttlMs, amount: 20, atMs: fault.atMs + 500, work: () => bob.sleep(2_000) });
  const [, , c] = nodes;
  trial.world.at(fault.atMs, () => strike(trial, fault, c as Node, fault.excludes && pay === payByQuorum));
  trial.tell = () =>
    told(trial, account, fault.told("C"), "Bob's majority was C, D, E: Ann, with A, B, C, was never asked.");
}

function strike(trial: Trial, fault: SplitFault, node: Node, excludes: boolean): void {
  fault.strike(trial, node, excludes);
  if (!excludes) trial.forget();
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
  trial.world.at(fault.atMs, () => strike(trial, fault, redis, false));
  trial.tell = () => told(trial, account, fault.told("Redis"), "Bob got it with a larger token.");
}

function told(trial: Trial, account: Account, fault: string, then: string): Told {
  const { confirmed, balance, missing, refusals } = account;
  const overlapMs = sharedMs(trial);
  const stops = trial.counts["checks that threw"] ?? 0;
  const outcome =
    missing !== 0
      ? `Both wrote: ${confirmed} were paid in, ${balance} are in the account.`
      : refusals > 0
        ? `The storage refused Ann's late write: ${confirmed} confirmed, ${balance} in the account.`
        : stops > 0
          ? `Ann learned it before she wrote, and stopped: ${confirmed} confirmed, ${balance} in the account.`
          : `${confirmed} confirmed, ${balance} in the account.`;
  const shared =
    overlapMs > 0
      ? `, and forgot that Ann has the lock. ${then} For ${seconds(overlapMs)} two had it.`
      : ". It did not vote until every lease that it may have forgotten was over, so that Bob had no majority before.";
  return {
    sentence: `${fault}${shared} ${outcome}`,
    figures: { "two holders, ms": Math.round(overlapMs), "writes refused": refusals, "money lost": missing },
  };
}
