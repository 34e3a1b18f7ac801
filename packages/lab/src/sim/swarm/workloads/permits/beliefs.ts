/** Beliefs: who thinks that he holds which permits. A process that stands still cannot act, so it is not asked. */
import type { Lease } from "holdfast";
import { planned } from "../../scene.js";
import type { Caller, Scene } from "../../workload.js";

/** As many as a writer takes, and all that there are of a read-write lock. */
export const allPermits = 1_000_000_000;

export type PermitNoun = "semaphore" | "rwlock";

export interface Belief {
  readonly noun: PermitNoun;
  readonly caller: Caller;
  readonly lease: Lease;
  permits: number;
}

export function keyOf(noun: PermitNoun, name: string): string {
  return `holdfast:{${name}}:${noun}`;
}

export class Beliefs {
  readonly #scene: Scene;
  readonly #most: (noun: PermitNoun) => number;
  readonly #live = new Set<Belief>();
  /** Ids of the leases that somebody takes away, or has taken away. Their holders may not have heard of it. */
  readonly #revoked = new Set<string>();
  /** The first token of each lease that anybody had. */
  readonly #first = new Map<string, bigint>();
  #count = 0;

  /** @param most permits that there may be at most */
  constructor(scene: Scene, most: (noun: PermitNoun) => number) {
    this.#scene = scene;
    this.#most = most;
  }

  get count(): number {
    return this.#count;
  }

  /** The leases that somebody has, but for those that are being taken away. */
  get live(): readonly Belief[] {
    return [...this.#live].filter((belief) => this.#counts(belief));
  }

  /** Those of them that a later local turn has, so that they began with another token. */
  get later(): readonly Belief[] {
    return this.live.filter(({ lease }) => this.#first.get(lease.id) !== lease.fence);
  }

  #counts(belief: Belief): boolean {
    return isActing(belief) && !this.#revoked.has(belief.lease.id);
  }

  /** Somebody takes the lease with this id away. */
  revoke(id: string): void {
    this.#revoked.add(id);
  }

  begin(belief: Belief): void {
    const { noun } = belief;
    const others = this.live.filter((other) => other.noun === noun);
    const out = others.reduce((sum, { permits }) => sum + permits, belief.permits);
    if (this.#counts(belief) && out > this.#most(noun)) this.#tooMany(belief, others);
    this.#live.add(belief);
    const { id, fence } = belief.lease;
    if (!this.#first.has(id)) this.#first.set(id, fence);
    this.#count += 1;
  }

  end(belief: Belief): void {
    this.#live.delete(belief);
  }

  /** Whether its holder may act now, and if so, whether the node agrees. */
  look(belief: Belief): boolean {
    const { caller, lease } = belief;
    if (!lease.valid) return false;
    const { process } = caller;
    const { node } = this.#scene;
    if (!process.isAwake || !node.isUp || node.valkey.clock.busyMs > 0) return true;
    if (this.#revoked.has(lease.id) || this.#scene.mayOverlap(planned(process.name))) return true;
    const { value, isHeld } = this.atNode(belief);
    if (!isHeld)
      this.#scene.fail(
        "M6",
        `${caller.name} believes that it holds "${lease.name}", and the node has ${value}`,
      );
    return true;
  }

  /** What the node has of the lease, and whether it holds it. */
  atNode({ noun, lease }: Belief): { value: string; isHeld: boolean } {
    const { node } = this.#scene;
    const [value, time] = node.peekAll(["HGET", keyOf(noun, lease.name), lease.id], ["TIME"]);
    const nowMs = Array.isArray(time) ? Number(time[0]) * 1_000 + Math.floor(Number(time[1]) / 1_000) : 0;
    return { value: String(value), isHeld: Number(/^\d+/.exec(String(value))?.[0] ?? 0) > nowMs };
  }

  #tooMany({ noun, caller, lease, permits }: Belief, others: readonly Belief[]): void {
    const excused = [caller, ...others.map((other) => other.caller)].some(({ process }) =>
      this.#scene.mayOverlap(planned(process.name)),
    );
    if (excused) return;
    const held = others.map((other) => `${other.caller.name} (${other.permits})`).join(", ");
    this.#scene.fail(
      noun === "semaphore" ? "M1" : "M2",
      `${caller.name} was granted ${permits} permits of "${lease.name}" beside ${held}`,
    );
  }
}

function isActing({ caller: { process }, lease }: Belief): boolean {
  return process.state !== "dead" && process.isAwake && lease.valid;
}
