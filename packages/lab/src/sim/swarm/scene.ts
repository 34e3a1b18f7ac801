/** Scene: a run under way. Its world, what is known to be excused, and what was seen to be wrong. */
import type { NodeCopy } from "@holdfast/embedded";
import { History } from "../../history/history.js";
import type { Operation } from "../../history/operation.js";
import type { Span } from "../../history/span.js";
import type { Link } from "../link.js";
import type { Node } from "../node.js";
import type { Process } from "../process.js";
import type { World } from "../world.js";
import { type Fault, nodeName, type Plan, type ProcessPlan } from "./plan.js";

/** A rule that was seen to be broken. */
export interface Failure {
  /** "L4", as in the list of properties, or what else is wrong. */
  readonly property: string;
  readonly message: string;
  readonly atMs: number;
  /** The fewest that show it, where it shows in operations. */
  readonly operations: readonly Operation[];
}

/** A process of the plan, in its present life. */
export interface Life {
  readonly plan: ProcessPlan;
  readonly process: Process;
}

export class Scene {
  readonly world: World;
  readonly plan: Plan;
  readonly node: Node;
  readonly history = new History();
  readonly failures: Failure[] = [];
  /** When processes died, by name. */
  readonly deathsMs = new Map<string, number>();
  /** The present life of each process of the plan. */
  readonly lives = new Map<string, Life>();
  /** What the node was when the faults that fall back to it said. */
  readonly copies = new Map<Fault, NodeCopy>();
  /** The process that holds once more when everybody has had every lock after the last fault. */
  get steady(): Process | undefined {
    return this.lives.get(this.plan.processes[0]?.name ?? "")?.process;
  }

  /** Processes whose program has ended as it should. */
  readonly finished = new Set<string>();
  /** Faults are over; callers do one last thing. */
  isHealed = false;
  /** Begins a life of a process. Set by the run. */
  spawn: (plan: ProcessPlan) => void = () => {};
  readonly #exceptions: Span[] = [];
  readonly #tokenCutsMs: number[] = [];
  #lostTokens = 0;

  constructor(world: World, plan: Plan) {
    this.world = world;
    this.plan = plan;
    this.node = world.node(nodeName);
  }

  get longestTtlMs(): number {
    return Math.max(...this.plan.processes.map(({ ttlMs }) => ttlMs));
  }

  link(process: Process): Link {
    return this.world.link(process, this.node);
  }

  fail(
    property: string,
    message: string,
    atMs = this.world.nowMs,
    operations: readonly Operation[] = [],
  ): void {
    this.failures.push({ property, message, atMs, operations });
  }

  /**
   * From `fromMs` until `forMs` from now, clocks are wrong or a state is lost: until the leases of that time are over,
   * they may overlap.
   */
  excuseOverlap(forMs = 0, fromMs = this.world.nowMs): void {
    this.#exceptions.push({ fromMs, toMs: this.world.nowMs + forMs + this.longestTtlMs });
  }

  /** When leases may overlap. */
  get exceptions(): readonly Span[] {
    return this.#exceptions;
  }

  mayOverlap(atMs = this.world.nowMs): boolean {
    return this.#exceptions.some(({ fromMs, toMs }) => fromMs <= atMs && atMs < toMs);
  }

  /** When tokens may begin anew: see `tokensLost`. */
  get tokenCutsMs(): readonly number[] {
    return this.#tokenCutsMs;
  }

  /**
   * The node is about to forget tokens, or may. They rise all the same as long as its clock stays ahead of every token
   * that was ever given out: to be looked at whenever the clock is set.
   */
  tokensLost(): void {
    this.#lostTokens = Math.max(this.#lostTokens, ...this.plan.locks.map((lock) => this.#highestToken(lock)));
  }

  clockWasSet(): void {
    if (this.node.valkey.clock.realUs() > this.#lostTokens) return;
    this.#tokenCutsMs.push(this.world.nowMs);
    this.#lostTokens = 0;
  }

  #highestToken(lock: string): number {
    const state = this.node.peek("GET", stateKey(lock));
    const stored = typeof state === "string" ? Number(state.slice(0, 16)) : 0;
    let highest = stored;
    for (const { key, token } of this.history.operations)
      if (key === lock && token !== undefined) highest = Math.max(highest, Number(token));
    return highest;
  }
}

export const prefix = "holdfast";

export function stateKey(lock: string): string {
  return `${prefix}:{${lock}}:lock`;
}

/** Who holds a lock at the node, and for how long from now on; null: nobody. */
export function holderAt(node: Node, lock: string): { readonly id: string; readonly leftMs: number } | null {
  const state = node.peek("GET", stateKey(lock));
  if (typeof state !== "string" || state.length === 17) return null;
  const [id = "", , , keepMs] = state.slice(17).split(" ");
  const leftMs = Number(node.peek("PTTL", stateKey(lock))) - Number(keepMs);
  return leftMs > 0 ? { id, leftMs } : null;
}
