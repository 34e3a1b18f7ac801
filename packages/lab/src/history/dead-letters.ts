/** Dead letters of a queue or of lanes: whole, counted, and dead for a reason. */
import { type Dead, handedOf, isDone, type MessageFacts, type Messages } from "./messages.js";
import type { Operation } from "./operation.js";
import type { Breach } from "./violation.js";

/** A dead letter was delivered to a program, or the processes that had it ended; and the program that gave it back says how it failed. */
export function checkSeen(property: string, messages: Messages, facts: MessageFacts): Breach[] {
  for (const found of facts.judgesSeen ? messages.each("dead") : []) {
    if (found.type !== "ok") continue;
    for (const { id, attempts, reason } of (found.value as Dead).letters) {
      const push = messages.known.get(id)?.push;
      if (!push || facts.wasLost(push.invMs, found.invMs) || reason.startsWith("its process ended")) continue;
      const wasSeen = messages.of(id).some(({ f }) => f === "deliver");
      if (wasSeen && reason !== "") continue;
      const what = wasSeen ? "and nobody has failed" : `and no program has seen it: ${reason}`;
      const message = `message ${id} is dead after ${attempts} attempts, ${what}`;
      return [
        { property, key: found.key, operations: [push, ...messages.of(id)], message, atMs: found.invMs },
      ];
    }
  }
  return [];
}

/** No delivery is attempt `maxAttempts` plus one, and dead letters are what was pushed. */
export function checkAttempts(
  property: string,
  messages: Messages,
  { maxAttempts, ...facts }: MessageFacts & { readonly maxAttempts: number },
): Breach[] {
  const breach = (message: string, operation: Operation): Breach[] => [
    { property, key: operation.key, operations: [operation], message, atMs: operation.invMs },
  ];
  for (const delivery of messages.each("deliver")) {
    const { attempt, id } = handedOf(delivery);
    if (attempt < 1 || attempt > maxAttempts)
      return breach(`message ${id} was delivered as attempt ${attempt} of ${maxAttempts}`, delivery);
  }
  for (const found of messages.each("dead")) {
    if (found.type !== "ok") continue;
    const { letters } = found.value as Dead;
    for (const { id, body, attempts, reason } of letters) {
      const known = messages.known.get(id);
      const what = `the dead letter ${id} has the body ${body} and ${attempts} attempts`;
      const wasLost = facts.wasLost(known?.push.invMs ?? 0, found.invMs);
      if (known && known.body !== body && !wasLost)
        return breach(`${what}, and was pushed as ${known.body}`, found);
      const ends = /^its process ended, (\d+) times$/.exec(reason);
      // The end of a process is no attempt: an attempt before it may have failed, but not the last one.
      const isWhole = ends
        ? attempts >= Number(ends[1]) && attempts - Number(ends[1]) < maxAttempts
        : attempts === maxAttempts;
      if (!isWhole) return breach(`${what}, of ${maxAttempts}: ${reason}`, found);
      const done = messages.of(id).find(isDone);
      if (done && !wasLost) return breach(`${what}, and ${done.process} has acknowledged it`, found);
    }
    if (new Set(letters.map(({ id }) => id)).size < letters.length)
      return breach("a message is among the dead letters twice", found);
  }
  return [];
}
