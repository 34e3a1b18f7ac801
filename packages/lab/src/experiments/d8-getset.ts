/** D8: a lock whose end is a time of the clients' own clocks. */
import type { Node } from "../sim/node.js";
import { Account, noneMissing } from "./account.js";
import type { Actor } from "./actor.js";
import { exclusion, fence, sharedMs } from "./check.js";
import { experiment } from "./experiment.js";
import { contended, grants, overtaken, payments } from "./need.js";
import { mutexSteps, payUnderMutex } from "./payer.js";
import { poll } from "./recipes.js";
import type { Told, Trial } from "./trial.js";

const ttlMs = 10_000;
const lastsMs = 30_000;
/** Ann writes this long before her time is over. */
const spareMs = 50;

function castOf(trial: Trial) {
  const skewMs = trial.between(180, 280, "skew");
  const [ann, bob] = [trial.actor("Ann"), trial.actor("Bob", { wallOffsetMs: skewMs })];
  const redis = trial.server("Redis");
  const account = new Account(trial);
  trial.mark("Bob", "clock", `Bob's clock is ${skewMs} ms ahead of Ann's`, 0);
  trial.tell = () => told(trial, account, skewMs);
  return { ann, bob, redis, account };
}

/** The time on the wall, as the process has it. */
function wallMs(actor: Actor): number {
  return actor.process.clock.now().wallMs;
}

async function takeByTime(actor: Actor, redis: Node): Promise<number> {
  let untilMs = 0;
  const ask = (...words: string[]) => actor.ask(redis, words, { label: "" });
  await poll(actor, redis, "SETNX, GET, GETSET lock", async () => {
    untilMs = wallMs(actor) + ttlMs;
    if ((await ask("SETNX", "lock", String(untilMs))) === 1) return true;
    const before = await ask("GET", "lock");
    if (before === null || Number(before) > wallMs(actor)) return false;
    return (await ask("GETSET", "lock", String(untilMs))) === before;
  });
  return untilMs;
}

function playNaive(trial: Trial): void {
  const { ann, bob, redis, account } = castOf(trial);
  const pay = (actor: Actor, amount: number, atMs: number, workMs: number): void => {
    actor.run(async () => {
      await actor.sleep(atMs);
      let untilMs = 0;
      const held = await actor.takes("lock", async () => {
        untilMs = await takeByTime(actor, redis);
        return { leaseMs: untilMs - wallMs(actor), isWary: true };
      });
      const isPaid = await account.pay(account.plain(actor, held), amount, () => actor.sleep(workMs));
      if (!isPaid) throw new Error("a plain storage refuses nothing");
      held.end();
      if (wallMs(actor) < untilMs) await actor.ask(redis, ["DEL", "lock"]);
    });
  };
  pay(ann, 10, 0, ttlMs - spareMs);
  pay(bob, 20, 1_000, 1_000);
}

function playMutex(trial: Trial): void {
  const { ann, bob, redis, account } = castOf(trial);
  payUnderMutex(ann, redis, account, { ttlMs, amount: 10, work: () => ann.sleep(ttlMs - spareMs) });
  payUnderMutex(bob, redis, account, { ttlMs, amount: 20, atMs: 1_000, work: () => bob.sleep(1_000) });
}

function told(trial: Trial, { confirmed, balance, missing }: Account, skewMs: number): Told {
  const overlapMs = Math.round(sharedMs(trial));
  const sentence =
    overlapMs > 0
      ? `By Bob's clock Ann's time was over ${skewMs} ms too early, so both had the lock for ${overlapMs} ms, and both ` +
        `were in the right by their own clocks: ${confirmed} were paid in, ${balance} are in the account.`
      : `Bob's clock was ${skewMs} ms ahead as before, but only the server's clock decides when a lease ends, and the ` +
        `holder counts elapsed time, not dates: one holder at a time, ${confirmed} paid in, ${balance} in the account.`;
  return { sentence, figures: { "two holders, ms": overlapMs, "money lost": missing } };
}

export const getset = experiment({
  id: "D8",
  title: "GETSET and the clocks of the clients",
  question:
    "The lock's value is the time at which it ends, and whoever finds that time in the past takes it over with GETSET. " +
    "Whose clock is that? Here Bob's is a quarter of a second ahead, which is not much.",
  recipes: [
    {
      ...{ side: "naive", name: "SETNX and GETSET with timestamps", lastsMs },
      steps: [
        "SETNX lock <now + 10 s>                 1: the lock is mine",
        "0: t = GET lock; if t < now and GETSET lock <now + 10 s> is t, it is mine",
        "GET balance … SET balance <sum>",
        "if now < my time then DEL lock",
      ],
      needs: [grants(2), overtaken, payments(2)],
      play: playNaive,
    },
    {
      ...{ side: "holdfast", name: "mutex and fenced record", steps: mutexSteps, lastsMs },
      needs: [grants(2), contended, payments(2)],
      play: playMutex,
    },
  ],
  checks: [exclusion, noneMissing, fence],
});
