/** D1 with real processes: SIGSTOP, a real Valkey behind TCP, and the clocks of this machine. */
import { EmbeddedValkey } from "@holdfast/embedded";
import { Redis } from "ioredis";
import { diceFor } from "../../chance/dice.js";
import { afterMs, monoMs } from "../../chaos/time.js";
import { noneMissing } from "../account.js";
import { exclusion, fence } from "../check.js";
import { commandOf, type Outcome, type RunOptions, type TrialOutcome } from "../experiment.js";
import { grants, overtaken, payments, stopped } from "../need.js";
import { mutexSteps, setNxSteps } from "../payer.js";
import { judge, type Side, voidSentence } from "../verdict.js";
import { seconds } from "../words.js";
import { evidenceOf } from "./evidence.js";
import { WorkerProcess } from "./worker-process.js";

const ttlMs = 2_000;
const timeoutMs = 25_000;
const title = "A pause longer than the lease, with real processes";
const question =
  "Ann and Bob are processes of this machine. In the middle of her work Ann gets SIGSTOP, and SIGCONT when her lease has " +
  "long been over: as a debugger, a hypervisor or a laptop's lid may stop any process. May she go on writing?";
const checks = [noneMissing, fence, exclusion];
const needs = {
  naive: [grants(2), overtaken, payments(2)],
  holdfast: [grants(2), overtaken, payments(1), stopped(1)],
};

export async function pauseForReal(seed: number, options: RunOptions = {}): Promise<Outcome> {
  const { naiveOnly = false, signal, tell = () => {} } = options;
  const stopMs = diceFor(seed, "pause").whole(2_600, 3_600);
  const sides: readonly Side[] = naiveOnly ? ["naive"] : ["naive", "holdfast"];
  tell(`Ann will be stopped for ${seconds(stopMs)} or more; her lease lasts ${seconds(ttlMs)}`);
  const valkey = await EmbeddedValkey.start();
  try {
    const trials = await Promise.all(sides.map((side) => play(side, valkey.url, stopMs, signal)));
    const asExpected = trials.every((trial) => trial.asExpected);
    const remark = "Times are of this machine: no two runs are the same.";
    return {
      id: "D1",
      title,
      question,
      remark,
      seed,
      command: `${commandOf("D1", seed)} --real`,
      trials,
      asExpected,
    };
  } finally {
    await valkey.stop();
  }
}

async function play(side: Side, url: string, stopMs: number, signal?: AbortSignal): Promise<TrialOutcome> {
  const workers: WorkerProcess[] = [];
  const end = (): void => {
    for (const worker of workers) worker.kill();
  };
  const cancel = afterMs(timeoutMs, end);
  signal?.addEventListener("abort", end, { once: true });
  const pause = { fromMs: Number.NaN, toMs: Number.NaN };
  const common = { side, url, ttlMs };
  // Ann goes on when Bob has written, and not before her time.
  const reasons = new Set(["her time", "Bob"]);
  const goOn = (reason: string): void => {
    reasons.delete(reason);
    if (reasons.size > 0 || !Number.isNaN(pause.toMs)) return;
    pause.toMs = monoMs();
    workers[0]?.goOn();
  };
  const startBob = (): void => {
    const bob = new WorkerProcess({ ...common, name: "Bob", amount: 20, stops: false }, ({ event }) => {
      if (event === "written" || event === "refused") goOn("Bob");
    });
    workers.push(bob);
  };
  try {
    const ann = new WorkerProcess({ ...common, name: "Ann", amount: 10, stops: true }, ({ event }) => {
      if (event === "granted") startBob();
      if (event !== "checked") return;
      pause.fromMs = monoMs();
      afterMs(stopMs, () => goOn("her time"));
    });
    workers.unshift(ann);
    await ann.done;
    await workers[1]?.done;
  } finally {
    cancel();
    signal?.removeEventListener("abort", end);
    end();
    signal?.throwIfAborted();
  }
  const firstMs = Math.min(...workers.flatMap(({ events }) => events).map(({ atMs }) => atMs));
  const times = { beganMs: Math.min(firstMs, monoMs()), endedMs: monoMs(), pause, ttlMs };
  return told(side, evidenceOf(side, workers, times, await balanceIn(url, side)), pause.toMs - pause.fromMs);
}

/** What is in the account in the end. */
async function balanceIn(url: string, side: Side): Promise<number> {
  const redis = new Redis(url);
  try {
    const found =
      side === "naive"
        ? await redis.get("naive:balance")
        : await redis.hget("holdfast:{holdfast:balance}:record:holdfast:balance", "value");
    // A record's value is JSON behind a letter.
    return Number(found?.replace(/^j/, ""));
  } finally {
    redis.disconnect();
  }
}

function told(side: Side, evidence: ReturnType<typeof evidenceOf>, stopMs: number): TrialOutcome {
  const judgement = judge({ side, checks, needs: needs[side] }, evidence);
  const { confirmed, balance, missing, refusals } = evidence.account;
  const pause = `Ann was stopped for ${seconds(stopMs)} with a lease of ${seconds(ttlMs)}.`;
  const sentence =
    missing > 0
      ? `${pause} When she went on, she wrote over what Bob had written: ${confirmed} were paid in, ${balance} are in the account.`
      : `${pause} When she went on, the storage refused her older token: ${confirmed} confirmed, ${balance} in the account.`;
  const name = side === "naive" ? "SET NX PX, then write" : "mutex and fenced record";
  return {
    ...{ side, name, ...judgement },
    sentence: judgement.verdict === "void" ? voidSentence(judgement.unmet) : sentence,
    steps:
      side === "naive"
        ? setNxSteps.map((step) => step.replace("10000", "2000 ").replace("10 s", "2 s"))
        : mutexSteps,
    figures: { "writes refused": refusals, "money lost": missing },
    timeline: evidence.picture.timeline(`${side === "naive" ? "Naive" : "Holdfast"}: ${name}`),
  };
}
