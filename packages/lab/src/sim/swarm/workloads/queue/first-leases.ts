/** Q11: a process that sleeps through the first lease of a delivery has no free place until it takes again: it costs nobody a second one. */
import type { Process } from "../../../process.js";
import type { Scene } from "../../workload.js";
import type { QueueView } from "./view.js";

/** A delivery to a process that slept already, and has slept since. */
interface Slept {
  readonly process: Process;
  readonly wokenMs: number;
  readonly dueMs: number;
}

export class FirstLeases {
  readonly #scene: Scene;
  readonly #view: QueueView;
  #slept = new Map<string, Slept>();
  #known = new Set<string>();
  /** Who slept at the last look, since when it last woke. */
  #sleepers = new Map<Process, number>();

  constructor(scene: Scene, view: QueueView) {
    this.#scene = scene;
    this.#view = view;
  }

  /** Between two scripts. */
  judge(): void {
    const sleepers = new Map(
      [...this.#scene.world.processes.values()]
        .filter(({ state }) => state !== "running")
        .map((process) => [process, process.wokenMs]),
    );
    // While nobody sleeps there is nothing to judge, and a look costs.
    const deliveries = sleepers.size > 0 ? this.#view.deliveries() : [];
    for (const { name, atMs } of deliveries) {
      const process = [...sleepers.keys()].find(({ ids }) => ids.has(name.split(":")[3] ?? ""));
      if (process && !this.#known.has(name) && this.#sleepers.get(process) === process.wokenMs)
        this.#slept.set(name, { process, wokenMs: process.wokenMs, dueMs: atMs });
    }
    this.#sleepers = sleepers;
    this.#known = new Set(deliveries.map(({ name }) => name));
    for (const [handle, slept] of this.#slept) {
      if (this.#known.has(handle)) continue;
      this.#slept.delete(handle);
      this.#judgeEnd(handle, slept);
    }
  }

  #judgeEnd(handle: string, { process, wokenMs, dueMs }: Slept): void {
    if (this.#scene.hasForgotten || process.wokenMs !== wokenMs || dueMs > this.#view.nowMs) return;
    if (this.#view.idle.some((id) => process.ids.has(id)))
      this.#scene.fail("Q11", `${process.name} slept through the lease of ${handle}, and has a free place`);
  }
}
