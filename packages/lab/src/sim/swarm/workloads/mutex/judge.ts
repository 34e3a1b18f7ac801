/** Judge: reads the history of a run and what is left at its end, and says which rules were broken. */
import { checkLockRules } from "../../../../history/lock-rules.js";
import type { Operation } from "../../../../history/operation.js";
import { checkPassedOn, isFirstTurn } from "../../../../history/passed-on.js";
import type { Violation } from "../../../../history/violation.js";
import { checkTries, checkTurns, checkWaiting } from "../../../../history/waiting.js";
import { lifeOf, planned } from "../../scene.js";
import { judgeCost } from "./cost.js";
import { judgeKept } from "./kept.js";
import { holderAt } from "./node-state.js";
import { type LockProcess, type LockScene, passesOn } from "./plan.js";
import type { QueueWatch } from "./queue-watch.js";
import type { Tokens } from "./tokens.js";

const usualPromptMs = 30;
/** By then a process is connected: one whose client has no queue tries again until then. */
const connectedMs = 500;

interface Judged {
  readonly scene: LockScene;
  readonly queue: QueueWatch;
  readonly tokens: Pick<Tokens, "cutsMs">;
  /** How soon a free lock is granted to whoever waits where nothing fails. @default two round trips and the waiting for a turn */
  readonly promptMs?: number;
  /** Whether who comes first is certain. @default true */
  readonly isOrdered?: boolean;
}

/** Adds to the failures of the scene. Call it when the run is over. */
export function judge(judged: Judged, endMs: number): void {
  const { scene, tokens } = judged;
  const { operations } = scene.history;
  const planOf = (process: string): LockProcess | undefined =>
    scene.plan.processes.find(({ name }) => name === planned(process));
  const found = checkLockRules(operations, {
    grants: tokenSpans(grantsOfTheNode(scene), tokens.cutsMs),
    exceptions: scene.exceptions,
    mayOverlap: (violation) => isExcused(scene, violation),
    placeOf,
  });
  if (scene.calmFromMs < endMs) {
    found.push(...ofCalm(judged, endMs, (process) => planOf(process)?.lingerMs ?? 0));
    judgeKept(scene);
  }
  found.push(...checkPassedOn(operations, { boundsOf: planOf, calmFromMs: scene.calmFromMs }));
  if (scene.plan.faults.length === 0) judgeCost(scene);
  for (const violation of found) report(scene, violation);
}

/** Where nothing fails, what is free is granted at once, and the line is served in order. */
function ofCalm(
  { scene, queue, promptMs = usualPromptMs, isOrdered = true }: Judged,
  endMs: number,
  lingerMs: (process: string) => number,
): Violation[] {
  const { world, history, plan, deathsMs: diedMs, calmFromMs, keptMs: ttlMs, mayBeSetBack } = scene;
  const { operations } = history;
  const found: Violation[] = [];
  const deathsMs = new Map(
    operations.map(({ process }) => [process, diedMs.get(lifeOf(process)) ?? Infinity]),
  );
  const connecting = [...world.processes.values()]
    .filter(({ name }) => !plan.processes.find((one) => one.name === planned(name))?.client.offlineQueue)
    .map(({ bornMs }) => ({ fromMs: bornMs, toMs: bornMs + connectedMs }));
  const faults = [
    { fromMs: Number.NEGATIVE_INFINITY, toMs: Math.max(calmFromMs, connectedMs) },
    ...connecting,
  ];
  const all = (holds: (process: LockProcess) => boolean): boolean => plan.processes.every(holds);
  // A lease that was ended by its limit is given back when its holder notices.
  if (all(({ maxHoldMs }) => maxHoldMs === null)) {
    // A waiter that died while the clock was ahead is taken for alive once more where that was set back.
    const withinMs = promptMs + (mayBeSetBack ? ttlMs : 0);
    found.push(...checkWaiting(operations, { withinMs, ttlMs, endMs, deathsMs, faults, lingerMs }));
    // One server grants a free lock to the first who tries; a majority of several may be nobody's.
    const maySplit = scene.nodes.length > 1;
    found.push(...checkTries(operations, { withinMs, ttlMs, endMs, deathsMs, faults, maySplit, lingerMs }));
  }
  // Turns inside a process go before the line outside.
  if (isOrdered && all(({ callers }) => callers === 1)) {
    const isFirst = isFirstTurn(operations);
    found.push(
      ...checkTurns(
        operations.filter(({ invMs }) => invMs >= calmFromMs),
        { queuedMs: (operation) => queue.queuedMs(operation), counts: isFirst },
      ),
    );
  }
  return found;
}

/** One of those who held at one time had a clock of its own. */
function isExcused(scene: LockScene, { operations, atMs }: Violation): boolean {
  return operations.some(({ process }) => scene.mayOverlap(planned(process), atMs));
}

function report(scene: LockScene, { property, message, atMs, operations }: Violation): void {
  scene.fail(property, message, atMs, operations);
}

/** Where tokens may have begun anew, those before are not compared with those after. */
function tokenSpans(operations: readonly Operation[], cutsMs: readonly number[]): Operation[][] {
  const edges = [0, ...cutsMs, Number.POSITIVE_INFINITY];
  return edges.slice(1).map((toMs, place) => {
    const fromMs = edges[place] as number;
    return operations.filter(({ invMs, retMs }) => invMs >= fromMs && (retMs ?? toMs) < toMs);
  });
}

/**
 * While leases may overlap, a process may pass on inside what it was granted before, to callers who ask after somebody
 * else was granted more: those turns asked nobody. A process that passes nothing on has asked the node for each.
 */
function grantsOfTheNode(scene: LockScene): Operation[] {
  const known = new Set<string | undefined>();
  const solo = new Set(scene.plan.processes.filter((process) => !passesOn(process)).map(({ name }) => name));
  return scene.history.operations.filter(({ f, type, nonce, retMs, process }) => {
    if (f !== "acquire" || type !== "ok") return false;
    const isFirst = !known.has(nonce);
    known.add(nonce);
    const name = planned(process);
    return (isFirst && solo.has(name)) || !scene.mayOverlap(name, retMs ?? 0);
  });
}

function placeOf({ value }: Operation): number | undefined {
  return (value as { place?: number } | undefined)?.place;
}

/** L9: what nobody wants any more is free. */
export function judgeLeft(scene: LockScene): void {
  for (const lock of scene.plan.locks) {
    const holder = holderAt(scene.node, lock);
    if (holder) scene.fail("L9", `"${lock}" is still held by ${holder.id}, which nobody wants`);
  }
}
