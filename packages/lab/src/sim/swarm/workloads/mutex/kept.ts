/** What must be where nothing fails: a lease lasts until it is given back, and that has an answer. */
import { nextReleases } from "../../../../history/hold.js";
import { lifeOf, planned } from "../../scene.js";
import type { LockScene } from "./plan.js";

/** By then the node has answered. */
const promptMs = 30;
/** By then a client that queues nothing has a connection, and was asked again. */
const connectedMs = 400;

/** Adds to the failures of the scene, of what was granted when nothing failed any more. */
export function judgeKept(scene: LockScene): void {
  // A hold that is ended by its limit is lost, as it should be.
  const limited = scene.plan.processes.filter(({ maxHoldMs }) => maxHoldMs !== null).map(({ name }) => name);
  const hasty = scene.plan.processes.filter(({ client }) => !client.offlineQueue).map(({ name }) => name);
  const { operations } = scene.history;
  const connectsAt = (caller: string, atMs: number): boolean => {
    const bornMs = scene.world.processes.get(lifeOf(caller))?.bornMs ?? 0;
    return atMs < bornMs + connectedMs && hasty.includes(planned(caller));
  };
  for (const { f, type, invMs, retMs, process, key, error } of operations)
    if (
      f === "acquire" &&
      type === "info" &&
      retMs !== null &&
      invMs >= scene.calmFromMs &&
      retMs - invMs > promptMs &&
      !connectsAt(process, invMs) &&
      error !== "CLOSED"
    )
      scene.fail("steady", `acquire of "${key}" by ${process}, without any fault: ${error}`, retMs);
  for (const lock of scene.plan.locks)
    for (const [grant, release] of nextReleases(operations.filter(({ key }) => key === lock))) {
      const { type, process, retMs, error } = release;
      if (grant.type !== "ok" || (grant.retMs ?? 0) < scene.calmFromMs || type === "ok") continue;
      if (error === "closed") continue;
      if (limited.includes(planned(process))) continue;
      const message = `release of "${lock}" by ${process}, without any fault: ${error}`;
      scene.fail("steady", message, retMs ?? undefined);
    }
}
