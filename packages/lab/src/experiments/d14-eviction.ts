/** D14: Redis is short of memory, and evicts what nobody has used for a while. */
import { type DoctorReport, Holdfast } from "holdfast";
import type { Node } from "../sim/node.js";
import { Account, noneMissing } from "./account.js";
import type { Actor } from "./actor.js";
import { type Check, exclusion, fence, sharedMs, tokens } from "./check.js";
import { experiment } from "./experiment.js";
import { grants, happened, overtaken, payments } from "./need.js";
import { mutexSteps, payUnderMutex } from "./payer.js";
import { deleteOwn, setNx } from "./recipes.js";
import type { Told, Trial } from "./trial.js";

const ttlMs = 30_000;
const lastsMs = 40_000;
const floodMs = 4_000;
const pages = 3_000;
const room = 2_000_000;

/** Set by the recipe that asks it. */
const warned: Check = {
  title: "the doctor has warned of it before",
  find: ({ counts, nowMs }) =>
    counts["doctor"] === 1 ? [] : [{ message: "hf.doctor() found nothing wrong with eviction", atMs: nowMs }],
};

function castOf(trial: Trial) {
  const [ann, bob, cache] = [trial.actor("Ann"), trial.actor("Bob"), trial.actor("cache")];
  const redis = trial.server("Redis");
  const account = new Account(trial);
  const used = Number(/used_memory:(\d+)/.exec(String(redis.peek("INFO", "memory")))?.[1]);
  redis.peek("CONFIG", "SET", "maxmemory-policy", "allkeys-lru", "maxmemory-samples", "64");
  redis.peek("CONFIG", "SET", "maxmemory", String(used + room));
  const size = trial.between(900, 1_300, "page");
  const evicted = (): void => {
    trial.forget();
    trial.count("locks evicted");
  };
  cache.run(() => flood(cache, redis, size, evicted));
  trial.tell = () => told(trial, account);
  return { ann, bob, redis, account };
}

/** Another application on the same server fills its cache. */
async function flood(cache: Actor, redis: Node, size: number, evicted: () => void): Promise<void> {
  await cache.sleep(floodMs);
  const locks = ["EXISTS", "lock", "holdfast:{lock}:lock"];
  const wasHeld = redis.peek(...locks) === 1;
  const client = cache.client(redis);
  const page = "x".repeat(size);
  const sentMs = cache.nowMs;
  await Promise.all(Array.from({ length: pages }, (_, at) => client.call("SET", `page:${at}`, page)));
  cache.drawCall("Redis", sentMs, `SET page:0 … page:${pages - 1}`);
  const keys = /evicted_keys:(\d+)/.exec(String(redis.peek("INFO", "stats")))?.[1];
  if (wasHeld && redis.peek(...locks) === 0) evicted();
  cache.trial.mark("Redis", "note", `${Number(keys).toLocaleString("en-US")} keys evicted`, cache.nowMs);
}

function playNaive(trial: Trial): void {
  const { ann, bob, redis, account } = castOf(trial);
  const pay = (actor: Actor, amount: number, atMs: number, workMs: number): void => {
    actor.run(async () => {
      await actor.sleep(atMs);
      const token = async (): Promise<bigint> => BigInt(String(await actor.ask(redis, ["INCR", "token"])));
      const held = await setNx(actor, redis, "lock", ttlMs, { token });
      const door = account.numbered(actor, held.token);
      // Ann's first write raises the storage's fence.
      if (actor === ann) await account.pay(door, 5, () => {});
      await account.pay(door, amount, () => actor.sleep(workMs));
      held.end();
      await deleteOwn(actor, redis, "lock");
    });
  };
  redis.peek("SET", "token", "40"); // others were here before
  pay(ann, 10, 0, 10_000);
  pay(bob, 20, 5_000, 2_000);
}

/** hf.doctor() imports its code when it is first called, and nothing may wait for a disk while a world runs. */
async function importDoctor(): Promise<void> {
  const none = (): void => {};
  const call = () => Promise.reject(new Error("there is no server"));
  const noClient = { call, defineCommand: none, duplicate: none, on: none };
  await new Holdfast(noClient).doctor();
}

async function playMutex(trial: Trial): Promise<void> {
  await importDoctor();
  const { ann, bob, redis, account } = castOf(trial);
  ann.run(async () => {
    const report = await ann.holdfast(redis).doctor();
    const finding = findingOf(report);
    if (!finding) return;
    trial.count("doctor");
    trial.mark(
      "Ann",
      "note",
      `hf.doctor(), before anything else: ${finding.severity} ${finding.code}`,
      ann.nowMs,
    );
  });
  payUnderMutex(ann, redis, account, { ttlMs, amount: 10, atMs: 200, work: () => ann.sleep(7_000) });
  payUnderMutex(bob, redis, account, { ttlMs, amount: 20, atMs: 5_000, work: () => bob.sleep(3_000) });
}

function findingOf({ findings }: DoctorReport): DoctorReport["findings"][number] | undefined {
  return findings.find(({ code, severity }) => code.includes("evict") && severity !== "info");
}

function told(trial: Trial, { confirmed, balance, missing, refusals }: Account): Told {
  const tokenOf = (name: string): string => {
    const grant = trial.operations.find(
      ({ process, f, type }) => process === name && f === "acquire" && type === "ok",
    );
    return trial.picture.saw(grant?.token ?? 0n);
  };
  const [ann, bob] = [tokenOf("Ann"), tokenOf("Bob")];
  const outcome = `${confirmed} confirmed, ${balance} in the account.`;
  const fell = tokens.find(trial).length > 0;
  const sentence = fell
    ? `The cache of another application filled the memory, and Redis evicted the lock and the counter. Bob got the lock ` +
      `while Ann had it, with token ${bob} after ${ann}: the storage refused Bob, who had the lock, and served Ann. ${outcome}`
    : `Redis evicted the lock all the same, and hf.doctor() had said that it would. Bob's token ${bob} is larger than ` +
      `${ann}, as it comes from the clock: no write of an older holder got through. ${outcome}`;
  return {
    sentence,
    figures: {
      "two holders, ms": Math.round(sharedMs(trial)),
      "writes refused": refusals,
      "money lost": missing,
    },
  };
}

export const eviction = experiment({
  id: "D14",
  title: "Redis needs the memory",
  question:
    "The lock is a key among others, on a Redis that serves as a cache as well. When its memory is full it removes what has " +
    "not been used for longest. What is a lock that nobody has touched for some seconds?",
  recipes: [
    {
      ...{ side: "naive", name: "SET NX PX and INCR, on a cache", lastsMs, play: playNaive },
      steps: [
        "SET lock <me> NX PX 30000",
        "token = INCR token",
        "GET balance … write(sum, token)",
        "if GET lock is <me> then DEL lock",
      ],
      needs: [grants(2), happened("locks evicted"), overtaken, payments(1)],
      checks: [exclusion, tokens],
    },
    {
      ...{ side: "holdfast", name: "doctor, mutex and fenced record", lastsMs, play: playMutex },
      steps: ["report = await hf.doctor()               says what puts locks at risk here", ...mutexSteps],
      needs: [grants(2), happened("locks evicted"), overtaken, payments(1)],
      checks: [warned, tokens, fence, noneMissing],
      notPromised: [exclusion],
    },
  ],
  checks: [],
  remark:
    "Not promised: exclusion on a server that evicts locks. Give locks a server with maxmemory-policy noeviction.",
});
