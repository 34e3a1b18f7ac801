/** Scene: a run under way. Its world, what is known to be excused, and what was seen to be wrong. */
import { inspect } from "node:util";
import type { NodeCopy } from "@holdfast/embedded";
import type { ServerError } from "holdfast";
import { History } from "../../history/history.js";
import type { Operation } from "../../history/operation.js";
import type { Span } from "../../history/span.js";
import type { Link } from "../link.js";
import type { Disk, Node } from "../node.js";
import type { Process } from "../process.js";
import type { World } from "../world.js";
import { type Fault, lateKind, nodeNames, type Plan, type ProcessPlan } from "./plan.js";
import type { Round } from "./rounds.js";

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
export interface Life<Drawn extends ProcessPlan = ProcessPlan> {
  readonly plan: Drawn;
  readonly process: Process;
}

export class Scene<Drawn extends Plan = Plan> {
  readonly world: World;
  readonly plan: Drawn;
  /** The first of the nodes: the only one, unless the plan asks for more. */
  readonly node: Node;
  readonly nodes: readonly Node[];
  readonly history = new History();
  readonly failures: Failure[] = [];
  /** The canary that replaces part of the workload by a naive recipe; null: none does. */
  readonly canary: string | null;
  /** When processes died, by the name of their life. */
  readonly deathsMs = new Map<string, number>();
  /** The present life of each process of the plan. */
  readonly lives = new Map<string, Life<Drawn["processes"][number]>>();
  /** What each caller has begun so far. */
  readonly rounds = new Map<string, readonly Round[]>();
  /** The state of a node to which a fault falls back. */
  readonly copies = new Map<Fault, NodeCopy>();
  /** The disk of a node to which a fault falls back. */
  readonly disks = new Map<Fault, Disk>();
  /** Processes whose program has ended as it should. */
  readonly finished = new Set<string>();
  /** Faults are over. */
  isHealed = false;
  /** Callers do one last thing. */
  isEnding = false;
  /** From when on nothing is left of any fault: what holds where nothing fails holds from here. */
  calmFromMs = Number.POSITIVE_INFINITY;
  /** A fault that waits to be met has been. Set by the run. */
  struck: (fault: Fault) => void = () => {};
  /** Modules that are read before time begins: no disk stands in the world. */
  readonly loading: Promise<unknown>[] = [];
  /** Begins a life of a process. Set by the run. */
  spawn: (plan: ProcessPlan) => void = () => {};
  /** Keys of which the eviction fault deletes one group. Set by the run; a group of data counts as a loss of data. */
  evictable: (node: Node) => readonly EvictedKeys[] = () => [];
  /** Nodes that lost a key by itself: what is left, there and in a copy of it, may contradict itself. */
  readonly torn = new Set<Node>();
  /** Called just before data of a node is lost. */
  readonly onLoss = new Set<(node: Node) => void>();
  /** Called when the clock of a node was set. */
  readonly onClockSet = new Set<(node: Node) => void>();
  readonly #excuses: Excuse[] = [];
  readonly #losses: number[] = [];
  readonly #clockSteps: number[] = [];

  constructor(world: World, plan: Drawn, canary: string | null = null) {
    this.world = world;
    this.plan = plan;
    this.canary = canary;
    // A server that has just started does not vote over several: these have been up for long.
    const names = nodeNames(plan);
    const upForMs = names.length === 1 ? 0 : longUpMs;
    this.nodes = names.map((name) => world.nodes.get(name) ?? world.node(name, { upForMs }));
    this.node = this.nodes[0] as Node;
    if (plan.faults.length === 0) this.calmFromMs = 0;
  }

  /** A node may have lost data. */
  get hasForgotten(): boolean {
    return this.#losses.length > 0;
  }

  /** When a node lost data, or may have. */
  get losses(): readonly number[] {
    return this.#losses;
  }

  /** Whether a node may have lost data within this time. */
  wasLost(fromMs: number, toMs = this.world.nowMs): boolean {
    return this.#losses.some((atMs) => fromMs <= atMs && atMs <= toMs);
  }

  /** When the clock of a node was set, or began or ceased to run at a wrong rate. */
  get clockSteps(): readonly number[] {
    return this.#clockSteps;
  }

  get longestTtlMs(): number {
    return Math.max(...this.plan.processes.map(({ ttlMs }) => ttlMs));
  }

  /** The longest time for which a server keeps a lease that nobody renews. */
  get maxTtlMs(): number {
    return Math.max(...this.plan.processes.map(({ ttlMs, lockDelayMs }) => ttlMs + lockDelayMs));
  }

  /** For how long a lease may be kept whose holder is gone: a late copy of its request may have prolonged it. */
  get keptMs(): number {
    const lateMs = this.plan.faults.filter(({ kind }) => kind === lateKind).map(({ value }) => value);
    const delaysMs = this.plan.processes.map(({ lockDelayMs }) => lockDelayMs);
    return this.longestTtlMs + Math.max(...delaysMs) + Math.max(0, ...lateMs);
  }

  /** Whether a fault of the plan may set the clock of a node back. */
  get mayBeSetBack(): boolean {
    return this.plan.faults.some(({ kind }) => ["clock step", "failover", "rollback"].includes(kind));
  }

  /** Whether a fault of the plan explains this refusal of a call that began then. */
  mayRefuse({ serverCode, message }: ServerError, sinceMs: number): boolean {
    const { faults } = this.plan;
    const kinds = message.includes(replaced)
      ? ["NOPERM answers", "BUSY answers"]
      : [`${serverCode} answers`, ...(alsoBy[serverCode] ?? [])];
    // A node that stands still does not hear of an end, and one that falls back does not know of it.
    const isLate = faults.some(({ kind }) => ["node pause", "rollback", "failover"].includes(kind));
    return faults.some(
      ({ kind, atMs, forMs }) =>
        kinds.includes(kind) && atMs <= this.world.nowMs && (isLate || sinceMs <= atMs + forMs + toldMs),
    );
  }

  /** How many nodes a majority has. */
  get quorum(): number {
    return Math.floor(this.nodes.length / 2) + 1;
  }

  /** Two majorities have this many nodes in common, or more. */
  get sharedNodes(): number {
    return 2 * this.quorum - this.nodes.length;
  }

  /** The node that a fault is about. */
  nodeOf({ node, target }: Pick<Fault, "node" | "target">): Node {
    return this.nodes.find(({ name }) => name === (node ?? target)) ?? this.node;
  }

  link(process: Process, node = this.node): Link {
    return this.world.link(process, node);
  }

  /** The network between a process and each node. */
  linksOf(process: Process): readonly Link[] {
    return this.nodes.map((node) => this.link(process, node));
  }

  /** What a process has sent so far, to all nodes. */
  packetsOf(process: Process): number {
    return this.linksOf(process).reduce((total, { packets }) => total + packets, 0);
  }

  fail(
    property: string,
    message: string,
    atMs = this.world.nowMs,
    operations: readonly Operation[] = [],
  ): void {
    this.failures.push({ property, message, atMs, operations });
  }

  /** P5: what a program is given is not from the neighbour, whose processes leave their names in all that they write. */
  mustBeOurs(value: unknown, what: string): void {
    if (!this.plan.neighbour || !inspect(value, { depth: 8 }).includes(neighbourly)) return;
    this.fail("P5", `${what} has something of the neighbour: ${inspect(value, { depth: 8 })}`);
  }

  /**
   * From `fromMs` until `forMs` from now, the clock of a node is wrong or its state is lost: until the leases of that
   * time are over, they may overlap. Where it is the clock of one process (`of`), only its own may last for too long.
   */
  excuseOverlap(excused: Node | { readonly of: string }, { forMs = 0, fromMs }: ExcuseOptions = {}): void {
    const { nowMs } = this.world;
    const whose = "of" in excused ? { of: excused.of, node: null } : { of: null, node: excused.name };
    this.#excuses.push({ fromMs: fromMs ?? nowMs, toMs: nowMs + forMs + this.longestTtlMs, ...whose });
  }

  /** Whether the clock or the data of this node may have ended leases before their time. */
  isAstray({ name }: Node, atMs = this.world.nowMs): boolean {
    return this.#excuses.some(({ node, fromMs, toMs }) => node === name && fromMs <= atMs && atMs < toMs);
  }

  /** When any leases may overlap. */
  get exceptions(): readonly Span[] {
    const ofNodes = this.#excuses.filter(({ of }) => of === null);
    if (this.nodes.length === 1) return ofNodes;
    // The number of nodes that are excused changes at the ends of excuses alone.
    const edges = [...new Set(ofNodes.flatMap(({ fromMs, toMs }) => [fromMs, toMs]))].sort((a, b) => a - b);
    return edges.slice(1).flatMap((toMs, place) => {
      const fromMs = edges[place] as number;
      return this.mayOverlap(null, fromMs) ? [{ fromMs, toMs }] : [];
    });
  }

  /**
   * Whether a lease of this process, or of any, may last for too long. Over several nodes two majorities must have no
   * sound node in common.
   */
  mayOverlap(process: string | null, atMs = this.world.nowMs): boolean {
    const now = this.#excuses.filter(({ fromMs, toMs }) => fromMs <= atMs && atMs < toMs);
    if (process !== null && now.some(({ of }) => of === process)) return true;
    const nodes = new Set(now.flatMap(({ node }) => (node === null ? [] : [node])));
    return nodes.size >= this.sharedNodes;
  }

  /** Whether a lease of any process may last for too long. */
  mayAnyOverlap(atMs = this.world.nowMs): boolean {
    return this.#excuses.some(({ fromMs, toMs }) => fromMs <= atMs && atMs < toMs);
  }

  /** A node is about to lose data, or may. */
  dataLost(node = this.node): void {
    this.#losses.push(this.world.nowMs);
    for (const heard of this.onLoss) heard(node);
  }

  /**
   * A node is about to lose data by a crash, and is down for `forMs`. One of several does not vote until the leases that it forgot
   * are over.
   */
  dataLostByRestart(node: Node, forMs: number): void {
    this.dataLost(node);
    if (this.nodes.length === 1) this.excuseOverlap(node, { forMs });
  }

  /** The clock of a node was set, or runs at another rate from now on. */
  clockChanged(): void {
    this.#clockSteps.push(this.world.nowMs);
  }

  /** The clock of a node was set. */
  clockWasSet(node = this.node): void {
    this.clockChanged();
    for (const heard of this.onClockSet) heard(node);
  }
}

/** A line whose request was refused asks again after that time, and meanwhile tells its waiters why. */
const toldMs = 2_000;

/** Kinds of faults by whose doing the server refuses with a word. */
const alsoBy: Readonly<Record<string, readonly string[]>> = {
  OOM: ["no memory"],
  NOPERM: ["command forbidden"],
};

/** The node refuses a SUBSCRIBE by a script in its place, which a connection that is subscribed may not send. */
const replaced = "Can't execute 'eval'";

/** Longer than any clock is set back. */
const longUpMs = 2 * 365 * 86_400_000;

/** Keys that the eviction fault deletes together. */
export interface EvictedKeys {
  readonly keys: readonly string[];
  /** Whether their loss is a loss of data, which `hasForgotten` then says. */
  readonly isData: boolean;
}

interface Excuse extends Span {
  /** A process of the plan in any of its lives, whose leases are meant; null: those of all. */
  readonly of: string | null;
  /** The node that is to blame; null: the process is. */
  readonly node: string | null;
}

interface ExcuseOptions {
  readonly forMs?: number;
  readonly fromMs?: number;
}

export const prefix = "holdfast";

/** In the names of the neighbour's processes. */
export const neighbourly = "neighbour of";

/** The process of the plan whose caller, or whose later life, this is: "p1" of "p1#2.1". */
export function planned(name: string): string {
  return name.split(/[#.]/, 1)[0] ?? "";
}

/** The process of a caller, in that life: "p1#2" of "p1#2.1". */
export function lifeOf(caller: string): string {
  return caller.slice(0, caller.lastIndexOf("."));
}
