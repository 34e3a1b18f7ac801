/** One worker: a process of its own, which a fault may stop or kill at any moment. */
import { subscribe } from "node:diagnostics_channel";
import { Holdfast, type HoldfastEvents } from "holdfast";
import { Dice, diceFor } from "../../chance/dice.js";
import { appendTo } from "../../history/ndjson.js";
import { Recorder } from "../../history/recorder.js";
import { everyMs, monoMs, onceIfAliveIn, settledIn } from "../time.js";
import { Caller, isOtherLayout } from "../workloads/caller.js";
import { actorOf } from "../workloads/judge.js";
import { workloadOf } from "../workloads/list.js";
import { CanaryCaller } from "./canary-caller.js";
import { openCanaryClient, openClient, openVault } from "./clients.js";
import { HoldfastCaller, type Shared } from "./holdfast-caller.js";
import { openNodes } from "./nodes.js";
import type { Answer, Order, Verb, WorkerTask } from "./task.js";

/** Long enough for a process that is paused while it calls: the vault itself always answers. */
const VAULT_TIMEOUT_MS = 20_000;
const LOOK_MS = 50;
/** The event loop turned this much later than asked: less is a busy machine. */
const STALL_MS = 100;
const LINGER_MS = 2_000;
/** Canaries that wait for something that never comes are left behind. */
const CANARY_PATIENCE_MS = 1_000;

const task: WorkerTask = JSON.parse(process.argv[2] ?? "");
const dice = new Dice(task.seed);
const sink = appendTo(task.journal);
const actor = (name: string) => new Recorder(`${task.name}.${name}`, monoMs, sink);
const self = actor("process");
process.on("uncaughtException", (error) => self.begin("uncaught", "").info(String(error.stack)));
process.on("unhandledRejection", (error) => self.begin("uncaught", "").info(errorText(error)));
process.on("disconnect", () => process.exit(0));

const opened = openClient(task.client, task.host, task.port, dice);
const holdfast = new Holdfast(opened.client, { label: task.name, callTimeout: task.callTimeoutMs });
const vaultClient = openVault(task.vault);
const vault = new Holdfast(vaultClient, { callTimeout: VAULT_TIMEOUT_MS });
const plain = openCanaryClient(task.host, task.port);
const nodes = openNodes(task, opened.client, plain);
const shared: Shared = { holders: new Set(), local: new Map() };
let isOver = false;

subscribe("holdfast:lock:acquired", (message) => {
  const { lock, fence, local } = message as HoldfastEvents["holdfast:lock:acquired"];
  shared.local.set(`${lock} ${fence}`, local);
});
subscribe("holdfast:lock:renewed", () => {
  for (const holder of shared.holders) holder.look();
});
const stopLooking = watchLoop();

const callers = Promise.all(
  Array.from({ length: task.callers }, (_, at) => {
    const parts = { task, holdfast, vault, shared, recorder: actor(String(at)), dice: new Dice(dice.seed()) };
    return new HoldfastCaller(parts).run(() => isOver);
  }),
);
const canaries = Promise.all(
  task.canaries.map((name) => {
    const parts = { name, key: `canary:${name}`, ttlMs: task.canaryTtlMs, client: plain };
    const caller = new CanaryCaller({ ...parts, recorder: actor(name), dice: new Dice(dice.seed()) });
    return caller.run(() => isOver);
  }),
);

const nouns = task.workloads.flatMap((name) => [false, true].map((isNaive) => joinWorkload(name, isNaive)));
const nounsDone = Promise.all(nouns.filter(({ isNaive }) => !isNaive).map(({ done }) => done));
const naiveDone = Promise.all(nouns.filter(({ isNaive }) => isNaive).map(({ done }) => done));

/** One caller of a workload beside the mutex. Its error is one that nobody caught, whose end the others do not wait for. */
function joinWorkload(name: string, isNaive: boolean) {
  const recorder = actor(actorOf(name, isNaive));
  const { callTimeoutMs } = task;
  const caller = new Caller({
    ...{ name: recorder.process, hf: holdfast, redis: plain, nodes, recorder, callTimeoutMs, isNaive },
    ...{ dice: diceFor(task.seed, recorder.process), isOver: () => isOver },
  });
  const rounds = workloadOf(name).join(caller);
  const done = caller.run(rounds).catch((error: unknown) => {
    if (!isNaive) self.begin("uncaught", "").info(errorText(error));
  });
  return { isNaive, rounds, done };
}

const verbs: Record<Verb, (order: Order) => Promise<unknown>> = {
  async stop() {
    isOver = true;
    await callers;
    await nounsDone;
    await settledIn(Promise.all([canaries, naiveDone]), CANARY_PATIENCE_MS);
  },
  async probe({ waitMs = 0 }) {
    await Promise.all(
      nouns.map(({ isNaive, rounds }) => (isNaive ? null : rounds.last?.().catch(unlessOtherLayout))),
    );
    return probe(waitMs);
  },
  async close() {
    stopLooking();
    const since = monoMs();
    await holdfast.close();
    const tookMs = monoMs() - since;
    await nodes.close();
    await vault.close();
    vaultClient.disconnect();
    plain.disconnect();
    opened.close();
    return tookMs;
  },
};

function unlessOtherLayout(error: unknown): null {
  if (task.isMixed && isOtherLayout(error)) return null;
  throw error;
}

/** Takes each lock once; what stands in the way of one longer than `waitMs` never goes away. */
async function probe(waitMs: number): Promise<number> {
  const prober = actor("probe");
  let longestMs = 0;
  for (const key of task.keys) {
    const since = monoMs();
    const entry = prober.begin("probe", key);
    const mutex = holdfast.mutex(key, { ttl: Math.max(...task.ttlsMs) });
    const lease = await mutex.acquire({ wait: waitMs }).catch(unlessOtherLayout);
    if (lease) entry.ok({ token: lease.fence });
    else entry.fail("another layout");
    await lease?.release();
    longestMs = Math.max(longestMs, monoMs() - since);
  }
  return longestMs;
}

process.on("message", async (order: Order) => {
  const answer = (about: Omit<Answer, "order">) => process.send?.({ order: order.order, ...about });
  try {
    answer({ value: (await verbs[order.verb](order)) ?? null });
  } catch (error) {
    answer({ error: errorText(error) });
  }
  if (order.verb !== "close") return;
  // What holds the process now is something that was not closed.
  process.removeAllListeners("disconnect").disconnect();
  onceIfAliveIn(LINGER_MS, () => {
    self.begin("lingers", "", { value: process.getActiveResourcesInfo() }).ok();
  });
});

function watchLoop(): () => void {
  let lastMs = monoMs();
  return everyMs(LOOK_MS, () => {
    const nowMs = monoMs();
    const lateMs = nowMs - lastMs - LOOK_MS;
    if (lateMs > STALL_MS) self.begin("stall", "", { value: { fromMs: lastMs, toMs: nowMs } }).ok();
    lastMs = nowMs;
  });
}

function errorText(error: unknown): string {
  return error instanceof Error ? String(error.stack) : String(error);
}
