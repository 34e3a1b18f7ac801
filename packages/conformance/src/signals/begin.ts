/** How a case knows that a wait for a signal has begun: what is emitted from then on, it hears. */
import type { NounLab } from "../case.js";

export interface Begun<Value> {
  readonly wait: Promise<Value>;
}

/** Begins a wait for these names, or a pattern, and resolves when it has begun. */
export async function begin<Value>(
  lab: NounLab,
  names: readonly string[],
  start: () => Promise<Value>,
): Promise<Begun<Value>> {
  const wait = start();
  wait.catch(() => {}); // a case that ends before it hears of it has failed for another reason
  await lab.events.next("holdfast:signal:waiting", ({ signals }) => signals.join("\n") === names.join("\n"));
  return { wait };
}
