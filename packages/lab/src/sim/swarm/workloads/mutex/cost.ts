/** Cost: where nothing fails, what is sent is in proportion to what is done, however many wait. */
import { planned } from "../../scene.js";
import type { LockScene } from "./plan.js";

/** For one acquire or release: each is one, and the way back to the line, or a clean-up, another. */
const eachCall = 1.5;
/** Renewals are a third of the ttl apart; so are the signs of life of who waits. */
const eachTtl = 2 * 3;
const eachLife = 10;

/** Adds to the failures of the scene. Call it for a plan without faults. */
export function judgeCost(scene: LockScene): void {
  const { world, history, lives } = scene;
  for (const { plan, process } of lives.values()) {
    const calls = history.operations.filter(
      (one) => (one.f === "acquire" || one.f === "release") && planned(one.process) === plan.name,
    ).length;
    const packets = scene.packetsOf(process);
    const most = (eachLife + calls * eachCall + (world.nowMs / plan.ttlMs) * eachTtl) * scene.nodes.length;
    if (packets > most)
      scene.fail(
        "W2",
        `${plan.name} sent ${packets} packets for ${calls} calls, of ${most.toFixed(0)} at most`,
      );
  }
}
