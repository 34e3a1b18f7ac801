/** Quorum: what several nodes say of locks, beside what programs believe. */
import type { ReleaseResult } from "holdfast";
import type { Node } from "../../../node.js";
import { planned } from "../../scene.js";
import type { Belief } from "../mutex/belief.js";
import { judgeDeadline } from "../mutex/deadline.js";
import { type Holder, holderAt } from "../mutex/node-state.js";
import { type LockScene, passesOn } from "../mutex/plan.js";
import type { Servers } from "../mutex/servers.js";

/** Whether this id of a holder at a node is one of the claim: each time it stands in line again it has another. */
export function isSeatOf(id: string, claim: string): boolean {
  return id === claim || id.startsWith(`${claim}.`);
}

export class Quorum implements Servers {
  readonly #scene: LockScene;
  /** When each node last lost data. */
  readonly #lostMs = new Map<Node, number>();
  readonly #judged = new WeakSet<Belief>();

  constructor(scene: LockScene) {
    this.#scene = scene;
    scene.onLoss.add((node) => void this.#lostMs.set(node, scene.world.nowMs));
  }

  /** A majority holds the lock for the claim, knows of its token, and will do so for longer than the lease says. */
  compare(belief: Belief): void {
    const { lease, process, lock, caller } = belief;
    const scene = this.#scene;
    const { quorum } = scene;
    if (!process.isAwake || scene.mayOverlap(planned(process.name))) return;
    const doubtful = scene.nodes.filter((node) => this.#isDoubtful(node)).length;
    const seats = scene.nodes.flatMap((node) => {
      const holder = this.#isDoubtful(node) ? null : holderAt(node, lock);
      return holder && isSeatOf(holder.id, lease.id) ? [holder] : [];
    });
    if (seats.length + doubtful < quorum) {
      const message = `${caller} believes that it holds "${lock}" by ${lease.id}, which ${seats.length} nodes hold for it`;
      scene.fail("L5", message);
      return;
    }
    this.#judgeToken(belief, seats, doubtful);
    const keptMs = seats.map(({ leftMs }) => leftMs).sort((a, b) => b - a)[quorum - doubtful - 1];
    if (keptMs !== undefined) judgeDeadline(scene, belief, keptMs);
  }

  /** L1: as the lease begins. Later a node whose clock is ahead of the token may take the place of one that knows of it. */
  #judgeToken(belief: Belief, seats: readonly Holder[], doubtful: number): void {
    if (this.#judged.has(belief)) return;
    this.#judged.add(belief);
    const { lease, caller } = belief;
    const informed = seats.filter(({ tokens: [, last] }) => last >= lease.fence);
    if (informed.length + doubtful >= this.#scene.quorum) return;
    const message = `${caller} has token ${lease.fence}, which ${informed.length} of its ${seats.length} nodes know of`;
    this.#scene.fail("L1", message);
  }

  /**
   * A release that has succeeded leaves a minority at most of the seats that nodes held before it. A node may have handed the lock to an
   * older place of the same claim, which gives it back.
   */
  watchRelease({ caller, process, lease, lock, isLost }: Belief): (result: ReleaseResult) => void {
    const scene = this.#scene;
    const plan = scene.lives.get(planned(process.name))?.plan;
    // The same grant may serve another caller of this process, or linger there for one.
    const isPassedOn = plan !== undefined && passesOn(plan);
    const ids = (): readonly (string | undefined)[] =>
      scene.nodes.map((node) => (this.#isDoubtful(node) ? undefined : holderAt(node, lock)?.id));
    const before = ids();
    return (result) => {
      if (result !== "released") return;
      if (isLost) scene.fail("L8", `${caller} had lost "${lock}", and was told that it released it`);
      if (isPassedOn || !process.isAwake || scene.mayAnyOverlap()) return;
      const after = ids();
      const kept = before.filter(
        (id, place) => id !== undefined && isSeatOf(id, lease.id) && id === after[place],
      );
      if (kept.length > scene.nodes.length - scene.quorum)
        scene.fail("L9", `${caller} released "${lock}", and ${kept.length} nodes keep it`);
    };
  }

  /**
   * The node can't be asked at this moment, or may have lost what a lease of now was granted by. A node that restarted, with its data or
   * without, does not vote for the longest ttl, and a holder that hears of the restart gives up its place there.
   */
  #isDoubtful(node: Node): boolean {
    const { world, maxTtlMs } = this.#scene;
    const lostMs = this.#lostMs.get(node) ?? Number.NEGATIVE_INFINITY;
    if (!node.isUp || node.valkey.clock.busyMs > 0) return true;
    return this.#scene.isAstray(node) || Math.max(lostMs, node.restartedMs) + maxTtlMs > world.nowMs;
  }
}
