/** A node that starts again with the data that it had, or with older data: what AOF does with "always", and with "everysec". */
import type { Scene } from "../scene.js";
import { type Kind, lasting } from "./kind.js";

/** All that it had answered is still there. */
const restart: Kind = {
  kind: "restart with data",
  on: "node",
  most: 2,
  forMs: lasting(0, 2_000),
  value: (dice) => dice.whole(0, 1),
  begin(scene, fault) {
    const node = scene.nodeOf(fault);
    const disk = node.isUp ? node.save() : null;
    if (!disk) return undefined;
    node.crash(fault.value ? "silent" : "loud");
    return () => {
      node.restartFrom(disk);
      scene.clockWasSet(node);
    };
  },
};

/** The last `value` ms are lost. The disk was copied when that was due, unless the node was down. */
const staleRestart: Kind = {
  kind: "restart with old data",
  on: "node",
  most: 2,
  forMs: lasting(0, 2_000),
  value: (dice) => dice.pick([dice.whole(1, 60), dice.whole(1, 3_000)]),
  begin(scene, fault) {
    const node = scene.nodeOf(fault);
    const disk = scene.disks.get(fault);
    if (!disk || !node.isUp) return undefined;
    scene.dataLostByRestart(node, fault.forMs);
    node.crash();
    return () => {
      node.restartFrom(disk);
      scene.clockWasSet(node);
    };
  },
};

export const restartKinds: readonly Kind[] = [restart, staleRestart];
/** Of these, the disk of the node is copied `value` ms before. */
const savingKinds = new Set([staleRestart.kind]);
/** And of these the whole node. */
const copyingKinds = new Set(["rollback", "failover"]);

/** Sets the time at which the state is copied to which a fault falls back. */
export function setCopy(scene: Scene, fault: Scene["plan"]["faults"][number]): void {
  const { world } = scene;
  const node = scene.nodeOf(fault);
  const atMs = fault.atMs - fault.value;
  if (copyingKinds.has(fault.kind))
    world.at(atMs, () => {
      if (node.isUp) scene.copies.set(fault, node.remember());
    });
  if (savingKinds.has(fault.kind))
    world.at(atMs, () => {
      const disk = node.save();
      if (disk) scene.disks.set(fault, disk);
    });
}
