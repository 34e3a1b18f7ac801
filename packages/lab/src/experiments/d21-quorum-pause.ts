/** D21: a holder of a majority is paused for longer than its lease lasts. */
import { Account, noneMissing } from "./account.js";
import { exclusion, fence, sharedMs, tokens } from "./check.js";
import { experiment } from "./experiment.js";
import { fiveServers, type Pay, payByHand, payByNpm, payByQuorum, quorumSteps } from "./five.js";
import { grants, overtaken, payments, stopped } from "./need.js";
import { npmSteps } from "./npm-redlock.js";
import { redlockSteps } from "./redlock.js";
import type { Told, Trial } from "./trial.js";
import { seconds } from "./words.js";

const ttlMs = 10_000;
const lastsMs = 30_000;

function play(trial: Trial, pay: Pay): void {
  const [ann, bob] = [trial.actor("Ann"), trial.actor("Bob")];
  const nodes = fiveServers(trial);
  const account = new Account(trial);
  const pauseMs = trial.between(11_500, 14_000, "pause");
  pay(ann, nodes, account, {
    ...{ ttlMs, amount: 10 },
    work: () => ann.sleep(500),
    afterCheck: () => ann.freeze(pauseMs, "garbage collection, after her last look at the lease"),
  });
  pay(bob, nodes, account, { ttlMs, amount: 20, atMs: 1_000, work: () => bob.sleep(500) });
  trial.tell = () => told(trial, account, pauseMs);
}

function told(trial: Trial, { confirmed, balance, missing, refusals }: Account, pauseMs: number): Told {
  const pause =
    `Ann had a majority of five servers, and was paused for ${seconds(pauseMs)} with a lease of ${seconds(ttlMs)}. The servers gave the ` +
    "lock to Bob, as they should.";
  const sentence =
    missing > 0
      ? `${pause} When Ann went on, she wrote over what Bob had written: ${confirmed} were paid in, ${balance} are in the account.`
      : `${pause} Ann's write came with an older token than Bob's, and the storage refused it: ${confirmed} confirmed, ${balance} in the account.`;
  const figures = {
    "two holders, ms": Math.round(sharedMs(trial)),
    "writes refused": refusals,
    "money lost": missing,
  };
  return { sentence, figures };
}

const naive = { side: "naive", lastsMs, needs: [grants(2), overtaken, payments(2)] } as const;

export const quorumPause = experiment({
  id: "D21",
  title: "A pause, with a majority of five",
  question:
    "Ann takes a lock with a majority of five servers. She looks at her watch: 9 of 10 seconds are left. Then her process is paused, and " +
    "she writes when it goes on. Do five servers help where one did not?",
  recipes: [
    {
      ...{ ...naive, name: "Redlock by hand over five servers, no fence", steps: redlockSteps },
      play: (trial) => play(trial, payByHand),
    },
    {
      ...{ ...naive, name: "npm redlock 5 over five servers, no fence", steps: npmSteps, realClients: true },
      play: (trial) => play(trial, payByNpm),
    },
    {
      ...{ side: "holdfast", name: "holdfast/redlock over five servers, fenced record", steps: quorumSteps },
      lastsMs,
      needs: [grants(2), overtaken, payments(1), stopped(1)],
      checks: [noneMissing, fence, exclusion, tokens],
      play: (trial) => play(trial, payByQuorum),
    },
  ],
  checks: [noneMissing, fence],
  remark:
    "Kleppmann's first schedule. Sanfilippo answers that every lock with an expiry has this problem, and that is so: no lock stops Ann, and " +
    "holdfast's does not either. Her write is stopped at the storage, because her token is older than Bob's. A random value, which Redlock " +
    "has instead of a token, can say that a lock is another one. It cannot say which one is newer.",
});
