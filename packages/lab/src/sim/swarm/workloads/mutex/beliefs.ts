/**
 * Beliefs: who thinks that he holds what. Looked at when it matters: at every step of a holder, and of all holders
 * whenever somebody else is granted the same lock. A process that stands still cannot act, so it is not asked.
 */
import { LeaseLostError } from "holdfast";
import type { Process } from "../../../process.js";
import { planned } from "../../scene.js";
import type { Belief } from "./belief.js";
import type { LockScene } from "./plan.js";
import type { Servers } from "./servers.js";

/** `close()` gives back at once. */
function wasClosed({ lease }: Belief): boolean {
  const reason: unknown = lease.signal.reason;
  return reason instanceof LeaseLostError && reason.reason === "closed";
}

export class Beliefs {
  readonly #scene: LockScene;
  readonly #servers: Servers;
  readonly #live = new Map<string, Set<Belief>>();
  #looks = 0;
  /** The last token of each lock in each process. */
  readonly #highest = new Map<string, bigint>();
  /** When a lease of this id was last given back, or held no more. */
  readonly #endedMs = new Map<string, number>();
  readonly #asking = new Set<{ readonly lock: string; readonly process: Process }>();

  constructor(scene: LockScene, servers: Servers) {
    this.#scene = scene;
    this.#servers = servers;
  }

  /** How many ask for it now. */
  asking(lock: string): number {
    return [...this.#asking].filter((one) => one.lock === lock && one.process.state !== "dead").length;
  }

  /** Whether somebody in this process asks for it now. */
  isAsking(lock: string, process: Process): boolean {
    return [...this.#asking].some((one) => one.lock === lock && one.process === process);
  }

  /** Whether somebody holds it, as far as he knows. One that stands still may find that it did not last. */
  isHeld(lock: string): boolean {
    const { world, longestTtlMs } = this.#scene;
    return [...(this.#live.get(lock) ?? [])].some(({ process, lease, validMs }) =>
      process.isAwake ? lease.valid : process.state !== "dead" && validMs + longestTtlMs > world.nowMs,
    );
  }

  /** Somebody asks. Returns what to call when that is over. */
  ask(lock: string, process: Process): () => void {
    const asking = { lock, process };
    this.#asking.add(asking);
    return () => void this.#asking.delete(asking);
  }

  /** How many hold it, as far as they know. */
  count(lock: string): number {
    return [...(this.#live.get(lock) ?? [])].filter(({ process }) => process.state !== "dead").length;
  }

  /** What this process holds, as far as it knows. */
  of(process: Process, lock: string): readonly Belief[] {
    return [...(this.#live.get(lock) ?? [])].filter((belief) => belief.process === process);
  }

  /** When a caller last held by this id, and does not now: between two looks at a node there may be a whole turn. */
  endedMs(id: string): number {
    return this.#endedMs.get(id) ?? Number.NEGATIVE_INFINITY;
  }

  begin(belief: Belief): void {
    let live = this.#live.get(belief.lock);
    if (!live) {
      live = new Set();
      this.#live.set(belief.lock, live);
    }
    // It may be over before its caller hears of it.
    belief.wasValid = belief.lease.valid;
    for (const other of belief.wasValid ? live : []) {
      if (other.process.isAwake && belief.process.isAwake) this.#compare(belief, other);
      this.#keepDistance(belief, other);
    }
    live.add(belief);
    const own = `${belief.process.name} ${belief.lock}`;
    const before = this.#highest.get(own) ?? 0n;
    if (belief.lease.fence <= before)
      this.#scene.fail(
        "L2",
        `${belief.caller} was given token ${belief.lease.fence}, its process had ${before} before`,
      );
    this.#highest.set(own, belief.lease.fence);
    this.look(belief);
  }

  end(belief: Belief): void {
    belief.isOver = true;
    this.#endedMs.set(belief.lease.id, this.#scene.world.nowMs);
    this.#live.get(belief.lock)?.delete(belief);
  }

  /** What the dead held, they held no longer than they were seen to. Call it when the run is over. */
  bury(): void {
    for (const live of this.#live.values()) {
      for (const { hold, validMs, process } of live)
        if (process.state === "dead") hold?.info("died", { endMs: validMs });
    }
  }

  /** Whether its holder may act on it now, and if so, whether the servers agree (L5). */
  look(belief: Belief): boolean {
    const { lease, process } = belief;
    const askedMs = process.nowMs; // it may stall while it asks
    if (!this.#isValid(belief)) {
      belief.isLost = true;
      if (!belief.isOver && !lease.signal.aborted)
        this.#scene.fail("L6", `the lease of ${belief.caller} is over, and its signal does not say so`);
      return false;
    }
    if (belief.isLost) this.#scene.fail("L8", `the lease of ${belief.caller} was over, and is valid again`);
    if (belief.signal && (belief.signal !== lease.signal || belief.signal.aborted))
      this.#scene.fail("L6", `the signal of ${belief.caller} is another one than its lease`);
    belief.validMs = askedMs;
    this.#servers.compare(belief);
    return true;
  }

  /** Each time by another of the three ways to ask. */
  #isValid({ lease, caller }: Belief): boolean {
    this.#looks += 1;
    if (this.#looks % 3 === 0) return lease.valid;
    if (this.#looks % 3 === 1) {
      const { remainingMs } = lease;
      if (remainingMs < 0) this.#scene.fail("L8", `the lease of ${caller} has ${remainingMs} ms left`);
      return remainingMs > 0;
    }
    try {
      lease.check();
      return true;
    } catch (error) {
      if (!(error instanceof LeaseLostError))
        this.#scene.fail("error", `check() of ${caller} threw ${String(error)}`);
      return false;
    }
  }

  #compare(belief: Belief, other: Belief): void {
    if (!other.lease.valid || this.#mayOverlap(belief, other)) return;
    const message =
      `${belief.caller} was granted "${belief.lock}" with token ${belief.lease.fence}, while ${other.caller} held it ` +
      `with token ${other.lease.fence} for another ${other.lease.remainingMs.toFixed(1)} ms`;
    this.#scene.fail("L4", message);
  }

  /** A lease that ran out, and was not given back, is nobody's for as long as its holder had asked for. */
  #keepDistance(belief: Belief, other: Belief): void {
    const { lockDelayMs = 0, maxHoldMs = null } =
      this.#scene.lives.get(planned(other.process.name))?.plan ?? {};
    // A lease that is ended by its limit is given back.
    if (lockDelayMs === 0 || !other.wasValid || maxHoldMs !== null || this.#mayOverlap(belief, other)) return;
    if (belief.lease.id === other.lease.id || wasClosed(other)) return;
    const leftMs = other.validMs + lockDelayMs - belief.process.nowMs;
    if (leftMs <= 0) return;
    const message =
      `${belief.caller} was granted "${belief.lock}" ${(lockDelayMs - leftMs).toFixed(1)} ms after ${other.caller} was ` +
      `last seen to hold it, who had asked for ${lockDelayMs} ms between them`;
    this.#scene.fail("L4", message);
  }

  #mayOverlap(one: Belief, other: Belief): boolean {
    return [one, other].some(({ process }) => this.#scene.mayOverlap(planned(process.name)));
  }
}
