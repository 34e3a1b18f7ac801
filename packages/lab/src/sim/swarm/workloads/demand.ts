/**
 * Demand: which processes wait for messages. One that waits for none gives up its free places, so that no message is sent to it in vain.
 * Judged where nothing fails: a process that died, or could not say that it leaves, loses its places with the next message.
 */
import type { Caller, Scene } from "../workload.js";

/** By then the server has heard that a process leaves, also behind a take under way, and as a rule nobody has pushed. */
const leavingMs = 40;

export interface DemandSettings {
  /** The rule that a free place without demand breaks. */
  readonly rule: string;
  /** The ids of the processes with free places. */
  readonly idle: () => readonly string[];
}

export class Demand {
  readonly #scene: Scene;
  readonly #settings: DemandSettings;
  /** By process: the number of its waits and consumers. */
  readonly #counts = new Map<Caller["process"], number>();

  readonly #lastEnds = new Map<Caller["process"], object>();

  constructor(scene: Scene, settings: DemandSettings) {
    this.#scene = scene;
    this.#settings = settings;
  }

  /** @param wait resolves when the wait or the consumer has ended */
  async during<Value>({ process }: Caller, wait: () => Promise<Value>): Promise<Value> {
    this.#counts.set(process, this.#countOf(process) + 1);
    try {
      return await wait();
    } finally {
      this.#counts.set(process, this.#countOf(process) - 1);
      this.#judgeSoon(process);
    }
  }

  /** Whether the server knows a free place of a process that waits, and is awake: it looks for what is due. */
  get isHeard(): boolean {
    const idle = this.#settings.idle();
    return [...this.#counts].some(
      ([{ isAwake, ids }, count]) => count > 0 && isAwake && idle.some((id) => ids.has(id)),
    );
  }

  #judgeSoon(process: Caller["process"]): void {
    const { world, plan, node } = this.#scene;
    const { rule, idle } = this.#settings;
    if (plan.faults.length > 0 || this.#countOf(process) > 0) return;
    const end = {};
    this.#lastEnds.set(process, end);
    world.at(world.nowMs + leavingMs, () => {
      // A wait that has ended since is judged by itself.
      if (this.#countOf(process) > 0 || this.#lastEnds.get(process) !== end || !node.isUp) return;
      if (idle().some((id) => process.ids.has(id)))
        this.#scene.fail(rule, `${process.name} waits for no message, and has a free place`);
    });
  }

  #countOf(process: Caller["process"]): number {
    return this.#counts.get(process) ?? 0;
  }
}
