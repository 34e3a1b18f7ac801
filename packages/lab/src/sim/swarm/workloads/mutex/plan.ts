/** What one seed decides for the mutex: longer runs, and processes with options of their own. */
import type { Dice } from "../../../../chance/dice.js";
import { diceFor } from "../../../../chance/dice.js";
import {
  type Draw,
  drawFaults,
  type Fault,
  lateKind,
  nodeName,
  type Plan,
  type ProcessPlan,
} from "../../plan.js";
import type { Scene } from "../../scene.js";

export interface LockProcess extends ProcessPlan {
  readonly localTurns: number;
  readonly maxHoldMs: number | null;
  /** How long it keeps a lock after a release; 0 without local turns. */
  readonly lingerMs: number;
  /** Its callers now and then take all locks at one moment, and give them back at one moment. */
  readonly takesPairs: boolean;
}

export interface LockPlan extends Plan {
  readonly locks: readonly string[];
  readonly processes: readonly LockProcess[];
}

/** A run of the mutex under way. */
export type LockScene = Scene<LockPlan>;

const locks = ["account:13", "stock:7"] as const;
const ttlsMs = [500, 1_000, 1_000, 2_000, 3_000] as const;
/** This share of the seeds has no fault at all: there the strictest rules hold. */
const calmShare = 0.08;
/** And this share of the others goes on undisturbed after their faults. */
const calmAfterShare = 0.25;

const unequalShare = 0.12;
const longMs = 4_000;
/** No fault comes earlier. */
const firstMs = 500;
const closeShare = 0.15;
const pairShare = 0.15;
/** Of the seeds with faults. */
const loneDeathShare = 0.06;
/** Of all seeds: all processes but one are on one machine, which is gone for long. */
const machineDeathShare = 0.05;
/** In this share of the seeds locks linger in some processes after a release. */
const lingerShare = 0.3;
const lingersMs = [0, 2, 20, 100, 400, 3_000] as const;

export function drawPlan(seed: number, kinds: readonly Draw[]): LockPlan {
  const dice = diceFor(seed, "plan");
  const chaosMs = dice.whole(4_000, 10_000);
  const drawn = Array.from({ length: dice.whole(3, 5) }, (_, place) => processPlan(dice, place));
  const machine = diceFor(seed, "machine");
  const losesMachine = machine.chance(machineDeathShare);
  const ttls = losesMachine ? withRareSigns(drawn) : withTtls(diceFor(seed, "ttls"), drawn);
  const processes = withCloses(diceFor(seed, "closes"), ttls, chaosMs);
  const calm = diceFor(seed, "calm");
  const takesPairs = diceFor(seed, "pairs").chance(pairShare);
  const planned = withLinger(
    diceFor(seed, "linger"),
    processes.map((process) => ({ ...process, takesPairs })),
  );
  const faults = (): readonly Fault[] => {
    if (losesMachine) return machineDeath(machine, planned, chaosMs);
    return dice.chance(calmShare) ? [] : faultsOf(seed, kinds, planned, chaosMs);
  };
  return {
    workload: "mutex",
    seed,
    chaosMs,
    calmMs: calm.chance(calmAfterShare) ? calm.whole(1_500, 4_000) : 0,
    locks: locks.slice(0, dice.chance(0.7) && !takesPairs ? 1 : 2),
    thinkMs: dice.pick([60, 150, 300]),
    processes: planned,
    faults: faults(),
  };
}

function processPlan(dice: Dice, place: number): LockProcess {
  const ttlMs = dice.pick(ttlsMs);
  const lockDelayMs = dice.chance(0.15) ? dice.whole(1, 1_000) : 0;
  const localTurns = dice.pick([1, 1, 2, 16]);
  return {
    name: `p${place + 1}`,
    ttlMs,
    lockDelayMs,
    localTurns,
    maxHoldMs: dice.chance(0.1) ? ttlMs * dice.pick([1.2, 2]) : null,
    lingerMs: 0,
    callTimeoutMs: dice.pick([100, 300, 1_000]),
    client: {
      unanswered: dice.pick(["resend", "resend", "reject", "forget"]),
      offlineQueue: dice.chance(0.8),
    },
    callers: dice.chance(0.3) ? 2 : 1,
    takesPairs: false,
    closesAtMs: null,
  };
}

/** In some runs the longest ttl is twenty times the shortest; and there are leases that a second is little of. */
function withTtls(dice: Dice, processes: readonly LockProcess[]): readonly LockProcess[] {
  if (!dice.chance(unequalShare)) return processes;
  const [short, long] = dice.shuffle(processes);
  return processes.map((process) => {
    const ttlMs = process === short ? 200 : process === long ? dice.pick([4_000, 9_000]) : process.ttlMs;
    const { maxHoldMs } = process;
    return { ...process, ttlMs, maxHoldMs: maxHoldMs && (maxHoldMs / process.ttlMs) * ttlMs };
  });
}

export function withLinger(dice: Dice, processes: readonly LockProcess[]): readonly LockProcess[] {
  if (!dice.chance(lingerShare)) return processes;
  return processes.map((process) => {
    const drawnMs = dice.pick(lingersMs);
    const lingerMs = process.localTurns === 1 ? 0 : Math.min(drawnMs, Math.floor(process.ttlMs / 3));
    return { ...process, lingerMs };
  });
}

/** Whether a grant may serve a caller of this process after another one. */
export function passesOn({ callers, localTurns, lingerMs }: LockProcess): boolean {
  return localTurns > 1 && (callers > 1 || lingerMs > 0);
}

function withCloses(dice: Dice, processes: readonly LockProcess[], chaosMs: number): readonly LockProcess[] {
  if (!dice.chance(closeShare)) return processes;
  const closing = dice.pick(processes);
  const closesAtMs = Math.round(dice.between(200, chaosMs));
  return processes.map((process) => (process === closing ? { ...process, closesAtMs } : process));
}

function faultsOf(
  seed: number,
  kinds: readonly Draw[],
  processes: readonly LockProcess[],
  chaosMs: number,
): Fault[] {
  const lone = diceFor(seed, "lone death");
  if (lone.chance(loneDeathShare)) return loneDeath(lone, processes, chaosMs);
  const drawn = drawFaults(diceFor(seed, "faults"), kinds, processes, chaosMs, { firstMs });
  const more = fitting(diceFor(seed, "fitting"), processes, chaosMs);
  return [...drawn, ...more].sort((a, b) => a.atMs - b.atMs);
}

/**
 * Faults that some processes are worth: what holds for long meets a step of its clock, or requests that come when it has
 * given up; what comes in pairs half a refusal.
 */
function fitting(dice: Dice, processes: readonly LockProcess[], chaosMs: number): Fault[] {
  const faults: Fault[] = [];
  const long = processes.find(({ ttlMs }) => ttlMs >= longMs);
  const at = (): number => dice.whole(500, chaosMs);
  const atOnce = (kind: string, target: string, value: number): void => {
    faults.push({ kind, atMs: at(), forMs: 0, target, value });
  };
  if (long && dice.chance(0.6))
    for (let i = 0; i < 2; i++) atOnce("wall clock of a process", long.name, 10_000);
  if (long && dice.chance(0.8))
    for (let i = 0; i < 4; i++) atOnce(lateKind, long.name, dice.whole(300, longMs - 500));
  if (processes.some(({ takesPairs }) => takesPairs) && dice.chance(0.5)) {
    const atMs = Math.min(at(), chaosMs - 1_000);
    faults.push({ kind: "NOPERM answers", atMs, forMs: chaosMs - atMs, target: nodeName, value: 0.3 });
  }
  return faults;
}

/** A waiter gives a sign of life after more than a second only. */
function withRareSigns(processes: readonly LockProcess[]): readonly LockProcess[] {
  return processes.map((process) => ({ ...process, ttlMs: longMs, lockDelayMs: 0, maxHoldMs: null }));
}

/** The holder dies together with those that are first in line: for how long do they keep the last process waiting? */
function machineDeath(dice: Dice, processes: readonly LockProcess[], chaosMs: number): Fault[] {
  const atMs = dice.whole(firstMs, 2_000);
  const kind = dice.pick(["kill", "loss of power"]);
  const gone = processes.slice(0, -1);
  return gone.map(({ name }) => ({ kind, atMs, forMs: chaosMs - atMs, target: name, value: 0 }));
}

/** One process is gone for long, and at most the server's clock is set back: whom it held up, and for how long? */
function loneDeath(dice: Dice, processes: readonly LockProcess[], chaosMs: number): Fault[] {
  const atMs = dice.whole(500, 2_500);
  const kind = dice.pick(["kill", "loss of power"]);
  const death = { kind, atMs, forMs: chaosMs - atMs, target: dice.pick(processes).name, value: 0 };
  if (dice.chance(0.5)) return [death];
  const value = dice.pick([-1_000, -5_000, -31_000]);
  const stepMs = atMs + dice.whole(1, 500);
  return [death, { kind: "clock step", atMs: stepMs, forMs: 0, target: nodeName, value }];
}
