/**
 * Tokens: when those of a lock may begin again. They rise after a loss of data as well, as long as the clock of the node
 * stays ahead of every token that it ever gave out: this is to be looked at whenever the clock is set.
 */
import { parseLock } from "holdfast/locks/redis";
import { keysOf } from "./node-state.js";
import type { LockScene } from "./plan.js";

export class Tokens {
  readonly #scene: LockScene;
  readonly #cutsMs: number[] = [];
  /** The highest token that the node may have forgotten, by lock. */
  readonly #lost = new Map<string, number>();

  constructor(scene: LockScene) {
    this.#scene = scene;
    scene.onLoss.add(() => this.#noteLoss());
    scene.onClockSet.add(() => this.#noteClock());
  }

  /** When tokens may begin again. */
  get cutsMs(): readonly number[] {
    return this.#cutsMs;
  }

  #noteLoss(): void {
    for (const lock of this.#scene.plan.locks) {
      const before = this.#lost.get(lock) ?? 0;
      this.#lost.set(lock, Math.max(before, this.#highest(lock)));
    }
  }

  #noteClock(): void {
    const { node, world } = this.#scene;
    for (const [lock, token] of this.#lost) {
      // A node that was given a token above those that it forgot counts on from there.
      const isKnownAgain = this.#stored(lock) > token;
      if (!isKnownAgain && node.valkey.clock.realUs() > token) continue;
      if (!isKnownAgain) this.#cutsMs.push(world.nowMs);
      this.#lost.delete(lock);
    }
  }

  #stored(lock: string): number {
    const state = this.#scene.node.peek("GET", keysOf(lock).lock);
    return Number((typeof state === "string" && parseLock(state)?.top) || 0n);
  }

  #highest(lock: string): number {
    let highest = this.#stored(lock);
    for (const { key, token } of this.#scene.history.operations)
      if (key === lock && token !== undefined) highest = Math.max(highest, Number(token));
    return highest;
  }
}
