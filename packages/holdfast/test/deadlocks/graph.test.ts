/** The judge of circles, beside one that tries every set of waits, and one that lets everybody go on who can. */
import { describe, expect, test } from "vitest";
import {
  type Blocked,
  circleOf,
  type Graph,
  type GraphWait,
  nameKey,
} from "../../src/locks/deadlocks/graph.js";
import type { NameHolder, NameState, NameWaiter } from "../../src/locks/wait-store.js";
import type { LockNoun } from "../../src/telemetry/events.js";

const ALL = 1_000_000_000;
const HEARD = { ttlMs: 3_000, silentMs: 1_499 };
const self = (pid: number) => ({ host: "h", pid, label: "" });

/** A small generator whose numbers follow from the seed. */
function dice(seed: number): (sides: number) => number {
  let state = seed >>> 0;
  return (sides) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    return Math.floor((((state ^ (state >>> 12)) >>> 0) / 2 ** 32) * sides);
  };
}

interface Draft {
  readonly noun: LockNoun;
  readonly name: string;
  readonly permits: number;
  readonly holders: NameHolder[];
  readonly line: NameWaiter[];
}

/** Owners that hold some names and wait for others, and strangers that hold, or stand in line. */
function randomGraph(seed: number): Graph {
  const roll = dice(seed);
  const nouns: readonly LockNoun[] = ["mutex", "rwlock", "semaphore"];
  const drafts: Draft[] = Array.from({ length: 2 + roll(4) }, (_, at) => {
    const noun = nouns[roll(3)] as LockNoun;
    const permits = noun === "mutex" ? 1 : noun === "rwlock" ? ALL : 1 + roll(4);
    return { noun, name: `n${at}`, permits, holders: [], line: [] };
  });
  const waits = new Map<string, GraphWait>();
  const blocked = new Map<string, Blocked>();
  const weightIn = ({ noun, permits }: Draft): number =>
    noun === "semaphore" ? 1 + roll(permits) : noun === "rwlock" && roll(2) === 0 ? 1 : permits;
  const owners = 1 + roll(6);
  for (let owner = 0; owner < owners; owner += 1) {
    const its = Array.from({ length: roll(5) === 0 ? 2 : roll(6) === 0 ? 0 : 1 }, () => {
      const draft = drafts[roll(drafts.length)] as Draft;
      const wait = { ...draft, id: `w${waits.size}`, permits: weightIn(draft), process: self(owner) };
      waits.set(wait.id, wait);
      draft.line.push({ process: self(owner), permits: wait.permits, ...HEARD });
      return wait.id;
    });
    for (let count = roll(3); count >= 0; count -= 1) {
      const draft = drafts[roll(drafts.length)] as Draft;
      const permits = weightIn(draft);
      const used = draft.holders.reduce((sum, holder) => sum + holder.permits, 0);
      if (used + permits > draft.permits) continue;
      const id = `c${seed}.${owner}.${count}`;
      draft.holders.push({ id, process: self(owner), permits, sinceMs: 0, fence: 1n });
      if (its.length > 0) blocked.set(id, { fence: 1n, waits: its });
    }
    // A stranger, who holds nothing elsewhere.
    const draft = drafts[roll(drafts.length)] as Draft;
    if (roll(3) === 0) {
      const signs = roll(4) === 0 ? { ttlMs: 3_000, silentMs: 1_500 } : HEARD;
      draft.line.push({ process: self(100 + owner), permits: weightIn(draft), ...signs });
    }
  }
  return { names: new Map(drafts.map((draft) => [nameKey(draft), draft])), waits, blocked };
}

/** What the line before a wait asks for, where no holder of its own process may pass it by. Written once more, from the definition. */
function demandOf(state: NameState, wait: GraphWait, going: readonly NameHolder[]): number {
  if (going.some(({ process }) => process?.pid === wait.process.pid)) return wait.permits;
  let most = wait.permits;
  for (const one of state.line) {
    if (one.process?.pid === wait.process.pid && one.permits === wait.permits) return most;
    if (one.silentMs < 1_500 && one.permits <= state.permits) most = Math.max(most, one.permits);
  }
  return wait.permits;
}

/** Whether no wait of the set can be served as long as none of the others is. */
function isStuck(graph: Graph, set: readonly string[]): boolean {
  return set.every((id) => {
    const wait = graph.waits.get(id) as GraphWait;
    const state = graph.names.get(nameKey(wait)) as NameState;
    const keeps = (holder: NameHolder) =>
      graph.blocked.get(holder.id)?.waits.every((one) => set.includes(one)) ?? false;
    const going = state.holders.filter((holder) => !keeps(holder));
    const kept = state.holders.filter(keeps).reduce((sum, { permits }) => sum + permits, 0);
    return wait.permits <= state.permits && demandOf(state, wait, going) > state.permits - kept;
  });
}

function leadsTo(
  graph: Graph,
  set: readonly string[],
  from: string,
  to: string,
  past: string[] = [],
): boolean {
  const wait = graph.waits.get(from) as GraphWait;
  const state = graph.names.get(nameKey(wait)) as NameState;
  const next = state.holders
    .map(({ id }) => graph.blocked.get(id)?.waits ?? [])
    .filter((waits) => waits.length > 0 && waits.every((one) => set.includes(one)))
    .flat();
  return next.some((id) => id === to || (!past.includes(id) && leadsTo(graph, set, id, to, [...past, id])));
}

/** All sets of waits that hold each other up and hang together, by trying every one. */
function circlesIn(graph: Graph): readonly (readonly string[])[] {
  const ids = [...graph.waits.keys()];
  const found: (readonly string[])[] = [];
  for (let bits = 1; bits < 2 ** ids.length; bits += 1) {
    const set = ids.filter((_, at) => bits & (1 << at));
    if (!isStuck(graph, set)) continue;
    if (set.every((from) => set.every((to) => leadsTo(graph, set, from, to)))) found.push(set);
  }
  return found;
}

/** Lets everybody go on who can, until nobody can any more. Returns the waits that were served. */
function servedByRunning(graph: Graph): Set<string> {
  const served = new Set<string>();
  const goesOn = (id: string): boolean =>
    graph.blocked.get(id)?.waits.some((wait) => served.has(wait)) ?? true;
  for (let before = -1; before < served.size; ) {
    before = served.size;
    for (const [id, wait] of graph.waits) {
      const state = graph.names.get(nameKey(wait)) as NameState;
      const going = state.holders.filter((holder) => goesOn(holder.id));
      const free =
        state.permits - state.holders.reduce((sum, one) => sum + (goesOn(one.id) ? 0 : one.permits), 0);
      if (demandOf(state, wait, going) <= free) served.add(id);
    }
  }
  return served;
}

const SEEDS = Array.from({ length: 1_000 }, (_, seed) => seed + 1);

describe("a circle in the wait-for graph", () => {
  test("is found for a wait if and only if a set of waits around it holds itself up", () => {
    let circles = 0;
    for (const seed of SEEDS) {
      const graph = randomGraph(seed);
      const expected = circlesIn(graph);
      for (const id of graph.waits.keys()) {
        const largest = expected.filter((set) => set.includes(id)).sort((a, b) => b.length - a.length)[0];
        const circle = circleOf(graph, id);
        expect([seed, id, circle && [...circle.waits].sort()]).toEqual([
          seed,
          id,
          largest ? [...largest].sort() : null,
        ]);
        if (circle) circles += 1;
      }
    }
    expect(circles).toBeGreaterThan(100);
  });

  test("is never found where everybody is served who waits, and is found somewhere where not", () => {
    for (const seed of SEEDS) {
      const graph = randomGraph(seed);
      const served = servedByRunning(graph);
      const inCircle = [...graph.waits.keys()].filter((id) => circleOf(graph, id));
      for (const id of inCircle) expect([seed, id, served.has(id)]).toEqual([seed, id, false]);
      if (served.size < graph.waits.size) expect([seed, inCircle.length > 0]).toEqual([seed, true]);
    }
  });

  test("is named by a way that leads from the wait to itself", () => {
    for (const seed of SEEDS) {
      const graph = randomGraph(seed);
      for (const id of graph.waits.keys()) {
        const circle = circleOf(graph, id);
        if (!circle) continue;
        expect(circle.steps[0]?.wait.id).toBe(id);
        for (const [at, { holder }] of circle.steps.entries()) {
          const next = circle.steps[(at + 1) % circle.steps.length]?.wait.id;
          expect(graph.blocked.get(holder.id)?.waits).toContain(next);
        }
      }
    }
  });

  test("goes through the line: a reader behind a writer who waits for a reader", () => {
    const [reader, other] = [self(1), self(2)];
    const holder = (id: string, pid: number, permits: number): NameHolder => ({
      id,
      process: self(pid),
      permits,
      sinceMs: 0,
      fence: 1n,
    });
    const graph = (line: NameState["line"]): Graph => ({
      names: new Map<string, NameState>([
        ["rwlock r", { noun: "rwlock", name: "r", permits: ALL, holders: [holder("a", 1, 1)], line }],
        ["mutex m", { noun: "mutex", name: "m", permits: 1, holders: [holder("b", 2, 1)], line: [] }],
      ]),
      waits: new Map<string, GraphWait>([
        ["1", { id: "1", noun: "mutex", name: "m", permits: 1, process: reader }],
        ["2", { id: "2", noun: "rwlock", name: "r", permits: 1, process: other }],
      ]),
      blocked: new Map([
        ["a", { fence: 1n, waits: ["1"] }],
        ["b", { fence: 1n, waits: ["2"] }],
      ]),
    });
    const writer = { process: self(3), permits: ALL, ...HEARD };
    const own = { process: other, permits: 1, ...HEARD };
    expect(circleOf(graph([writer, own]), "1")?.waits.size).toBe(2);
    expect(circleOf(graph([own, writer]), "1")).toBeNull();
    // It died, and goes when its ttl is over.
    expect(circleOf(graph([{ ...writer, silentMs: 1_500 }, own]), "1")).toBeNull();
    expect(circleOf(graph([]), "1")).toBeNull();
  });
});
