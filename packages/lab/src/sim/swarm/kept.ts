/** What must be where nothing fails: a lease lasts until it is given back, and that has an answer. */
import type { Scene } from "./scene.js";

/** Adds to the failures of the scene. Call it for a plan without faults. */
export function judgeKept(scene: Scene): void {
  // A hold that is ended by its limit is lost, as it should be.
  const limited = scene.plan.processes.filter(({ maxHoldMs }) => maxHoldMs !== null).map(({ name }) => name);
  for (const { f, type, process, key, retMs, error } of scene.history.operations) {
    if (f !== "release" || type === "ok" || limited.includes(process.split(/[#.]/, 1)[0] ?? "")) continue;
    scene.fail(
      "steady",
      `release of "${key}" by ${process}, without any fault: ${error}`,
      retMs ?? undefined,
    );
  }
}
