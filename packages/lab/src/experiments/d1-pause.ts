/** D1: a holder is paused for longer than its lease lasts. */
import { Account, noneMissing } from "./account.js";
import { exclusion, fence, sharedMs } from "./check.js";
import { experiment } from "./experiment.js";
import { grants, overtaken, payments, stopped } from "./need.js";
import { mutexSteps, payUnderMutex, payUnderSetNx, setNxSteps } from "./payer.js";
import type { Told, Trial } from "./trial.js";
import { seconds } from "./words.js";

const ttlMs = 10_000;
const lastsMs = 30_000;
const why = "the runtime, or the machine, stops";

function play(trial: Trial, pay: typeof payUnderMutex): void {
  const [ann, bob, redis] = [trial.actor("Ann"), trial.actor("Bob"), trial.server("Redis")];
  const account = new Account(trial);
  const pauseMs = trial.between(11_500, 14_000, "pause");
  pay(ann, redis, account, {
    ...{ ttlMs, amount: 10 },
    work: () => ann.sleep(500),
    afterCheck: () => ann.freeze(pauseMs, `${why}, after her last look at the lease`),
  });
  pay(bob, redis, account, { ttlMs, amount: 20, atMs: 1_000, work: () => bob.sleep(500) });
  trial.tell = () => told(trial, account, pauseMs);
}

function told(trial: Trial, { confirmed, balance, missing, refusals }: Account, pauseMs: number): Told {
  const pause =
    `Ann was paused for ${seconds(pauseMs)} with a lease of ${seconds(ttlMs)}, and Bob was given the lock ` +
    "meanwhile, as it should be.";
  const sentence =
    missing > 0
      ? `${pause} When Ann went on, she wrote over what Bob had written: ${confirmed} were paid in, ${balance} are in ` +
        "the account."
      : `${pause} Ann's write came with an older token than Bob's, and the storage refused it: ${confirmed} confirmed, ` +
        `${balance} in the account.`;
  const figures = {
    "two holders, ms": Math.round(sharedMs(trial)),
    "writes refused": refusals,
    "money lost": missing,
  };
  return { sentence, figures };
}

export const pause = experiment({
  id: "D1",
  title: "A pause longer than the lease",
  question:
    "Ann takes a lock for 10 seconds and is paused for longer: garbage collection, a swapped-out machine, a closed " +
    "laptop. Nobody can see that from outside, and Ann cannot feel it. May she go on writing when she wakes?",
  recipes: [
    {
      side: "naive",
      name: "SET NX PX, then write",
      steps: setNxSteps,
      lastsMs,
      needs: [grants(2), overtaken, payments(2)],
      play: (trial) => play(trial, payUnderSetNx),
    },
    {
      side: "holdfast",
      name: "mutex and fenced record",
      steps: mutexSteps,
      lastsMs,
      needs: [grants(2), overtaken, payments(1), stopped(1)],
      play: (trial) => play(trial, payUnderMutex),
    },
  ],
  checks: [noneMissing, fence, exclusion],
});
