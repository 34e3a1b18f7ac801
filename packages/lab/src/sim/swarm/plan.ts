/**
 * Plan: what one seed decides, as plain data. A run needs nothing else, so a plan can be written down, made smaller,
 * and run again. A workload may draw more than this, and adds it to its own plan.
 */
import type { Dice } from "../../chance/dice.js";
import { diceFor } from "../../chance/dice.js";
import type { SimClientOptions } from "../sim-client.js";
import type { Round } from "./rounds.js";

/** One fault of a run. What `value` means, its kind says. */
export interface Fault {
  readonly kind: string;
  readonly atMs: number;
  /** How long it lasts; 0 for what happens at one moment. */
  readonly forMs: number;
  /** A process, or a node. */
  readonly target: string;
  readonly value: number;
  /** Of a fault of the network between a process and a node: the node. @default the first */
  readonly node?: string;
}

export interface ProcessPlan {
  readonly name: string;
  /** Of the leases that it holds, in a workload that has leases. */
  readonly ttlMs: number;
  /** Its lease stays taken for this time after it expired. */
  readonly lockDelayMs: number;
  readonly callTimeoutMs: number;
  readonly client: SimClientOptions;
  /** Callers that work side by side. */
  readonly callers: number;
  /** When its first life ends by `hf.close()`, whatever its callers do just then; null: with the run. */
  readonly closesAtMs: number | null;
}

/** Apart by one of the two. */
export interface Neighbour {
  readonly database: number;
  readonly prefix: string;
}

export interface Plan {
  /** The name of its workload. */
  readonly workload: string;
  readonly seed: number;
  /** The faults begin and end within this time; then everything is healed. */
  readonly chaosMs: number;
  /**
   * How long everybody goes on when what the faults left behind is over: there the rules for undisturbed time hold. 0:
   * all come to their end at once.
   */
  readonly calmMs: number;
  /** Mean time between two operations of a caller. */
  readonly thinkMs: number;
  readonly processes: readonly ProcessPlan[];
  readonly faults: readonly Fault[];
  /** How many servers there are, independent of each other. @default 1 */
  readonly nodes?: number;
  /** Others who do the same on the same servers, apart from these, and are not judged. @default nobody */
  readonly neighbour?: Neighbour;
  /** Of all keys of its processes. @default "holdfast" */
  readonly prefix?: string;
  /** The names of the worlds that it has beside its own faults. @default none */
  readonly worlds?: readonly string[];
  /** The operations of each caller, by its name. @default each draws one after the other */
  readonly rounds?: Readonly<Record<string, readonly Round[]>>;
}

/** One kind of fault, as far as a plan is concerned. */
export interface Draw {
  readonly kind: string;
  readonly on: "node" | "process" | "link";
  /** How many of it there may be in a run. */
  readonly most: number;
  forMs(dice: Dice): number;
  value(dice: Dice): number;
}

/** The kind of a request that reaches the node when nobody waits for it any more. */
export const lateKind = "request late";
/** A plan says nothing about it: nodes and processes have names. */
export const nodeName = "redis";

/** The names of all nodes of a plan. */
export function nodeNames({ nodes = 1 }: Pick<Plan, "nodes">): readonly string[] {
  return nodes === 1 ? [nodeName] : Array.from({ length: nodes }, (_, place) => `n${place + 1}`);
}

/** This share of the light plans has no fault at all: there the strictest rules hold. */
const calmShare = 0.1;
/** And this share of the others goes on undisturbed after their faults. */
const calmAfterShare = 0.25;
const closeShare = 0.15;
/** The first fault of a light plan comes no earlier. */
const firstMs = 150;
/** A fault of a light plan lasts for no larger share of its time. */
const longestShare = 0.6;

/** A plan that takes a few milliseconds to run: few processes, seconds of chaos. */
export function drawLightPlan(workload: string, seed: number, kinds: readonly Draw[]): Plan {
  const dice = diceFor(seed, `plan of ${workload}`);
  const chaosMs = dice.whole(2_000, 4_000);
  const processes = Array.from({ length: dice.whole(2, 3) }, (_, place) => lightProcess(dice, place));
  const closing = dice.chance(closeShare) ? dice.pick(processes) : null;
  const closesAtMs = dice.whole(firstMs, chaosMs);
  const planned = processes.map((process) => (process === closing ? { ...process, closesAtMs } : process));
  return {
    workload,
    seed,
    chaosMs,
    calmMs: dice.chance(calmAfterShare) ? dice.whole(500, 1_500) : 0,
    thinkMs: dice.pick([40, 100, 250]),
    processes: planned,
    faults: dice.chance(calmShare) ? [] : lightFaults(dice, kinds, planned, chaosMs),
  };
}

function lightProcess(dice: Dice, place: number): ProcessPlan {
  return {
    name: `p${place + 1}`,
    ttlMs: dice.pick([300, 600, 1_200]),
    lockDelayMs: 0,
    callTimeoutMs: dice.pick([100, 300, 1_000]),
    client: {
      unanswered: dice.pick(["resend", "resend", "reject", "forget"]),
      offlineQueue: dice.chance(0.8),
    },
    callers: dice.chance(0.3) ? 2 : 1,
    closesAtMs: null,
  };
}

function lightFaults(
  dice: Dice,
  kinds: readonly Draw[],
  processes: readonly ProcessPlan[],
  chaosMs: number,
): Fault[] {
  const longestMs = Math.round(chaosMs * longestShare);
  const shorter = (forMs: number): number => Math.min(forMs, longestMs);
  const limits = { firstMs, most: dice.whole(1, 6), shorter };
  return drawFaults(dice, kinds, processes, chaosMs, limits);
}

interface FaultLimits {
  /** The first of them comes no earlier. */
  readonly firstMs: number;
  /** How many there are at most. @default drawn: 2 to 14 */
  readonly most?: number;
  readonly shorter?: (forMs: number) => number;
}

/** A random half of the kinds, each as often as its random weight says: what drowns in a mix of all is found in some. */
export function drawFaults(
  dice: Dice,
  kinds: readonly Draw[],
  processes: readonly ProcessPlan[],
  chaosMs: number,
  { firstMs, most, shorter = (forMs) => forMs }: FaultLimits,
): Fault[] {
  const faults: Fault[] = [];
  for (const kind of kinds) {
    if (dice.chance(0.5)) continue;
    const times = dice.whole(1, kind.most);
    for (let i = 0; i < times; i++) {
      const forMs = shorter(kind.forMs(dice));
      faults.push({
        kind: kind.kind,
        atMs: Math.round(dice.between(firstMs, Math.max(firstMs + 1, chaosMs - forMs))),
        forMs,
        target: kind.on === "node" ? nodeName : dice.pick(processes).name,
        value: kind.value(dice),
      });
    }
  }
  // In a run with twenty kinds at once nobody gets anything done.
  const kept = dice.shuffle(faults).slice(0, most ?? dice.whole(2, 14));
  return kept.sort((a, b) => a.atMs - b.atMs);
}

/** Whether a life of one of its processes has a caller of this name: "p1.1", or "p1#2.1" after a restart. */
export function hasCaller({ processes }: Pick<Plan, "processes">, caller: string): boolean {
  const [, process, number] = /^(.+?)(?:#\d+)?\.([1-9]\d*)$/.exec(caller) ?? [];
  return processes.some(({ name, callers }) => name === process && callers >= Number(number));
}
