/** D11: the server has done it, and the answer is lost; the client sends it again. */
import type { Node } from "../sim/node.js";
import type { Actor } from "./actor.js";
import type { Check } from "./check.js";
import { commandsRun } from "./commands.js";
import { experiment, type Recipe } from "./experiment.js";
import { grants, happened } from "./need.js";
import type { Told } from "./trial.js";
import { counted, seconds } from "./words.js";

const ttlMs = 10_000;
const lastsMs = 20_000;
const ranTwice = "requests that were carried out twice";

/** What is counted: each thing that was wanted once happened once. */
const once: Check = {
  title: "what was asked for once has happened once, and the caller knows",
  find: ({ faults, nowMs }) => faults.map((message) => ({ message, atMs: nowMs })),
};

/** Its next request is carried out and its answer lost: the client connects again, and resends. */
async function askTwice(actor: Actor, node: Node, words: readonly string[]): Promise<unknown> {
  const { picture, world } = actor.trial;
  const sentMs = actor.nowMs;
  const text = words.join(" ");
  const [command = ""] = words;
  const before = commandsRun(node, command);
  world.link(actor.process, node).loseNext("after");
  const reply = await actor.client(node).call(...words);
  if (commandsRun(node, command) - before === 2) actor.trial.count(ranTwice);
  picture.arrows.push({ from: actor.name, to: node.name, sentMs, receivedMs: sentMs + 1, label: text });
  picture.arrows.push({
    from: node.name,
    to: actor.name,
    sentMs: sentMs + 2,
    receivedMs: null,
    label: "its answer",
  });
  const againMs = actor.nowMs - 1;
  const label = `${text}, sent again → ${reply === null ? "nil" : reply}`;
  picture.arrows.push({ from: actor.name, to: node.name, sentMs: againMs, receivedMs: actor.nowMs, label });
  return reply;
}

const naiveLock: Recipe = {
  ...{ side: "naive", name: "SET NX PX, sent again by the client", lastsMs },
  needs: [happened(ranTwice)],
  steps: ["SET lock <me> NX PX 10000               OK: mine; nil: somebody has it"],
  play: (trial) => {
    const [ann, redis] = [trial.actor("Ann"), trial.server("Redis")];
    let blockedMs = 0;
    ann.run(async () => {
      await ann.ask(redis, ["PING"]);
      const words = ["SET", "lock", "Ann", "NX", "PX", String(ttlMs)];
      const beganMs = ann.nowMs;
      if ((await askTwice(ann, redis, words)) === "OK") return;
      const holder = await ann.ask(redis, ["GET", "lock"]);
      if (holder === "Ann") trial.faults.push("Ann has the lock and was told that somebody else has it");
      const endWait = ann.drawWait();
      while ((await ann.ask(redis, words, { label: "" })) !== "OK") await ann.sleep(100);
      endWait();
      blockedMs = ann.nowMs - beganMs;
      ann.drawCall(redis.name, ann.nowMs - 1, "SET lock NX PX 10000 → OK, at last");
    });
    trial.tell = () => ({
      sentence: `Redis gave Ann the lock, the answer was lost, and her client asked again: "nil, somebody has it". It was she. She waited ${seconds(blockedMs)} for herself.`,
      figures: { "Ann blocked by Ann, s": Math.round(blockedMs / 100) / 10 },
    });
  },
};

const naiveRest: Recipe = {
  ...{ side: "naive", name: "INCR, RPUSH, LPOP, sent again by the client", lastsMs },
  needs: [happened(ranTwice, 3)],
  steps: [
    "INCR permits                            one permit",
    "RPUSH jobs <job>                        one job",
    "LPOP inbox                              take one",
  ],
  play: (trial) => {
    const [ann, redis] = [trial.actor("Ann"), trial.server("Redis")];
    let [permits, jobs, lost] = [0, 0, 0];
    ann.run(async () => {
      await ann.ask(redis, ["RPUSH", "inbox", "job-1", "job-2"]);
      permits = Number(await askTwice(ann, redis, ["INCR", "permits"]));
      await askTwice(ann, redis, ["RPUSH", "jobs", "job-3"]);
      jobs = Number(redis.peek("LLEN", "jobs"));
      const taken = await askTwice(ann, redis, ["LPOP", "inbox"]);
      lost = 2 - Number(redis.peek("LLEN", "inbox")) - (taken === null ? 0 : 1);
      if (permits !== 1) trial.faults.push(`one INCR counted ${permits}`);
      if (jobs !== 1) trial.faults.push(`one RPUSH left ${jobs} jobs`);
      if (lost !== 0)
        trial.faults.push(`${counted(lost, "job")} left the inbox and reached nobody; Ann has ${taken}`);
    });
    trial.tell = (): Told => ({
      sentence: `Each was carried out twice: the counter is at ${permits} after one INCR, ${jobs} jobs came of one RPUSH, and ${counted(lost, "job")} was popped for nobody.`,
      figures: { "counter after one INCR": permits, "jobs after one RPUSH": jobs, "jobs lost by LPOP": lost },
    });
  },
};

const holdfast: Recipe = {
  ...{ side: "holdfast", name: "mutex: a request that is sent again is known by its id", lastsMs },
  needs: [grants(2), happened(ranTwice)],
  steps: ['lease = await hf.mutex("lock").acquire()', "await lease.release()"],
  play: (trial) => {
    const [ann, redis] = [trial.actor("Ann"), trial.server("Redis")];
    const { world, picture } = trial;
    let waitedMs = 0;
    ann.run(async () => {
      const mutex = ann.holdfast(redis).mutex("lock", { ttl: ttlMs });
      const warm = await ann.acquire(mutex, redis);
      await ann.release(warm, redis);
      const sentMs = ann.nowMs;
      const before = commandsRun(redis, "eval", "evalsha");
      const pending = ann.recorder.begin("acquire", "lock");
      world.link(ann.process, redis).loseNext("after");
      picture.arrows.push({
        from: "Ann",
        to: "Redis",
        sentMs,
        receivedMs: sentMs + 1,
        label: "acquire lock",
      });
      picture.arrows.push({
        from: "Redis",
        to: "Ann",
        sentMs: sentMs + 2,
        receivedMs: null,
        label: "its answer",
      });
      const lease = await mutex.acquire({ wait: ttlMs });
      pending.ok({ token: lease.fence, nonce: lease.id });
      if (commandsRun(redis, "eval", "evalsha") - before > 1) trial.count(ranTwice);
      waitedMs = ann.nowMs - sentMs;
      const held = ann.possess({ key: "lock", lease });
      const label = `acquire lock, sent again → already yours, token ${picture.saw(lease.fence)}`;
      picture.arrows.push({ from: "Ann", to: "Redis", sentMs: ann.nowMs - 1, receivedMs: ann.nowMs, label });
      if (waitedMs > ttlMs / 2) trial.faults.push(`Ann waited ${seconds(waitedMs)} for a lock that was hers`);
      const inspected = redis.peek("EXISTS", "holdfast:{lock}:line");
      if (inspected === 1) trial.faults.push("Ann waits in line behind herself");
      held.end();
      await ann.release(lease, redis);
    });
    trial.tell = (): Told => ({
      sentence: `The answer was lost as before and the request sent again. The server knew it by its id: "already yours". Ann had the lock after ${Math.round(waitedMs)} ms, most of it for a new connection.`,
      figures: { "until Ann knew, ms": Math.round(waitedMs) },
    });
  },
};

export const lostReply = experiment({
  id: "D11",
  title: "The answer that got lost",
  question:
    "A connection breaks after the server has carried out a command and before its answer is there. Most clients connect " +
    "again and send the command a second time. What comes of it?",
  recipes: [naiveLock, naiveRest, holdfast],
  checks: [once],
  remark:
    "Not in the library yet: counters, semaphores and queues whose requests are known by an id. Locks, tokens and fenced " +
    "records bear being sent twice today.",
});
