/** What a run of the queue draws for itself, and what its callers share. */
import type { Queue, QueueOptions } from "holdfast";
import type { Caller, Scene } from "../../workload.js";
import { patience, sleeps } from "../delivery-plan.js";
import { Demand } from "../demand.js";
import { Held } from "../held.js";
import { FirstLeases } from "./first-leases.js";
import { QueueView } from "./view.js";

export const name = "jobs";

/** Of a delivery that nobody has extended yet. */
export const firstLeaseMs = 3_000;

export interface QueueTerms {
  readonly order: "fifo" | "lifo";
  readonly deadlineMs: number;
  readonly maxAttempts: number;
  readonly backoffMs: number;
  readonly maxLength: number;
  /** Of a consumer; each draws one. Beside one that sleeps it has so many that some stay free. */
  readonly concurrencies: readonly number[];
  readonly usesPop: boolean;
  readonly usesPause: boolean;
  /** Nothing is given back but by a nack, so the order of the deliveries is that of the numbers. */
  readonly isSteady: boolean;
}

export interface Shared {
  readonly scene: Scene;
  readonly terms: QueueTerms;
  readonly view: QueueView;
  /** By message. */
  readonly held: Held;
  readonly demand: Demand;
  readonly firstLeases: FirstLeases;
  /** Of each message, the tokens with which the server was seen to give it to a process. In steady runs. */
  readonly given: Map<string, Set<bigint>>;
  /** Ids that pushes have said, the newest last. */
  readonly pushed: string[];
  /** Deliveries that a program had, and settled. */
  done: number;
  /** Bodies are numbered, so each is another one. */
  bodies: number;
}

export function drawRun(scene: Scene): Shared {
  const dice = scene.world.dice(name);
  const isSteady = scene.plan.faults.length === 0 && dice.chance(0.7);
  const terms: QueueTerms = {
    order: dice.chance(0.7) ? "fifo" : "lifo",
    deadlineMs: patience(scene.plan) ?? dice.pick([1_000, 1_500, 4_000]),
    maxAttempts: dice.pick([2, 3, 5]),
    backoffMs: dice.pick([0, 50, 300]),
    maxLength: dice.chance(0.15) ? 6 : Number.POSITIVE_INFINITY,
    concurrencies: sleeps(scene.plan) ? [32] : patience(scene.plan) ? [4] : [1, 2, 4],
    usesPop: dice.chance(0.4) && !isSteady,
    usesPause: dice.chance(0.2) && !isSteady,
    isSteady,
  };
  const view = new QueueView(scene.node, name);
  return {
    scene,
    terms,
    view,
    held: new Held(),
    demand: new Demand(scene, { rule: "Q9", idle: () => view.idle }),
    firstLeases: new FirstLeases(scene, view),
    given: new Map(),
    pushed: [],
    done: 0,
    bodies: 0,
  };
}

export function queueOf({ hf }: Caller, { terms }: Shared): Queue<string, string> {
  const { order, deadlineMs, maxAttempts, maxLength } = terms;
  const options: QueueOptions = { order, deadline: deadlineMs, maxAttempts, maxLength };
  return hf.queue<string, string>(name, options);
}

/** Looks at what processes have, as often as that changes. */
export function noteGiven({ terms, view, given }: Shared): void {
  if (!terms.isSteady) return;
  for (const { name: handle } of view.deliveries()) {
    const [token = "0", id = ""] = handle.split(":");
    given.set(id, (given.get(id) ?? new Set()).add(BigInt(token)));
  }
}
