/** What one seed decides for queues and lanes: a light plan, whose leases last as long as the longest of a delivery. */
import { type Dice, diceFor } from "../../../chance/dice.js";
import { slowNetwork } from "../faults/network.js";
import { poison } from "../faults/process.js";
import { type Draw, drawLightPlan, type Fault, type Plan, type ProcessPlan } from "../plan.js";

/** The longest deadline that a run draws, and longer than the first lease of a delivery. */
const longestMs = 4_000;
/** More seeds without a fault than others have: the order is judged there. */
const calmShare = 0.12;
/** Of the seeds with faults, so many lose answers to requests that are sent again. */
const resendShare = 0.25;
const firstMs = 150;
const sleeperShare = 0.03;
const sleepMs = 8_000;
const mortalShare = 0.05;
const poisonShare = 0.08;
/** One process after the other ends at these times: what the first one had is taken by the time of the next. */
const endsMs = [700, 5_700, 10_700];
/** Longer than it takes to see that a process is gone, so that its deliveries do not come back by their deadline. */
const patientMs = 9_000;
/** Long enough for the ends of a message that it takes to be dead. */
const poisonMs = 20_000;

export function drawDeliveryPlan(workload: string, seed: number, kinds: readonly Draw[]): Plan {
  const plan = drawLightPlan(workload, seed, kinds);
  const dice = diceFor(seed, `deliveries of ${workload}`);
  const processes = plan.processes.map((process) => ({ ...process, ttlMs: longestMs }));
  const sleeper = diceFor(seed, `sleeper of ${workload}`);
  if (plan.faults.length > 0 && sleeper.chance(sleeperShare)) return asleep(sleeper, { ...plan, processes });
  if (plan.faults.length > 0 && sleeper.chance(mortalShare)) return mortal(sleeper, plan);
  if (plan.faults.length > 0 && sleeper.chance(poisonShare)) return poisoned(sleeper, plan);
  if (plan.faults.length === 0 || dice.chance(calmShare)) return { ...plan, processes, faults: [] };
  if (!dice.chance(resendShare)) return { ...plan, processes };
  const faults = [...plan.faults, ...lostAnswers(dice, plan)].sort((a, b) => a.atMs - b.atMs);
  return { ...plan, processes, faults };
}

/** One process sleeps for longer than a first lease and the look that ends it: nothing that is given to it meanwhile is extended. */
function asleep(dice: Dice, plan: Plan): Plan {
  const sleep = { kind: "pause", atMs: dice.whole(firstMs, 1_000), forMs: sleepMs, value: 0 };
  const target = dice.pick(plan.processes).name;
  return { ...plan, chaosMs: sleepMs + 1_000, faults: [{ ...sleep, target }] };
}

/** Processes end again and again, with all that they have. */
function mortal(dice: Dice, plan: Plan): Plan {
  const processes = patient(plan);
  const faults = endsMs.map((atMs) => {
    return { kind: "kill", atMs, forMs: 200, value: 0, target: dice.pick(processes).name };
  });
  return { ...plan, processes, faults, chaosMs: patientMs + (endsMs.at(-1) ?? 0) };
}

/** One message ends processes, again and again, and nothing else does. */
function poisoned(dice: Dice, plan: Plan): Plan {
  const fault = { kind: poison.kind, atMs: dice.whole(firstMs, 1_500), forMs: poisonMs, value: 0 };
  const target = dice.pick(plan.processes).name;
  // What is pushed meanwhile is to be done at the end.
  const processes = patient(plan);
  return { ...plan, processes, faults: [{ ...fault, target }], chaosMs: poisonMs + 1_500, thinkMs: 250 };
}

function patient({ processes }: Plan): ProcessPlan[] {
  return processes.map((process) => ({ ...process, ttlMs: patientMs }));
}

/** The deadline of a run whose deliveries come back because their processes are gone, and not by it; null: any. */
export function patience({ processes }: Plan): number | null {
  return processes.some(({ ttlMs }) => ttlMs === patientMs) ? patientMs : null;
}

/** The network of a run that is slow for longer than some deadlines: a delivery may be over before its process can answer. */
export function slownessOf({ faults }: Plan): Fault | undefined {
  return faults.find(({ kind }) => kind === slowNetwork.kind);
}

export function sleeps({ faults }: Plan): boolean {
  return faults.some(({ forMs }) => forMs === sleepMs);
}

function lostAnswers(dice: Dice, { processes, chaosMs }: Plan): Fault[] {
  return Array.from({ length: dice.whole(3, 8) }, () => ({
    kind: "answer lost",
    atMs: dice.whole(firstMs, chaosMs),
    forMs: 0,
    target: dice.pick(processes).name,
    value: 1,
  }));
}
