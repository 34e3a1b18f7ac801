/** D5: a release that does not look whose lock it is. */
import { Account, noneMissing } from "./account.js";
import { exclusion, fence, holdsIn, sharedMs } from "./check.js";
import { experiment, type Recipe } from "./experiment.js";
import { grants, overtaken, payments } from "./need.js";
import { mutexSteps, payUnderMutex } from "./payer.js";
import { deleteAny, setNx } from "./recipes.js";
import type { Told, Trial } from "./trial.js";
import { seconds } from "./words.js";

const ttlMs = 10_000;
const workMs = 3_000;

function castOf(trial: Trial) {
  const [ann, bob, cleo] = [trial.actor("Ann"), trial.actor("Bob"), trial.actor("Cleo")];
  const redis = trial.server("Redis");
  const account = new Account(trial);
  const lateMs = trial.between(500, 1_500, "late");
  trial.tell = () => told(trial, account);
  return { ann, bob, cleo, redis, account, lateMs };
}

const naive: Recipe = {
  side: "naive",
  name: "SET NX PX, released by DEL",
  steps: ["SET lock <me> NX PX 10000", "GET balance … SET balance <sum>", "DEL lock"],
  lastsMs: 40_000,
  needs: [grants(3), overtaken, payments(2)],
  play: (trial) => {
    const { ann, bob, cleo, redis, account, lateMs } = castOf(trial);
    // Ann is careful: she stops to pay in when her time is over. She only tidies up, as the recipe says.
    ann.run(async () => {
      const held = await setNx(ann, redis, "lock", ttlMs, { isWary: true });
      await ann.sleep(1_000);
      ann.freeze(ttlMs + lateMs - 1_000, "a pause");
      held.end();
      await deleteAny(ann, redis, "lock");
    });
    const pay = async (actor: typeof bob, startMs: number, amount: number): Promise<void> => {
      await actor.sleep(startMs);
      const held = await setNx(actor, redis, "lock", ttlMs);
      await account.pay(account.plain(actor, held), amount, () => actor.sleep(workMs));
      held.end();
      await deleteAny(actor, redis, "lock");
    };
    bob.run(() => pay(bob, 1_000, 20));
    cleo.run(() => pay(cleo, 2_000, 40));
  },
};

const holdfast: Recipe = {
  side: "holdfast",
  name: "mutex",
  steps: mutexSteps,
  lastsMs: 40_000,
  needs: [grants(3), overtaken, payments(2)],
  play: (trial) => {
    const { ann, bob, cleo, redis, account, lateMs } = castOf(trial);
    ann.run(async () => {
      const lease = await ann.acquire(ann.holdfast(redis).mutex("lock", { ttl: ttlMs }), redis);
      const held = ann.possess({ key: "lock", lease });
      await ann.sleep(1_000);
      ann.freeze(ttlMs + lateMs - 1_000, "a pause");
      held.end();
      await ann.release(lease, redis);
    });
    payUnderMutex(bob, redis, account, { ttlMs, amount: 20, atMs: 1_000, work: () => bob.sleep(workMs) });
    payUnderMutex(cleo, redis, account, { ttlMs, amount: 40, atMs: 2_000, work: () => cleo.sleep(workMs) });
  },
};

function told(trial: Trial, { confirmed, balance, missing }: Account): Told {
  const overlapMs = sharedMs(trial);
  // Who came first after Ann is left to the seed.
  const [first = "", second = ""] = holdsIn(trial)
    .map(({ process }) => process)
    .filter((name) => name !== "Ann");
  const sentence =
    overlapMs > 0
      ? `Ann's lease was over, and her DEL removed ${first}'s lock. ${second} took it while ${first} was at work: ` +
        `${seconds(overlapMs)} with two holders, ${confirmed} paid in, ${balance} in the account.`
      : `Ann's lease was over, so her release touched nothing. ${first} kept the lock and handed it to ${second}: ` +
        `${confirmed} paid in, ${balance} in the account.`;
  return { sentence, figures: { "two holders, ms": Math.round(overlapMs), "money lost": missing } };
}

export const foreignRelease = experiment({
  id: "D5",
  title: "Unlocking somebody else's lock",
  question:
    "Ann is late: her lease ran out, and Bob has the lock now. Ann does not know it and tidies up after herself. Whose " +
    "lock does she remove?",
  recipes: [naive, holdfast],
  checks: [exclusion, fence, noneMissing],
});
