/** Cost: where nothing fails, what is sent is in proportion to what is done, however many wait. */
import { planned } from "../../scene.js";
import type { LockScene } from "./plan.js";

/** For one acquire or release: each is one, and the way back to the line, or a clean-up, another. */
const eachCall = 1.5;
/** How many of these each operation is. */
const callsOf: Readonly<Record<string, number>> = { acquire: 1, release: 1, votes: 4, several: 4 };
/** Renewals are a third of the ttl apart; so are the signs of life of who waits. */
const eachTtl = 2 * 3;
const eachLife = 10;

/** Adds to the failures of the scene. Call it for a plan without faults. */
export function judgeCost(scene: LockScene): void {
  const { world, history, lives } = scene;
  for (const { plan, process } of lives.values()) {
    const calls = history.operations
      .filter(({ process: caller }) => planned(caller) === plan.name)
      .reduce((sum, { f }) => sum + (callsOf[f] ?? 0), 0);
    const packets = scene.packetsOf(process);
    const most = (eachLife + calls * eachCall + (world.nowMs / plan.ttlMs) * eachTtl) * scene.nodes.length;
    if (packets > most)
      scene.fail(
        "W2",
        `${plan.name} sent ${packets} packets for ${calls} calls, of ${most.toFixed(0)} at most`,
      );
  }
}
