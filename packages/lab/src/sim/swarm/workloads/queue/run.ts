/** What a run of the queue draws for itself, and what its callers share. */
import type { Queue, QueueOptions } from "holdfast";
import type { Caller, Scene } from "../../workload.js";
import { patience, sleeps } from "../delivery-plan.js";
import { Demand } from "../demand.js";
import { Held } from "../held.js";
import { asUsual, drawOperating, type OperatingTerms } from "../operating.js";
import { Poison } from "../poison.js";
import { Drops } from "./drops.js";
import { FirstLeases } from "./first-leases.js";
import { QueueView } from "./view.js";

export const name = "jobs";

/** Of a delivery that nobody has extended yet. */
export const firstLeaseMs = 3_000;

type More = Pick<QueueOptions, "whenFull">;

export interface QueueTerms extends OperatingTerms<More> {
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
  readonly poison: Poison;
  readonly firstLeases: FirstLeases;
  readonly drops: Drops;
  /** Of each message, the tokens with which the server was seen to give it to a process. In steady runs. */
  readonly given: Map<string, Set<bigint>>;
  readonly handled: { hasConsumer: boolean; firstMs: number };
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
    ...drawMore(scene, isSteady),
  };
  const view = new QueueView(scene.node, name);
  return {
    scene,
    terms,
    view,
    held: new Held(),
    demand: new Demand(scene, { rule: "Q9", idle: () => view.idle }),
    poison: new Poison(scene),
    firstLeases: new FirstLeases(scene, view),
    drops: new Drops(scene, view, {
      maxLength: terms.maxLength,
      dropsOldest: terms.more.whenFull === "drop-oldest",
    }),
    given: new Map(),
    handled: { hasConsumer: false, firstMs: Number.POSITIVE_INFINITY },
    pushed: [],
    done: 0,
    bodies: 0,
  };
}

function drawMore({ world }: Scene, isSteady: boolean): OperatingTerms<More> & Partial<QueueTerms> {
  if (isSteady) return asUsual;
  const dice = world.dice("options of queues");
  const isFull = dice.chance(0.25);
  const length = isFull ? { maxLength: dice.pick([1, 2, 6]) } : {};
  const whenFull = isFull && dice.chance(0.6) ? ({ whenFull: "drop-oldest" } as const) : {};
  return { ...length, ...drawOperating<More>(dice, whenFull) };
}

export function queueOf({ hf }: Caller, { terms }: Shared): Queue<string, string> {
  const { order, deadlineMs, maxAttempts, maxLength, more } = terms;
  const options: QueueOptions = { order, deadline: deadlineMs, maxAttempts, maxLength, ...more };
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
