/** Whether the clock of the server was set, or ran at a wrong rate. */
import type { Scene } from "../scene.js";

export function wasClockWrong({ clockSteps, plan }: Scene, fromMs: number, toMs: number): boolean {
  const ranWrong = plan.faults.some(
    ({ kind, atMs, forMs }) => kind === "clock rate" && atMs <= toMs && fromMs <= atMs + forMs,
  );
  return ranWrong || clockSteps.some((atMs) => fromMs <= atMs && atMs <= toMs);
}
