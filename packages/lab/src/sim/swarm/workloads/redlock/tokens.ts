/**
 * QuorumTokens: when tokens may begin again. They do so only if a majority can grant a smaller one, and all nodes that this majority
 * has in common with the one that issued the last token have forgotten it: by a loss of data that no quarantine covered, or by clocks
 * that were further apart than the quarantine is long.
 */
import { parseLock } from "holdfast/locks/redis";
import type { Node } from "../../../node.js";
import { keysOf } from "../mutex/node-state.js";
import type { LockScene } from "../mutex/plan.js";

/** The largest token that was issued. */
interface Issued {
  readonly token: bigint;
  /** When the claim began to ask for it. */
  readonly askedMs: number;
}

export class QuorumTokens {
  readonly #scene: LockScene;
  readonly #cutsMs: number[] = [];
  readonly #lostMs = new Map<Node, number>();

  constructor(scene: LockScene) {
    this.#scene = scene;
    scene.onLoss.add((node) => {
      this.#lostMs.set(node, scene.world.nowMs);
      // Now, before it is gone, and when it is.
      scene.world.at(scene.world.nowMs, () => this.look());
    });
    scene.onClockSet.add(() => this.look());
  }

  /** When tokens may begin again. */
  get cutsMs(): readonly number[] {
    return this.#cutsMs;
  }

  /** To be called every now and then, and at each grant. */
  look(): void {
    if (this.#lostMs.size < this.#scene.sharedNodes) return;
    const { locks } = this.#scene.plan;
    if (locks.some((lock) => this.#mayBeginAgain(lock))) this.#cutsMs.push(this.#scene.world.nowMs);
  }

  #mayBeginAgain(lock: string): boolean {
    const issued = this.#largest(lock);
    if (!issued) return false;
    const { nodes, quorum, sharedNodes } = this.#scene;
    const below = nodes.filter((node) => this.#next(node, lock) <= issued.token);
    const forgetful = below.filter((node) => (this.#lostMs.get(node) ?? -1) >= issued.askedMs);
    return below.length >= quorum && forgetful.length >= sharedNodes;
  }

  /** The smallest token that a node can give. A node that is down may come back without anything. */
  #next(node: Node, lock: string): bigint {
    const clock = BigInt(Math.floor(node.valkey.clock.realUs()));
    const state = node.peek("GET", keysOf(lock).lock);
    const top = (typeof state === "string" ? parseLock(state)?.top : undefined) ?? 0n;
    return top + 1n > clock ? top + 1n : clock;
  }

  #largest(lock: string): Issued | null {
    let issued: (Issued & { readonly nonce: string | undefined }) | null = null;
    const beganMs = new Map<string | undefined, number>();
    for (const { f, key, token, nonce, invMs } of this.#scene.history.operations) {
      if (f !== "acquire" || key !== lock || token === undefined) continue;
      if (!beganMs.has(nonce)) beganMs.set(nonce, invMs);
      if (!issued || token > issued.token) issued = { token, nonce, askedMs: beganMs.get(nonce) ?? invMs };
    }
    return issued;
  }
}
