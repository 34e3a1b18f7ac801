/** Drops: what becomes of messages where a queue is full. Its processes say how many they have deleted. */
import { channel } from "node:diagnostics_channel";
import type { Scene } from "../../workload.js";
import { slownessOf } from "../delivery-plan.js";
import type { QueueView } from "./view.js";

const dropped = channel("holdfast:queue:dropped");

interface Terms {
  readonly maxLength: number;
  readonly dropsOldest: boolean;
}

export class Drops {
  readonly #scene: Scene;
  readonly #view: QueueView;
  readonly #terms: Terms;
  readonly #note = (message: unknown): void => {
    this.#count += (message as { readonly count: number }).count;
  };
  #count = 0;

  constructor(scene: Scene, view: QueueView, terms: Terms) {
    this.#scene = scene;
    this.#view = view;
    this.#terms = terms;
    dropped.subscribe(this.#note);
  }

  /** How many messages may be gone. */
  get count(): number {
    return this.#count;
  }

  stop(): void {
    dropped.unsubscribe(this.#note);
  }

  /** So many messages may be gone, and nobody knows. */
  lose(count: number): void {
    if (this.#terms.dropsOldest) this.#count += count;
  }

  /**
   * A push of so many messages was refused. Q14: where the oldest go, that is so only where what goes is not enough.
   * @param before how many could be dropped as the push began: what waits now need not have waited when the server refused
   */
  refused(count: number, before: number): void {
    const { dropsOldest, maxLength } = this.#terms;
    const droppable = Math.min(before, this.#view.deliverable);
    if (dropsOldest && count <= maxLength && droppable >= count && !slownessOf(this.#scene.plan))
      this.#scene.fail("Q14", `a push was refused, and ${droppable} messages could be dropped`);
  }

  /** Q14: a push that made no message deletes none. */
  madeNone(before: number): void {
    if (this.#count > before) this.#scene.fail("Q14", "a push that made no message has deleted others");
  }
}
