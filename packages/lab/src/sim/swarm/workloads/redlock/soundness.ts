/** Soundness: whether anything has touched a node, a process, or the network between them for a while. */
import type { Node } from "../../../node.js";
import type { Process } from "../../../process.js";
import { slowNetwork } from "../../faults/network.js";
import type { Fault } from "../../plan.js";
import { planned } from "../../scene.js";
import type { LockScene } from "../mutex/plan.js";

/** By then after a fault every connection is back, and what was missed is known. */
const soundMs = 3_000;
/** After it stood still a process has served what had waited for it. */
const awakeMs = 500;
/** A node says in whole seconds for how long it has been up. */
const uptimeStepMs = 1_000;

/** A time at which, and for how long before. */
interface Times {
  readonly fromMs: number;
  readonly toMs: number;
}

export class Soundness {
  readonly #scene: LockScene;

  constructor(scene: LockScene) {
    this.#scene = scene;
  }

  /** After a restart a node does not vote for this long, and what it held before is over. */
  get recoveryMs(): number {
    return this.#scene.keptMs + uptimeStepMs + soundMs;
  }

  /** Nothing has touched the process for a while, and it is in the middle of its work. */
  isProcess(process: Process): boolean {
    const { world, lives, finished } = this.#scene;
    if (!process.isAwake || world.nowMs - process.wokenMs < awakeMs) return false;
    // The plan says when this fault begins to wait for a look at the clock, and not when it strikes.
    if (world.nowMs - process.stalledMs < soundMs) return false;
    const name = planned(process.name);
    if (lives.get(name)?.process !== process || finished.has(process.name)) return false;
    return this.wasProcess(name, this.#now(soundMs));
  }

  /** Nothing has touched the node, nor the network between the two, for a while: it votes, as far as this process can see. */
  isNode(process: Process, node: Node): boolean {
    return (
      this.#scene.link(process, node).isSound &&
      this.wasNode(node, this.#now(this.recoveryMs)) &&
      this.wasLink(planned(process.name), node, this.#now(soundMs))
    );
  }

  /** How many nodes answered this process, and voted, over some time that has passed. */
  wereVotes(process: string, { fromMs, toMs }: Times): number {
    return this.#scene.nodes.filter(
      (node) =>
        this.wasNode(node, { fromMs: fromMs - this.recoveryMs, toMs }) &&
        this.wasLink(process, node, { fromMs: fromMs - soundMs, toMs }),
    ).length;
  }

  wasNode({ name }: Node, times: Times): boolean {
    return this.#isQuiet(times, ({ kind, target }) => target === name || kind === slowNetwork.kind);
  }

  /** @param process of the plan */
  wasProcess(process: string, times: Times): boolean {
    return this.#isQuiet(times, ({ target, node }) => target === process && node === undefined);
  }

  /** @param process of the plan */
  wasLink(process: string, { name }: Node, times: Times): boolean {
    return this.#isQuiet(times, ({ target, node }) => target === process && node === name);
  }

  #now(forMs: number): Times {
    const { nowMs } = this.#scene.world;
    return { fromMs: nowMs - forMs, toMs: nowMs };
  }

  /** None of these faults lasted within this time. */
  #isQuiet({ fromMs, toMs }: Times, touches: (fault: Fault) => boolean): boolean {
    return this.#scene.plan.faults.every(
      (fault) => fault.atMs > toMs || fault.atMs + fault.forMs < fromMs || !touches(fault),
    );
  }
}
