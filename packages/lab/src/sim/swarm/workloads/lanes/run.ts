/** What a run of lanes draws for itself, and what its callers share. */
import type { Lanes, LanesOptions } from "holdfast";
import type { Dice } from "../../../../chance/dice.js";
import type { LaneRate, WhenFailed } from "../../../../history/lane-rules.js";
import type { Caller, Scene } from "../../workload.js";
import { patience } from "../delivery-plan.js";
import { Demand } from "../demand.js";
import { Held } from "../held.js";
import { asUsual, drawOperating, type OperatingTerms } from "../operating.js";
import { Poison } from "../poison.js";
import { LanesView } from "./view.js";

export const name = "orders";
const few = ["a", "b", "c d", "%"];
/** Most of them have one message at a time, which waits for its turn beside lanes that have more. */
const many = [...few, ...Array.from({ length: 20 }, (_, place) => `lane:${place}`)];

type More = Pick<LanesOptions, "maxLength">;

export interface LaneTerms extends OperatingTerms<More> {
  readonly inFlight: number;
  readonly whenFailed: WhenFailed;
  readonly deadlineMs: number;
  readonly maxAttempts: number;
  readonly backoffMs: number;
  readonly usesPause: boolean;
  readonly rate: LaneRate | null;
  /** No fault, and nobody pauses or gives back what nobody has seen. */
  readonly isSteady: boolean;
  /** What a lane may be given as its own `inFlight`; none: it is given none. */
  readonly limits: readonly number[];
}

export interface Shared {
  readonly scene: Scene;
  readonly terms: LaneTerms;
  readonly view: LanesView;
  readonly names: readonly string[];
  /** By lane. */
  readonly held: Held;
  readonly demand: Demand;
  readonly poison: Poison;
  /** Tickets that pushes have given, the newest last. */
  readonly tickets: string[];
  done: number;
  bodies: number;
}

/** Under faults seldom, and none that is slow: a lane that waits for its rate and for a lost answer must be done in time. */
function drawRate(dice: Dice, isCalm: boolean): LaneRate | null {
  const rate = { max: dice.pick([1, 2, 3]), perMs: isCalm ? dice.pick([50, 200]) : 50 };
  return isCalm || dice.chance(0.3) ? rate : null;
}

export function drawRun(scene: Scene): Shared {
  const dice = scene.world.dice(name);
  const isSteady = scene.plan.faults.length === 0 && dice.chance(0.7);
  const terms: LaneTerms = {
    inFlight: dice.pick([1, 1, 1, 2, 3]),
    whenFailed: dice.pick(["park", "park", "skip", "dead-letter"] as const),
    deadlineMs: patience(scene.plan) ?? dice.pick([1_000, 1_500, 4_000]),
    maxAttempts: dice.pick([2, 3, 5]),
    backoffMs: dice.pick([0, 50, 300]),
    usesPause: dice.chance(0.2) && !isSteady,
    isSteady,
    rate: isSteady ? null : drawRate(dice, scene.plan.faults.length === 0),
    ...drawMore(scene, isSteady),
  };
  const view = new LanesView(scene.node, name);
  return {
    scene,
    terms,
    view,
    names: isSteady ? many : few,
    held: new Held(),
    demand: new Demand(scene, { rule: "N8", idle: () => view.idle }),
    poison: new Poison(scene),
    tickets: [],
    done: 0,
    bodies: 0,
  };
}

function drawMore({ world }: Scene, isSteady: boolean): OperatingTerms<More> & Pick<LaneTerms, "limits"> {
  if (isSteady) return { ...asUsual, limits: [] };
  const dice = world.dice("options of lanes");
  const length = dice.chance(0.2) ? { maxLength: dice.pick([1, 6, 20]) } : {};
  return { ...drawOperating<More>(dice, length), limits: dice.chance(0.2) ? [1, 2, 3] : [] };
}

/** Of one lane, whatever it was given. */
export function mostInFlight({ inFlight, limits }: Pick<LaneTerms, "inFlight" | "limits">): number {
  return Math.max(inFlight, ...limits);
}

export function lanesOf({ hf }: Caller, { terms }: Shared): Lanes<string, string> {
  const { inFlight, whenFailed, maxAttempts, deadlineMs, rate, more } = terms;
  const limit = rate ? { max: rate.max, per: rate.perMs } : undefined;
  const options = { inFlight, whenFailed, maxAttempts, limit, deadline: deadlineMs, ...more };
  return hf.lanes<string, string>(name, options);
}
