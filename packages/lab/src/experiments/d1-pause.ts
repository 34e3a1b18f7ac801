/** D1: a holder stands still for longer than its lease lasts. */
import { Account, noneMissing } from "./account.js";
import type { Actor } from "./actor.js";
import { exclusion, fence, sharedMs } from "./check.js";
import { experiment, type Recipe } from "./experiment.js";
import { payUnderMutex, steps } from "./payer.js";
import { deleteOwn, setNx } from "./recipes.js";
import type { Told, Trial } from "./trial.js";
import { seconds } from "./words.js";

const ttlMs = 10_000;
const workMs = 500;
const why = "a pause of its runtime, or of its machine";

function castOf(trial: Trial) {
  const [ann, bob, redis] = [trial.actor("Ann"), trial.actor("Bob"), trial.server("Redis")];
  return { ann, bob, redis, account: new Account(trial), pauseMs: trial.between(11_500, 14_000, "pause") };
}

const naive: Recipe = {
  side: "naive",
  name: "SET NX PX, then write",
  steps: [
    "SET lock <me> NX PX 10000             OK: the lock is mine for 10 s",
    "GET balance … SET balance <sum>       the work",
    "if GET lock is <me> then DEL lock",
  ],
  lastsMs: 30_000,
  play: (trial) => {
    const { ann, bob, redis, account, pauseMs } = castOf(trial);
    const pay = async (actor: Actor, amount: number, afterWork: () => void): Promise<void> => {
      const held = await setNx(actor, redis, "lock", ttlMs);
      await account.pay(account.plain(actor, held), amount, async () => {
        await actor.sleep(workMs);
        afterWork();
      });
      held.end();
      await deleteOwn(actor, redis, "lock");
    };
    ann.run(() => pay(ann, 10, () => ann.freeze(pauseMs, why)));
    bob.run(async () => {
      await bob.sleep(1_000);
      await pay(bob, 20, () => {});
    });
    trial.tell = () => told(trial, account, pauseMs);
  },
};

const holdfast: Recipe = {
  side: "holdfast",
  name: "mutex and fenced record",
  steps,
  lastsMs: 30_000,
  play: (trial) => {
    const { ann, bob, redis, account, pauseMs } = castOf(trial);
    const afterCheck = (): void => ann.freeze(pauseMs, `${why}, right after lease.check()`);
    const work = (): Promise<void> => ann.sleep(workMs);
    ann.run(() => payUnderMutex(ann, redis, account, { ttlMs, amount: 10, work, afterCheck }));
    bob.run(async () => {
      await bob.sleep(1_000);
      await payUnderMutex(bob, redis, account, { ttlMs, amount: 20, work: () => bob.sleep(workMs) });
    });
    trial.tell = () => told(trial, account, pauseMs);
  },
};

function told(trial: Trial, account: Account, pauseMs: number): Told {
  const { confirmed, balance, missing, refusals } = account;
  const pause = `Ann stood still for ${seconds(pauseMs)} with a lease of ${seconds(ttlMs)}, and Bob was given the lock meanwhile.`;
  const sentence =
    missing > 0
      ? `${pause} When Ann went on she wrote over what Bob had written: ${confirmed} were paid in, ${balance} are in the account.`
      : `${pause} Ann's write came with an older token than Bob's, and the storage refused it: the balance is ${balance}, as confirmed.`;
  const overlapMs = Math.round(sharedMs(trial));
  return {
    sentence,
    figures: { "two holders, ms": overlapMs, "refused writes": refusals, "lost money": missing },
  };
}

export const pause = experiment({
  id: "D1",
  title: "A pause longer than the lease",
  question:
    "Ann takes a lock for 10 seconds and stands still for longer: garbage collection, a swapped-out machine, a closed " +
    "laptop. Nobody can see that from outside, and Ann cannot feel it. May she go on writing when she wakes?",
  recipes: [naive, holdfast],
  checks: [noneMissing, fence, exclusion],
});
