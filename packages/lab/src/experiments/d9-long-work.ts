/** D9: work that takes longer than the lease, and a renewal that cannot run. */
import { Account, noneMissing } from "./account.js";
import type { Actor } from "./actor.js";
import { exclusion, fence, sharedMs } from "./check.js";
import { experiment, type Recipe } from "./experiment.js";
import { contended, grants, heldFor, overtaken, payments, stopped } from "./need.js";
import { mutexSteps, payUnderMutex, payUnderSetNx, setNxSteps } from "./payer.js";
import { deleteOwn, setNx } from "./recipes.js";
import type { Told, Trial } from "./trial.js";
import { seconds } from "./words.js";

const ttlMs = 10_000;
const lastsMs = 60_000;

function castOf(trial: Trial, course: string) {
  const [ann, bob, redis] = [trial.actor("Ann"), trial.actor("Bob"), trial.server("Redis")];
  const account = new Account(trial);
  const workMs = trial.between(14_000, 25_000, "work");
  trial.tell = () => told(trial, account, course);
  return { ann, bob, redis, account, workMs };
}

/** Ann's work needs longer than the ttl. */
const longWork = (side: Recipe["side"], name: string, pay: typeof payUnderMutex): Recipe => ({
  ...{ side, name, lastsMs },
  steps: side === "naive" ? setNxSteps : mutexSteps,
  needs: [grants(2), payments(2), heldFor(ttlMs), side === "naive" ? overtaken : contended],
  play: (trial) => {
    const { ann, bob, redis, account, workMs } = castOf(trial, "Ann's work took longer than a lease");
    pay(ann, redis, account, { ttlMs, amount: 10, work: () => ann.sleep(workMs) });
    pay(bob, redis, account, { ttlMs, amount: 20, atMs: 1_000, work: () => bob.sleep(1_000) });
  },
});

const blocked = "Ann computed in one go, and no timer of hers could run";

/** Renews by a timer, whoever's the lock is. */
async function payWithTimer(actor: Actor, { redis, account }: ReturnType<typeof castOf>, blockMs: number) {
  const held = await setNx(actor, redis, "lock", ttlMs);
  let cancel = (): void => {};
  const renew = async (): Promise<void> => {
    cancel = actor.process.after(ttlMs / 3, renew);
    const label = `PEXPIRE lock ${ttlMs}`;
    await actor.ask(redis, ["PEXPIRE", "lock", String(ttlMs)], { label });
    if (!held.isEnded) held.renewed(ttlMs);
  };
  cancel = actor.process.after(ttlMs / 3, renew);
  await account.pay(account.plain(actor, held), 10, async () => {
    await actor.sleep(1_000);
    actor.freeze(blockMs, "the event loop is busy, timers wait");
  });
  cancel();
  held.end();
  await deleteOwn(actor, redis, "lock");
}

const blockedRenewal: Recipe = {
  ...{ side: "naive", name: "SET NX PX, renewed by a timer", lastsMs },
  steps: [
    "SET lock <me> NX PX 10000",
    "setInterval(() => PEXPIRE lock 10000, 3333)",
    "GET balance … SET balance <sum>         no pause for timers in the work",
    "clearInterval; if GET lock is <me> then DEL lock",
  ],
  needs: [grants(2), overtaken, payments(2)],
  play: (trial) => {
    const cast = castOf(trial, blocked);
    const { ann, bob, redis, account, workMs } = cast;
    ann.run(() => payWithTimer(ann, cast, workMs));
    payUnderSetNx(bob, redis, account, { ttlMs, amount: 20, atMs: 1_500, work: () => bob.sleep(2_000) });
  },
};

const blockedHoldfast: Recipe = {
  ...{ side: "holdfast", name: "mutex, the event loop blocked", steps: mutexSteps, lastsMs },
  needs: [grants(2), overtaken, payments(1), stopped(1)],
  play: (trial) => {
    const { ann, bob, redis, account, workMs } = castOf(trial, blocked);
    payUnderMutex(ann, redis, account, {
      ...{ ttlMs, amount: 10 },
      work: async () => {
        await ann.sleep(1_000);
        ann.freeze(workMs, "the event loop is busy, timers wait");
      },
    });
    payUnderMutex(bob, redis, account, { ttlMs, amount: 20, atMs: 1_500, work: () => bob.sleep(2_000) });
  },
};

function told(trial: Trial, { confirmed, balance, missing }: Account, course: string): Told {
  const overlapMs = sharedMs(trial);
  const stopped = trial.picture.marks.some(({ label }) => label.startsWith("lease.check() throws"));
  const outcome = `${confirmed} confirmed, ${balance} in the account.`;
  const sentence =
    overlapMs > 0
      ? `${course}. Redis gave the lock to Bob, and nothing told Ann: two holders for ${seconds(overlapMs)}. ${outcome}`
      : stopped
        ? `${course}, so Redis gave the lock to Bob. Ann's next line was lease.check(): it looks at the clock, not at a ` +
          `flag that a timer would have to set, and threw before she wrote. ${outcome}`
        : `${course}, and was renewed all the time: Bob waited for his turn. ${outcome}`;
  return { sentence, figures: { "two holders, ms": Math.round(overlapMs), "money lost": missing } };
}

export const longerThanTheLease = experiment({
  id: "D9",
  title: "Work that takes longer than the lease",
  question:
    "How long may a lease be? Too long, and a dead holder blocks everybody; too short, and somebody else gets the lock in " +
    "the middle of the work. Renewing it helps, as long as the code that renews can run.",
  recipes: [
    longWork("naive", "SET NX PX, a fixed ttl", payUnderSetNx),
    blockedRenewal,
    longWork("holdfast", "mutex, renewed in the background", payUnderMutex),
    blockedHoldfast,
  ],
  checks: [exclusion, noneMissing, fence],
});
