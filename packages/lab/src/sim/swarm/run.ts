/** A run: what a plan says, in a world, and what was seen. Chaos first; then everything is healed, and all must end well. */
import { compileValkey } from "@holdfast/embedded";
import { Holdfast } from "holdfast";
import type { Operation } from "../../history/operation.js";
import type { Recorder } from "../../history/recorder.js";
import { loadRealClients, type OpenReal } from "../real-clients.js";
import { World } from "../world.js";
import { Beliefs } from "./beliefs.js";
import { settleMs } from "./caller.js";
import { Coverage } from "./coverage.js";
import { faultKinds, kindOf } from "./faults/kinds.js";
import { copyingKinds } from "./faults/node.js";
import { judge, judgeLeft } from "./judge.js";
import { beginLife } from "./life.js";
import { NodeWatch } from "./node-watch.js";
import { drawPlan, type Fault, type Plan } from "./plan.js";
import { QueueWatch } from "./queue-watch.js";
import { Register } from "./register.js";
import { type Failure, Scene } from "./scene.js";

export interface RunOptions {
  /** A library that was changed on purpose, for instance. @default the one that is installed */
  readonly holdfast?: typeof Holdfast;
  /** "real": each process uses ioredis 6, ioredis 5 or node-redis 6, which takes some three times as long. @default "lab" */
  readonly clients?: "lab" | "real";
  /** Errors have stacks, which costs a fifth of the time. @default false */
  readonly stacks?: boolean;
}

export interface Outcome {
  readonly plan: Plan;
  readonly failures: readonly Failure[];
  /** Of everything that was delivered and done. */
  readonly hash: string;
  readonly operations: readonly Operation[];
  readonly deathsMs: ReadonlyMap<string, number>;
  /** When the faults were over, and when the run was. */
  readonly healedMs: number;
  readonly endMs: number;
  /** Tokens that were issued. */
  readonly grants: number;
  readonly deliveries: number;
  readonly coverage: ReadonlyMap<string, number>;
}

/** What the seed decides. */
export function planOf(seed: number): Plan {
  return drawPlan(seed, faultKinds);
}

/** The longest section, and what its register takes. */
const longestHoldMs = 15_000;
const stepMs = 100;
/** And after what is left has run out. */
const restMs = 2_000;
/** By then after the last fault every connection is back. */
const backMs = 2_500;

export async function runPlan(plan: Plan, options: RunOptions = {}): Promise<Outcome> {
  // Thousands of errors are made and looked at by their code alone.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = options.stacks ? stackTraceLimit : 0;
  try {
    return await run(plan, options);
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

async function run(plan: Plan, { holdfast = Holdfast, clients = "lab" }: RunOptions): Promise<Outcome> {
  const realClients = clients === "real";
  const libraries = realClients ? await loadRealClients() : new Map<string, OpenReal>();
  const world = new World({ seed: plan.seed, module: await compileValkey(), realClients });
  const scene = new Scene(world, plan);
  const beliefs = new Beliefs(scene);
  const queue = new QueueWatch(world);
  const nodeWatch = new NodeWatch(scene, beliefs);
  const coverage = new Coverage(scene, beliefs);
  scene.struck = (fault) => coverage.note(fault);
  const registers = new Map(plan.locks.map((lock) => [lock, new Register(world, lock)]));
  scene.spawn = (life) => beginLife({ scene, beliefs, registers, holdfast, libraries }, life);
  for (const life of plan.processes) scene.spawn(life);
  const ends = new Set<() => void>();
  const nemesis = scene.history.recorder("nemesis", () => world.nowMs);
  for (const fault of plan.faults) setFault(scene, fault, { ends, coverage, nemesis });
  await world.run(plan.chaosMs);
  world.at(world.nowMs, () => heal(scene, ends));
  if (plan.calmMs > 0 && plan.faults.length > 0) {
    scene.calmFromMs = lastAwakeMs(scene) + scene.keptMs + backMs;
    await world.run(scene.calmFromMs + plan.calmMs);
  }
  world.at(world.nowMs, () => {
    scene.isEnding = true;
  });
  const endMs = await finish(scene);
  beliefs.bury();
  queue.stop();
  nodeWatch.stop();
  judge(scene, endMs, queue);
  const { operations } = scene.history;
  return {
    plan,
    failures: scene.failures,
    hash: world.hash,
    operations,
    deathsMs: scene.deathsMs,
    healedMs: plan.chaosMs,
    endMs,
    grants: operations.filter(({ f, type }) => f === "acquire" && type === "ok").length,
    deliveries: world.deliveries,
    coverage: coverage.counts,
  };
}

/** When the last process is awake again: a stall goes on after the faults are over. */
function lastAwakeMs({ world }: Scene): number {
  const awakeMs = [...world.processes.values()].map(({ state, nowMs }) => (state === "dead" ? 0 : nowMs));
  return Math.max(world.nowMs, ...awakeMs);
}

interface Chaos {
  /** What lasts, and how to end it. */
  readonly ends: Set<() => void>;
  readonly coverage: Coverage;
  readonly nemesis: Recorder;
}

function setFault(scene: Scene, fault: Fault, { ends, coverage, nemesis }: Chaos): void {
  const { world } = scene;
  const kind = kindOf(fault.kind);
  if (copyingKinds.includes(fault.kind))
    world.at(fault.atMs - fault.value, () => {
      if (scene.node.isUp) scene.copies.set(fault, scene.node.remember());
    });
  world.at(fault.atMs, () => {
    world.note(fault.kind);
    if (!kind.strikesLater) coverage.note(fault);
    const pending = nemesis.begin(fault.kind, fault.target, fault.value === 0 ? {} : { value: fault.value });
    const end = kind.begin(scene, fault);
    if (!end) {
      pending.ok();
      return;
    }
    const ended = (): void => {
      end();
      pending.ok();
    };
    ends.add(ended);
    world.at(fault.atMs + fault.forMs, () => {
      if (ends.delete(ended)) ended();
    });
  });
}

function heal(scene: Scene, ends: Set<() => void>): void {
  for (const end of ends) end();
  ends.clear();
  for (const link of scene.world.links) link.heal();
  for (const process of scene.world.processes.values()) process.heal();
  scene.node.peek("CONFIG", "SET", "maxmemory", "0"); // a node that stood still did not hear it
  scene.isHealed = true;
}

/** Lets everybody finish, as long as it may take; and then what is left behind run out. Returns when that was. */
async function finish(scene: Scene): Promise<number> {
  const { world, plan } = scene;
  const { keptMs } = scene;
  const lastMs = world.nowMs + longestHoldMs + (keptMs + settleMs) * (plan.locks.length + 1);
  const isDone = (): boolean =>
    [...scene.lives.values()].every(({ process }) => scene.finished.has(process.name));
  const look = (): void => {
    if (isDone()) world.stop();
    else world.at(world.nowMs + stepMs, look);
  };
  world.at(world.nowMs, look);
  await world.run(lastMs);
  // Where nothing failed, all that was taken was given back.
  if (scene.calmFromMs < world.nowMs) judgeLeft(scene);
  await world.run(world.nowMs + keptMs + restMs);
  judgeLeft(scene);
  return world.nowMs;
}
