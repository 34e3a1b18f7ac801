/** Judge: reads the history of a run and what is left at its end, and says which rules were broken. */
import { checkLockRules } from "../../history/lock-rules.js";
import type { Operation } from "../../history/operation.js";
import type { Violation } from "../../history/violation.js";
import { checkTries, checkTurns, checkWaiting } from "../../history/waiting.js";
import { judgeCost } from "./cost.js";
import { judgeKept } from "./kept.js";
import type { ProcessPlan } from "./plan.js";
import type { QueueWatch } from "./queue-watch.js";
import { holderAt, lifeOf, planned, type Scene } from "./scene.js";

/** How soon a free lock is granted to whoever waits where nothing fails: two round trips and the waiting for a turn. */
const promptMs = 30;
/** By then a process is connected: one whose client has no queue tries again until then. */
const connectedMs = 500;
/** A run in which fewer tokens were issued says nothing. */
const fewestGrants = 3;

/** Adds to the failures of the scene. Call it when the run is over. */
export function judge(scene: Scene, endMs: number, queue: QueueWatch): void {
  const { operations } = scene.history;
  const found = checkLockRules(operations, {
    grants: tokenSpans(grantsOfTheNode(scene), scene.tokenCutsMs),
    exceptions: scene.exceptions,
    mayOverlap: (violation) => isExcused(scene, violation),
    placeOf,
  });
  if (scene.calmFromMs < endMs) {
    found.push(...ofCalm(scene, endMs, queue));
    judgeKept(scene);
  }
  if (scene.plan.faults.length === 0) judgeCost(scene);
  for (const violation of found) report(scene, violation);
  checkEnd(scene);
}

/** Where nothing fails, what is free is granted at once, and the line is served in order. */
function ofCalm(
  { world, history, plan, deathsMs: diedMs, calmFromMs, keptMs: ttlMs, mayBeSetBack }: Scene,
  endMs: number,
  queue: QueueWatch,
): Violation[] {
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
  const all = (holds: (process: ProcessPlan) => boolean): boolean => plan.processes.every(holds);
  // A lease that was ended by its limit is given back when its holder notices.
  if (all(({ maxHoldMs }) => maxHoldMs === null)) {
    // A waiter that died while the clock was ahead is taken for alive once more where that was set back.
    const withinMs = promptMs + (mayBeSetBack ? ttlMs : 0);
    found.push(...checkWaiting(operations, { withinMs, ttlMs, endMs, deathsMs, faults }));
    found.push(...checkTries(operations, { withinMs, ttlMs, endMs, deathsMs, faults }));
  }
  // Turns inside a process go before the line outside.
  if (all(({ callers }) => callers === 1))
    found.push(
      ...checkTurns(
        operations.filter(({ invMs }) => invMs >= calmFromMs),
        { queuedMs: (operation) => queue.queuedMs(operation) },
      ),
    );
  return found;
}

/** One of those who held at one time had a clock of its own. */
function isExcused(scene: Scene, { operations, atMs }: Violation): boolean {
  return operations.some(({ process }) => scene.mayOverlap(planned(process), atMs));
}

function report(scene: Scene, { property, message, atMs, operations }: Violation): void {
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
 * else was granted more: those turns asked nobody. A process with one caller has asked the node for each.
 */
function grantsOfTheNode(scene: Scene): Operation[] {
  const known = new Set<string | undefined>();
  const solo = new Set(
    scene.plan.processes
      .filter(({ callers, localTurns }) => callers === 1 || localTurns === 1)
      .map(({ name }) => name),
  );
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
export function judgeLeft(scene: Scene): void {
  for (const lock of scene.plan.locks) {
    const holder = holderAt(scene.node, lock);
    if (holder) scene.fail("L9", `"${lock}" is still held by ${holder.id}, which nobody wants`);
  }
}

/** P2: nothing is left: no key without an end, no timer, no connection, no error that nobody caught. */
function checkEnd(scene: Scene): void {
  const { world, node, lives } = scene;
  for (const { error, process, atMs } of world.errors) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    scene.fail("P2", `nobody caught an error of ${process ?? "the world"}: ${text}`, atMs);
  }
  for (const { process } of lives.values()) {
    const { name, timerCount, wires } = process;
    if (!scene.finished.has(name)) scene.fail("P1", `${name} did not come to its end`);
    else if (timerCount > 0 || wires.size > 0)
      scene.fail("P2", `${name} has ended, and has ${timerCount} timers and ${wires.size} connections`);
  }
  const keys = node.peek("KEYS", "*");
  for (const key of Array.isArray(keys) ? keys : []) {
    if (node.peek("PTTL", String(key)) === -1) scene.fail("P2", `the key ${String(key)} never expires`);
  }
  const grants = scene.history.operations.filter(({ f, type }) => f === "acquire" && type === "ok");
  if (grants.length < fewestGrants) scene.fail("progress", `only ${grants.length} tokens were issued`);
}
