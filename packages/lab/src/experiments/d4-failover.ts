/** D4: a failover to a replica that has not heard of the last lock. */
import type { Node } from "../sim/node.js";
import { Account, noneMissing } from "./account.js";
import type { Actor } from "./actor.js";
import { exclusion, fence, sharedMs, tokens } from "./check.js";
import { experiment } from "./experiment.js";
import { grants, overtaken, payments, stopped } from "./need.js";
import { mutexSteps, payUnderMutex } from "./payer.js";
import { deleteOwn, setNx } from "./recipes.js";
import type { Told, Trial } from "./trial.js";
import { seconds } from "./words.js";

const ttlMs = 10_000;
const lastsMs = 30_000;
/** The primary stands for this long after Ann's lock. */
const aliveMs = 400;

type Pay = (
  actor: Actor,
  redis: Node,
  account: Account,
  amount: number,
  atMs: number,
  workMs: number,
) => void;

function play(trial: Trial, pay: Pay): void {
  const [cleo, ann, bob] = [trial.actor("Cleo"), trial.actor("Ann"), trial.actor("Bob")];
  const redis = trial.server("Redis");
  const account = new Account(trial);
  const downMs = trial.between(800, 2_000, "down");
  const skewMs = trial.between(-100, 100, "skew");
  // Cleo's turn is over, and has reached the replica.
  pay(cleo, redis, account, 40, 0, 100);
  pay(ann, redis, account, 10, 1_000, 4_000);
  pay(bob, redis, account, 20, 1_500, 2_000);
  const { world } = trial;
  world.at(900, () => {
    const replica = redis.remember();
    trial.mark("Redis", "note", "the replica has all writes up to here");
    world.at(1_000 + aliveMs, () => {
      redis.crash();
      trial.forget();
      trial.mark("Redis", "crash", "the primary dies");
      world.at(1_000 + aliveMs + downMs, () => {
        redis.promote(replica, skewMs);
        trial.mark("Redis", "restart", `the replica takes over, its clock ${skewMs} ms off`);
      });
    });
  });
  trial.tell = () => told(trial, account, aliveMs + downMs);
}

const payWithCounter: Pay = (actor, redis, account, amount, atMs, workMs) => {
  actor.run(async () => {
    await actor.sleep(atMs);
    const fenced = { token: async () => BigInt(String(await actor.ask(redis, ["INCR", "token"]))) };
    const held = await setNx(actor, redis, "lock", ttlMs, fenced);
    await account.pay(account.numbered(actor, held.token), amount, () => actor.sleep(workMs));
    held.end();
    await deleteOwn(actor, redis, "lock");
  });
};

const payWithMutex: Pay = (actor, redis, account, amount, atMs, workMs) =>
  payUnderMutex(actor, redis, account, { ttlMs, amount, atMs, work: () => actor.sleep(workMs) });

function told(trial: Trial, account: Account, goneMs: number): Told {
  const { confirmed, balance, missing, refusals } = account;
  const tokenOf = (name: string): bigint =>
    trial.operations.find(({ process, f, type }) => process === name && f === "acquire" && type === "ok")
      ?.token ?? 0n;
  const lead = tokenOf("Bob") - tokenOf("Ann");
  const lost = `The primary died ${seconds(aliveMs)} after it had given Ann the lock, and the replica had not heard of it.`;
  const [ann, bob] = [trial.picture.saw(tokenOf("Ann")), trial.picture.saw(tokenOf("Bob"))];
  const outcome = `${confirmed} confirmed, ${balance} in the account.`;
  const sentence =
    lead <= 0n
      ? `${lost} Nor of her token: Ann has ${ann}, Bob has ${bob}. The storage cannot tell them apart. ${outcome}`
      : `${lost} Tokens come from the server's clock, which had gone on for ${seconds(goneMs)}: Bob's is larger ` +
        `by ${lead.toLocaleString("en-US")}. ${refusals > 0 ? "Ann's late write was refused" : "Ann learned of it before she wrote"}: ${outcome}`;
  return {
    sentence,
    figures: {
      "Bob's token less Ann's": lead.toLocaleString("en-US"),
      "two holders, ms": Math.round(sharedMs(trial)),
      "writes refused": refusals,
      "money lost": missing,
    },
  };
}

export const failover = experiment({
  id: "D4",
  title: "A failover that forgets the lock",
  question:
    "Redis copies its writes to replicas after it has answered. When the primary dies, a replica takes over, and what it " +
    "had not received never happened. Ann has a lock and a fencing token from the dead primary. What does Bob get?",
  recipes: [
    {
      ...{ side: "naive", name: "SET NX PX, and INCR for a fencing token", lastsMs },
      steps: [
        "SET lock <me> NX PX 10000",
        "token = INCR token                      rises with every holder",
        "GET balance … write(sum, token)         refused, if a larger one was seen",
        "if GET lock is <me> then DEL lock",
      ],
      needs: [grants(3), overtaken, payments(3)],
      checks: [tokens, exclusion, noneMissing, fence],
      play: (trial) => play(trial, payWithCounter),
    },
    {
      ...{ side: "holdfast", name: "mutex and fenced record", steps: mutexSteps, lastsMs },
      needs: [grants(3), overtaken, payments(2), stopped(1)],
      checks: [tokens, noneMissing, fence],
      notPromised: [exclusion],
      play: (trial) => play(trial, payWithMutex),
    },
  ],
  checks: [],
  remark:
    "Not promised, by anybody over asynchronous replication: that there is no second holder after such a failover. Tokens " +
    "rise as long as the clocks of the two servers agree better than the time from the lost grant to the next one.",
});
