/** D16: a fence that is raised by the first write, not before the first read. */
import { Account, noneMissing } from "./account.js";
import { fence, tokens } from "./check.js";
import { experiment } from "./experiment.js";
import { grants, overtaken, payments, stopped } from "./need.js";
import { mutexSteps, payUnderMutex } from "./payer.js";
import type { Told, Trial } from "./trial.js";

const ttlMs = 10_000;
const lastsMs = 40_000;

function play(trial: Trial, enters: boolean): void {
  const [ann, bob, redis] = [trial.actor("Ann"), trial.actor("Bob"), trial.server("Redis")];
  const account = new Account(trial);
  const pauseMs = trial.between(11_000, 13_000, "pause");
  payUnderMutex(ann, redis, account, {
    ...{ ttlMs, amount: 10, enters },
    work: () => ann.sleep(500),
    afterCheck: () => ann.freeze(pauseMs, "a pause, after her last look at the lease"),
  });
  // Bob reads before Ann writes, and writes after her.
  payUnderMutex(bob, redis, account, {
    ttlMs,
    amount: 20,
    enters,
    atMs: 1_000,
    work: () => bob.sleep(6_000),
  });
  trial.tell = () => told(account);
}

function told({ confirmed, balance, missing, refusals }: Account): Told {
  const sentence =
    missing > 0
      ? "Bob had read, and not yet written, when Ann woke up. The storage had not seen Bob's token, so it took Ann's " +
        `write and confirmed it; then Bob wrote what he had computed without it: ${confirmed} confirmed, ${balance} in ` +
        "the account. Every write was in the order of the tokens."
      : "Bob had entered with his token before he read. When Ann woke up, the storage knew that a newer holder was at " +
        `work and refused her write: ${confirmed} confirmed, ${balance} in the account.`;
  return { sentence, figures: { "writes refused": refusals, "money lost": missing } };
}

export const lateFence = experiment({
  id: "D16",
  title: "A fence raised too late",
  question:
    "The storage refuses writes with a token older than the newest it has seen. Is that enough, when what is written was " +
    "computed from what was read before?",
  recipes: [
    {
      ...{ side: "naive", name: "tokens on writes only", lastsMs },
      steps: [
        'lease = await hf.mutex("lock").acquire()',
        "balance = GET balance                   no token goes along",
        "write(sum, lease.fence)                 refused, if a larger one was seen",
      ],
      needs: [grants(2), overtaken, payments(2)],
      play: (trial) => play(trial, false),
    },
    {
      ...{ side: "holdfast", name: "enter, then read, then write", steps: mutexSteps, lastsMs },
      needs: [grants(2), overtaken, payments(1), stopped(1)],
      play: (trial) => play(trial, true),
    },
  ],
  checks: [noneMissing, fence, tokens],
});
