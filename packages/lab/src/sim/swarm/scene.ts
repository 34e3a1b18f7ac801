/** Scene: a run under way. Its world, what is known to be excused, and what was seen to be wrong. */
import type { NodeCopy } from "@holdfast/embedded";
import { lockKeys, parseLock, parseProcess } from "holdfast/locks/redis";
import { History } from "../../history/history.js";
import type { Operation } from "../../history/operation.js";
import type { Span } from "../../history/span.js";
import type { Link } from "../link.js";
import type { Node } from "../node.js";
import type { Process } from "../process.js";
import type { World } from "../world.js";
import { type Fault, lateKind, nodeName, type Plan, type ProcessPlan } from "./plan.js";

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
  /** Faults are over. */
  isHealed = false;
  /** Callers do one last thing. */
  isEnding = false;
  /** From when on nothing is left of any fault: what holds where nothing fails holds from here. */
  calmFromMs = Number.POSITIVE_INFINITY;
  /** A fault that waits to be met has been. Set by the run. */
  struck: (fault: Fault) => void = () => {};
  /** Begins a life of a process. Set by the run. */
  spawn: (plan: ProcessPlan) => void = () => {};
  readonly #excuses: Excuse[] = [];
  readonly #tokenCutsMs: number[] = [];
  /** The node may have forgotten a grant. */
  hasForgotten = false;
  /** The highest token that the node may have forgotten, by lock. */
  readonly #lostTokens = new Map<string, number>();

  constructor(world: World, plan: Plan) {
    this.world = world;
    this.plan = plan;
    this.node = world.node(nodeName);
    if (plan.faults.length === 0) this.calmFromMs = 0;
  }

  get longestTtlMs(): number {
    return Math.max(...this.plan.processes.map(({ ttlMs }) => ttlMs));
  }

  /** For how long a lease may be kept whose holder is gone: a late copy of its request may have prolonged it. */
  get keptMs(): number {
    const lateMs = this.plan.faults.filter(({ kind }) => kind === lateKind).map(({ value }) => value);
    const delaysMs = this.plan.processes.map(({ lockDelayMs }) => lockDelayMs);
    return this.longestTtlMs + Math.max(...delaysMs) + Math.max(0, ...lateMs);
  }

  /** Whether a fault of the plan may set the clock of the node back. */
  get mayBeSetBack(): boolean {
    return this.plan.faults.some(({ kind }) => ["clock step", "failover", "rollback"].includes(kind));
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
   * they may overlap. Where it is the clock of one process (`of`), only its own may last for too long.
   */
  excuseOverlap({ forMs = 0, fromMs = this.world.nowMs, of = null }: ExcuseOptions = {}): void {
    this.#excuses.push({ fromMs, toMs: this.world.nowMs + forMs + this.longestTtlMs, of });
  }

  /** When any leases may overlap. */
  get exceptions(): readonly Span[] {
    return this.#excuses.filter(({ of }) => of === null);
  }

  /** Whether a lease of this process, or of any, may last for too long. */
  mayOverlap(process: string | null, atMs = this.world.nowMs): boolean {
    return this.#excuses.some(
      ({ fromMs, toMs, of }) => fromMs <= atMs && atMs < toMs && (of === null || of === process),
    );
  }

  /** Whether leases of whomever may last for too long. */
  mayAnyOverlap(atMs = this.world.nowMs): boolean {
    return this.#excuses.some(({ fromMs, toMs }) => fromMs <= atMs && atMs < toMs);
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
    this.hasForgotten = true;
    for (const lock of this.plan.locks) {
      const before = this.#lostTokens.get(lock) ?? 0;
      this.#lostTokens.set(lock, Math.max(before, this.#highestToken(lock)));
    }
  }

  clockWasSet(): void {
    for (const [lock, token] of this.#lostTokens) {
      // It was given a token above those that it forgot, and counts on from there.
      const isKnownAgain = this.#storedToken(lock) > token;
      if (!isKnownAgain && this.node.valkey.clock.realUs() > token) continue;
      if (!isKnownAgain) this.#tokenCutsMs.push(this.world.nowMs);
      this.#lostTokens.delete(lock);
    }
  }

  #storedToken(lock: string): number {
    const state = this.node.peek("GET", keysOf(lock).lock);
    return Number((typeof state === "string" && parseLock(state)?.top) || 0n);
  }

  #highestToken(lock: string): number {
    let highest = this.#storedToken(lock);
    for (const { key, token } of this.history.operations)
      if (key === lock && token !== undefined) highest = Math.max(highest, Number(token));
    return highest;
  }
}

interface Excuse extends Span {
  /** Whose leases: a process of the plan, in any of its lives; null: anybody's. */
  readonly of: string | null;
}

interface ExcuseOptions {
  readonly forMs?: number;
  readonly fromMs?: number;
  readonly of?: string | null;
}

export const prefix = "holdfast";

/** The keys of a lock at the node. */
export interface LockKeys {
  readonly lock: string;
  readonly line: string;
  readonly waiters: string;
  readonly banned: string;
}

export function keysOf(name: string): LockKeys {
  const [lock = "", line = "", waiters = "", banned = ""] = lockKeys(prefix, name);
  return { lock, line, waiters, banned };
}

interface Holder {
  readonly id: string;
  /** The label of its process; empty where another program wrote the record. */
  readonly process: string;
  /** The tokens that it was granted. */
  readonly tokens: readonly [first: bigint, last: bigint];
  readonly ttlMs: number;
  /** Not above 0: its lease is over, and nobody has taken it since. */
  readonly leftMs: number;
}

/** Whom the node names, whether or not the lease is over. */
export function namedAt(node: Node, lock: string): Holder | null {
  const key = keysOf(lock).lock;
  const [state, expiryMs] = node.peekAll(["GET", key], ["PTTL", key]);
  return toHolder(state, expiryMs);
}

/** What a key and its expiry say of who holds a lock. */
export function toHolder(state: unknown, expiryMs: unknown): Holder | null {
  const record = typeof state === "string" ? parseLock(state) : null;
  if (!record?.holder) return null;
  const { id, token, ttlMs, keepMs, owner } = record.holder;
  const process = parseProcess(owner)?.label ?? "";
  return { id, process, tokens: [token, record.top], ttlMs, leftMs: Number(expiryMs) - keepMs };
}

/** The process that holds a lock at the node, by its label. */
export function ownerAt(node: Node, lock: string): string | null {
  return holderAt(node, lock)?.process ?? null;
}

/** Who holds a lock at the node, and for how long from now on; null: nobody. */
export function holderAt(node: Node, lock: string): Holder | null {
  const named = namedAt(node, lock);
  return named && named.leftMs > 0 ? named : null;
}

/** The process of the plan whose caller, or whose later life, this is: "p1" of "p1#2.1". */
export function planned(name: string): string {
  return name.split(/[#.]/, 1)[0] ?? "";
}

/** The process of a caller, in that life: "p1#2" of "p1#2.1". */
export function lifeOf(caller: string): string {
  return caller.slice(0, caller.lastIndexOf("."));
}
