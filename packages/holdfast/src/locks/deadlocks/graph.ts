/**
 * The wait-for graph, and the circle in it that a wait is part of.
 *
 * Judged by graph reduction (R. C. Holt, "Some Deadlock Properties of Computer Systems", 1972): a holder that waits for nothing goes on,
 * and gives back what it holds. So does a holder whose wait can be served from what all those give back. What is left can never go on.
 */
import type { ProcessRecord } from "../../process-record.js";
import type { LockNoun } from "../../telemetry/events.js";
import type { NameHolder, NameState, NameWaiter } from "../wait-store.js";

/** How late a sign of life may be before the waiter is taken for dead. Taking a live one for dead delays the error until a later look. */
const LATE_MS = 500;

/** A wait of code that holds something. */
export interface GraphWait {
  readonly id: string;
  readonly noun: LockNoun;
  readonly name: string;
  /** Number of permits that it waits for: all of them for a mutex or a writer. */
  readonly permits: number;
  readonly process: ProcessRecord;
}

/** What keeps a holder from going on. */
export interface Blocked {
  /** The token of the turn that waits. */
  readonly fence: bigint;
  /** Ids of all waits of the code that holds, one or more. One that is served may be enough for it to go on. */
  readonly waits: readonly string[];
}

export interface Graph {
  /** By `nameKey`. A name that is missing is taken as free. */
  readonly names: ReadonlyMap<string, NameState>;
  readonly waits: ReadonlyMap<string, GraphWait>;
  /** By the id of the holder. A holder that is missing waits for nothing. */
  readonly blocked: ReadonlyMap<string, Blocked>;
}

/** A wait for a name, and a holder of it that is blocked by the next wait of the circle. */
export interface Step {
  readonly wait: GraphWait;
  readonly holder: NameHolder;
  readonly fence: bigint;
}

export interface Circle {
  /** Ids of all waits that can be served only after another of them. */
  readonly waits: ReadonlySet<string>;
  /** The shortest way around, from the given wait back to it. */
  readonly steps: readonly Step[];
}

export function nameKey({ noun, name }: Pick<NameState, "noun" | "name">): string {
  return `${noun} ${name}`;
}

/**
 * The largest set of waits around the given one in which each waits for another of them, and none can be served even if all others in the
 * world go on. Null: there is none. A wait that only leads to such a set is not in it.
 */
export function circleOf(graph: Graph, waitId: string): Circle | null {
  let among: ReadonlySet<string> = new Set(graph.waits.keys());
  for (;;) {
    const stuck = stuckAmong(graph, among);
    if (!stuck.has(waitId)) return null;
    const component = componentOf(graph, stuck, waitId);
    if (component.size === 0) return null;
    if (component.size === among.size) return { waits: among, steps: wayAround(graph, among, waitId) };
    // Waits outside of it are in circles of their own, and may be served when those are broken.
    among = component;
  }
}

/** The waits among the given ones that can never be served, if every other wait and holder goes on. */
function stuckAmong(graph: Graph, among: ReadonlySet<string>): ReadonlySet<string> {
  const stuck = new Set(among);
  for (let hasChanged = true; hasChanged; ) {
    hasChanged = false;
    for (const id of stuck) {
      const wait = graph.waits.get(id);
      if (wait && !canBeServed(graph, wait, stuck)) continue;
      stuck.delete(id);
      hasChanged = true;
    }
  }
  return stuck;
}

function canBeServed(graph: Graph, wait: GraphWait, stuck: ReadonlySet<string>): boolean {
  const state = graph.names.get(nameKey(wait));
  // One that wants more than there are waits for somebody to raise their number, and not for a holder.
  if (!state || wait.permits > state.permits) return true;
  const kept = blockingHolders(graph, state, stuck).reduce((sum, { permits }) => sum + permits, 0);
  return Math.max(wait.permits, mostAhead(graph, state, wait, stuck)) <= state.permits - kept;
}

/** Whether all waits of a holder are stuck. */
function isBlocking(graph: Graph, { id }: NameHolder, stuck: ReadonlySet<string>): boolean {
  return graph.blocked.get(id)?.waits.every((wait) => stuck.has(wait)) ?? false;
}

function blockingHolders(graph: Graph, state: NameState, stuck: ReadonlySet<string>): readonly NameHolder[] {
  return state.holders.filter((holder) => isBlocking(graph, holder, stuck));
}

/**
 * The largest number of permits that somebody ahead in line wants, and has lately given a sign of life. The line names processes and not waits: the first entry that may be this
 * wait counts. Where another holder of the same process can go on, that one may pass on its permits past the line.
 */
function mostAhead(graph: Graph, state: NameState, wait: GraphWait, stuck: ReadonlySet<string>): number {
  const mayPassOn = state.holders.some(
    (holder) => isSame(holder.process, wait.process) && !isBlocking(graph, holder, stuck),
  );
  if (mayPassOn) return 0;
  const isOwn = (one: NameWaiter): boolean =>
    one.permits === wait.permits && isSame(one.process, wait.process);
  const place = state.line.findIndex(isOwn);
  const ahead = state.line
    .slice(0, Math.max(place, 0))
    .filter(isHeard)
    .map(({ permits }) => permits);
  return Math.max(0, ...ahead.filter((permits) => permits <= state.permits));
}

/** Others overtake a waiter that is dead or paused only once its ttl is over, but it blocks nobody for ever. */
function isHeard({ silentMs, ttlMs }: NameWaiter): boolean {
  return silentMs < ttlMs / 3 + LATE_MS;
}

function isSame(one: ProcessRecord | null, other: ProcessRecord): boolean {
  return one !== null && one.host === other.host && one.pid === other.pid && one.label === other.label;
}

/** The steps from a wait to those that block the holders of its name. */
function stepsFrom(graph: Graph, wait: GraphWait, stuck: ReadonlySet<string>): { step: Step; to: string }[] {
  const state = graph.names.get(nameKey(wait));
  if (!state) return [];
  return blockingHolders(graph, state, stuck).flatMap((holder) => {
    const { fence, waits } = graph.blocked.get(holder.id) as Blocked;
    return waits.map((to) => ({ step: { wait, holder, fence }, to }));
  });
}

function reachableFrom(edges: ReadonlyMap<string, readonly string[]>, start: string): Set<string> {
  const found = new Set<string>();
  const open = [...(edges.get(start) ?? [])];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (found.has(id)) continue;
    found.add(id);
    open.push(...(edges.get(id) ?? []));
  }
  return found;
}

/** The strongly connected component of a wait; empty when no way leads back to it. */
function componentOf(graph: Graph, stuck: ReadonlySet<string>, start: string): ReadonlySet<string> {
  const forth = new Map<string, string[]>();
  const back = new Map<string, string[]>();
  for (const id of stuck) {
    const tos = stepsFrom(graph, graph.waits.get(id) as GraphWait, stuck).map(({ to }) => to);
    forth.set(id, tos);
    for (const to of tos) back.set(to, [...(back.get(to) ?? []), id]);
  }
  const [after, before] = [reachableFrom(forth, start), reachableFrom(back, start)];
  return new Set([...after].filter((id) => before.has(id)));
}

/** Breadth first, so that the way is a shortest one. */
function wayAround(graph: Graph, stuck: ReadonlySet<string>, start: string): readonly Step[] {
  const ways: { at: string; steps: readonly Step[] }[] = [{ at: start, steps: [] }];
  const seen = new Set<string>();
  for (const { at, steps } of ways) {
    for (const { step, to } of stepsFrom(graph, graph.waits.get(at) as GraphWait, stuck)) {
      if (to === start) return [...steps, step];
      if (seen.has(to)) continue;
      seen.add(to);
      ways.push({ at: to, steps: [...steps, step] });
    }
  }
  return [];
}
