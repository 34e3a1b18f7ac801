/** OneServer: what the one node says of locks, beside what programs believe. */
import type { ReleaseResult } from "holdfast";
import type { Process } from "../../../process.js";
import { planned } from "../../scene.js";
import type { Belief } from "./belief.js";
import { judgeDeadline } from "./deadline.js";
import { holderAt, namedAt } from "./node-state.js";
import { type LockScene, passesOn } from "./plan.js";
import type { Servers } from "./servers.js";

export class OneServer implements Servers {
  readonly #scene: LockScene;

  constructor(scene: LockScene) {
    this.#scene = scene;
  }

  compare(belief: Belief): void {
    const { lease, process, lock, caller } = belief;
    const { node, world } = this.#scene;
    if (!canLook(this.#scene, process) || this.#scene.mayOverlap(planned(process.name))) return;
    const holder = holderAt(node, lock);
    if (holder?.id !== lease.id) {
      const who = holder ? `${holder.id}, for another ${holder.leftMs} ms` : "nobody";
      const message = `${caller} believes that it holds "${lock}" by ${lease.id}, at the node ${who} does`;
      this.#scene.fail("L5", message, world.nowMs);
      return;
    }
    const [first, last] = holder.tokens;
    if (!this.#scene.hasForgotten && (lease.fence < first || lease.fence > last))
      this.#scene.fail("L1", `${caller} has token ${lease.fence}, of ${first} to ${last} at the node`);
    judgeDeadline(this.#scene, belief, holder.leftMs);
  }

  /** Looks at whom the node names, now and when the release is answered. */
  watchRelease({ caller, process, lease, lock, isLost }: Belief): (result: ReleaseResult) => void {
    const scene = this.#scene;
    const named = canLook(scene, process) ? (namedAt(scene.node, lock)?.id ?? null) : undefined;
    const plan = scene.lives.get(planned(process.name))?.plan;
    // The same grant may serve another caller of this process, or linger there for one.
    const isPassedOn = plan !== undefined && passesOn(plan);
    return (result) => {
      // A lease that ran out is given back behind the answer, unless its holder wants a delay.
      if (result !== "released") return;
      if (isLost) scene.fail("L8", `${caller} had lost "${lock}", and was told that it released it`);
      if (scene.mayAnyOverlap()) return;
      if (named !== undefined && named !== lease.id && !isPassedOn)
        scene.fail("L8", `${caller} released "${lock}", which ${named ?? "nobody"} held at the node`);
      const holder = canLook(scene, process) ? holderAt(scene.node, lock) : null;
      if (holder?.id === lease.id && !isPassedOn) {
        const message = `${caller} released "${lock}", and the node keeps it for another ${holder.leftMs} ms`;
        scene.fail("L9", message);
      }
    };
  }
}

/** Process and node are at the same moment. */
function canLook({ node }: LockScene, process: Process): boolean {
  return process.isAwake && node.isUp && node.valkey.clock.busyMs === 0;
}
