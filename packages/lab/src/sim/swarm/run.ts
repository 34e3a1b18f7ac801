/** A run: what a plan says, in a world, and what was seen. Chaos first; then everything is healed, and all must end well. */
import { compileValkey } from "@holdfast/embedded";
import { Holdfast } from "holdfast";
import { Redlock } from "holdfast/redlock";
import type { Operation } from "../../history/operation.js";
import type { Recorder } from "../../history/recorder.js";
import type { Node } from "../node.js";
import { loadRealClients, type OpenReal } from "../real-clients.js";
import { World } from "../world.js";
import { Coverage } from "./coverage.js";
import { judgeEnd } from "./end.js";
import { faultKinds, kindOf } from "./faults/kinds.js";
import { setCopy } from "./faults/restart.js";
import { beginLife } from "./life.js";
import { neighbourOf } from "./neighbour.js";
import { drawLightPlan, type Fault, hasCaller, type Plan } from "./plan.js";
import { type EvictedKeys, type Failure, prefix, Scene } from "./scene.js";
import type { Work } from "./workload.js";
import { workloadOf } from "./workloads/list.js";
import type { LockPlan } from "./workloads/mutex/plan.js";
import { widen } from "./worlds.js";

export interface RunOptions {
  /** A library that was changed on purpose, for instance. @default the one that is installed */
  readonly holdfast?: typeof Holdfast;
  /** The same, of a run with several nodes. */
  readonly redlock?: typeof Redlock;
  /** "real": each process uses ioredis 6, ioredis 5 or node-redis 6, which takes some three times as long. @default "lab" */
  readonly clients?: "lab" | "real";
  /** The canary that the workload replaces part of itself by. @default none */
  readonly canary?: string;
  /** Called with what comes in at a node, before it has an effect. @default nobody listens */
  readonly heard?: (node: Node, bytes: Uint8Array) => void;
  /** Errors have stacks, which costs a fifth of the time. @default false */
  readonly stacks?: boolean;
}

export interface Outcome<Drawn extends Plan = Plan> {
  readonly plan: Drawn;
  readonly failures: readonly Failure[];
  /** Of everything that was delivered and done. */
  readonly hash: string;
  readonly operations: readonly Operation[];
  /** What each caller did: with it, the plan is one that draws no operations. */
  readonly rounds: NonNullable<Plan["rounds"]>;
  readonly deathsMs: ReadonlyMap<string, number>;
  /** When the faults were over, and when the run was. */
  readonly healedMs: number;
  readonly endMs: number;
  /** How much happened, as its workload counts it: for the mutex, tokens that were issued. */
  readonly progress: number;
  readonly deliveries: number;
  readonly coverage: ReadonlyMap<string, number>;
}

/** What the seed decides, of the mutex or of another workload. @throws {RangeError} there is no such workload */
export function planOf(seed: number): LockPlan;
export function planOf(seed: number, workload: string): Plan;
export function planOf(seed: number, name = "mutex"): Plan {
  const workload = workloadOf(name);
  const { kinds = faultKinds } = workload;
  const plan = workload.draw?.(seed, kinds) ?? drawLightPlan(name, seed, kinds);
  return widen(plan);
}

const stepMs = 100;
/** Between two looks of a workload at the nodes. */
const lookMs = 100;
/** And after what is left has run out. */
const restMs = 2_000;
/** By then after the last fault every connection is back. */
const backMs = 2_500;
const lastMs = 30_000;

export async function runPlan<Drawn extends Plan>(
  plan: Drawn,
  options: RunOptions = {},
): Promise<Outcome<Drawn>> {
  // Thousands of errors are made and looked at by their code alone.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = options.stacks ? stackTraceLimit : 0;
  try {
    return await run(plan, options);
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

async function run<Drawn extends Plan>(
  plan: Drawn,
  { holdfast = Holdfast, redlock = Redlock, clients = "lab", canary, heard }: RunOptions,
): Promise<Outcome<Drawn>> {
  const realClients = clients === "real";
  const libraries = realClients ? await loadRealClients() : new Map<string, OpenReal>();
  const world = new World({ seed: plan.seed, module: await compileValkey(), realClients });
  const scene = new Scene(world, plan, canary);
  if (heard) for (const node of scene.nodes) node.heard = (bytes) => heard(node, bytes);
  for (const name of Object.keys(plan.rounds ?? {}))
    if (!hasCaller(plan, name)) scene.fail("plan", `${name} is no caller of this plan`);
  const work = workloadOf(plan.workload).begin(scene);
  const coverage = new Coverage(work);
  scene.struck = (fault) => coverage.note(fault);
  scene.evictable = (node) => work.evictable?.(node) ?? keysAt(scene, node);
  const neighbour = neighbourOf(scene);
  const theirs = neighbour && { scene: neighbour, work: workloadOf(plan.workload).begin(neighbour) };
  const all = [{ scene, work }, ...(theirs ? [theirs] : [])];
  for (const one of all) {
    one.scene.spawn = (life) => beginLife({ ...one, holdfast, redlock, libraries }, life);
    for (const life of one.scene.plan.processes) one.scene.spawn(life);
  }
  lookAgain(scene, () => work.look?.());
  const ends = new Set<() => void>();
  const nemesis = scene.history.recorder("nemesis", () => world.nowMs);
  for (const fault of plan.faults) setFault(scene, fault, { ends, coverage, nemesis });
  await world.run(0);
  await Promise.all(all.flatMap((one) => one.scene.loading));
  await world.run(plan.chaosMs);
  world.at(world.nowMs, () => heal(scene, ends));
  if (plan.calmMs > 0 && plan.faults.length > 0) {
    scene.calmFromMs = lastAwakeMs(scene) + scene.keptMs + backMs;
    await world.run(scene.calmFromMs + plan.calmMs);
  }
  world.at(world.nowMs, () => {
    for (const one of all) one.scene.isEnding = true;
  });
  const endMs = await finish(scene, work);
  // The neighbour's failures are its own. Its watches end here, too.
  for (const one of all) one.work.judge?.(endMs);
  judgeEnd(scene, work);
  return {
    plan,
    failures: scene.failures,
    hash: world.hash,
    operations: scene.history.operations,
    rounds: Object.fromEntries(scene.rounds),
    deathsMs: scene.deathsMs,
    healedMs: plan.chaosMs,
    endMs,
    progress: work.progress(),
    deliveries: world.deliveries,
    coverage: coverage.counts,
  };
}

/** Each key of the library that is at a node, in an order of chance. */
function keysAt({ world }: Scene, node: Node): EvictedKeys[] {
  const keys = node.peek("KEYS", `${prefix}:*`);
  const names = Array.isArray(keys) ? keys.map(String).sort() : [];
  const mixed = world.dice(`evicted at ${world.nowMs}`).shuffle(names);
  return mixed.map((key) => ({ keys: [key], isData: true }));
}

function lookAgain(scene: Scene, look: () => void): void {
  scene.world.at(scene.world.nowMs + lookMs, () => {
    if (scene.nodes.some(({ isUp }) => isUp)) look();
    lookAgain(scene, look);
  });
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
  setCopy(scene, fault);
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
  for (const node of scene.nodes) {
    // One that stood still did not hear it.
    node.peek("CONFIG", "SET", "maxmemory", "0");
    node.allow();
  }
  scene.isHealed = true;
}

/** Lets everybody finish, as long as it may take; and then what is left behind run out. Returns when that was. */
async function finish(scene: Scene, work: Work): Promise<number> {
  const { world, keptMs } = scene;
  const isDone = (): boolean =>
    [...scene.lives.values()].every(({ process }) => scene.finished.has(process.name));
  const look = (): void => {
    if (isDone()) world.stop();
    else world.at(world.nowMs + stepMs, look);
  };
  world.at(world.nowMs, look);
  await world.run(world.nowMs + keptMs + (work.lastMs ?? lastMs));
  // Where nothing failed, all that was taken was given back.
  if (scene.calmFromMs < world.nowMs) work.left?.();
  await world.run(world.nowMs + keptMs + restMs);
  work.left?.();
  return world.nowMs;
}
