/** One wait of each noun, which nothing ends. The name is held, and led, by another process. */
import type { Holdfast } from "holdfast";

export function waitsOf(holdfast: Holdfast, name: string): readonly (() => Promise<unknown>)[] {
  const forever = { wait: Number.POSITIVE_INFINITY };
  return [
    () => holdfast.mutex(name).acquire(forever),
    () => holdfast.election(name).campaign(forever),
    () => holdfast.once(name, () => {}, { keep: "1m", ...forever }),
    () => holdfast.signal(name).wait(forever),
    () => holdfast.event(name).wait(forever),
    () => holdfast.latch(name, 2).wait(forever),
    () => holdfast.barrier(name, 2).wait(forever),
    () => holdfast.queue(name).receive(forever),
    () => holdfast.queue(name).pop(forever),
    () => holdfast.queue(name).result("1".repeat(16), forever),
  ];
}
