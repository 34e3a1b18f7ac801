/** What a history of a queue must keep. In the simulator and in the chaos the same rules judge. */
import { checkAttempts, checkSeen } from "./dead-letters.js";
import {
  byToken,
  type Cancelled,
  checkCancelled,
  checkLost,
  checkOneEach,
  checkSettledOnce,
  checkTokens,
  endOf,
  handedOf,
  isForgotten,
  type MessageFacts,
  Messages,
  pushedOf,
  settledOf,
  tokenOf,
} from "./messages.js";
import type { Operation } from "./operation.js";
import { type Breach, ms } from "./violation.js";

export const queueRules = {
  Q1: "no message is lost whose push was answered",
  Q2: "a message is acknowledged once, and popped at most once",
  Q3: "a later delivery has a larger token, and an ack counts with the newest alone",
  Q4: "messages are delivered in their order, and returned ones before the others",
  Q6: "a push makes one message, and a dedupe id makes one within its time",
  Q7: "a result is that of the ack that counted, and a waiter hears it",
  Q8: "no message is delivered more often than allowed, and dead letters are whole",
  Q10: "a cancelled message is not delivered",
  Q13: "a dead letter was seen by a program and failed, or its processes ended",
} as const;

export interface QueueFacts extends MessageFacts {
  readonly maxAttempts: number;
  /** null: nothing is promised about the order in this run. */
  readonly order: "fifo" | "lifo" | null;
  /**
   * The tokens with which the server gave a message to a process, also where the process gave it back before a program had it. That is
   * no delivery, and it is the turn of the message. @default none but those of the deliveries
   */
  tokensOf?(id: string): readonly bigint[];
  /** How long a result is kept. @default for ever */
  readonly keptMs?: number;
  /** By when a result that was there at `readyMs` must have been heard by a waiter. */
  dueMs(readyMs: number, process: string): number;
}

/** What a "result" has found: null where the time ran out. */
export interface Outcome {
  readonly id: string;
  readonly status: "done" | "dead" | "cancelled" | null;
  readonly result?: string;
  /** As text. */
  readonly token?: string;
  readonly attempts?: number;
}

export function checkQueue(operations: Iterable<Operation>, facts: QueueFacts): Breach[] {
  const messages = new Messages(operations);
  return [
    ...checkLost("Q1", messages, facts),
    ...checkSettledOnce("Q2", messages, facts),
    ...checkTokens("Q3", messages, facts),
    ...checkOrder(messages, facts),
    ...checkOneEach("Q6", messages, facts),
    ...checkDedupe(messages, facts),
    ...checkResults(messages, facts),
    ...checkAttempts("Q8", messages, facts),
    ...checkCancelled("Q10", messages, facts),
    ...checkSeen("Q13", messages, facts),
  ];
}

/**
 * Q4. Tokens and ids are taken from one sequence that follows the clock of the server, so a delivery of another message, when
 * this one was available, has a token between the time at which it became so (`serverUs`) and its own.
 */
function checkOrder(messages: Messages, { order, tokensOf = () => [] }: QueueFacts): Breach[] {
  if (order === null) return [];
  const deliveries = [...messages.deliveries().values()].flat().sort(byToken);
  const fresh = deliveries.filter(
    (one) => isFirst(one) && tokensOf(handedOf(one).id).every((token) => token >= tokenOf(one)),
  );
  for (const { id, sinceUs, fromUs, delivered, isReturned } of availableFrom(messages)) {
    const turns = [...tokensOf(id), tokenOf(delivered)].filter((token) => token > sinceUs);
    const passed = fresh.find((other) => {
      const isBetween = tokenOf(other) > fromUs && turns.every((turn) => tokenOf(other) < turn);
      return isBetween && (isReturned || isBefore(id, handedOf(other).id, order));
    });
    if (!passed) continue;
    const how = isReturned ? "returned" : order;
    const message = `message ${handedOf(passed).id} was delivered before ${id}, which was available (${how})`;
    const operations = [passed, delivered];
    return [{ property: "Q4", key: delivered.key, operations, message, atMs: delivered.invMs }];
  }
  return [];
}

interface Available {
  readonly id: string;
  /** Its number, or the token of the delivery that was returned: its turn is a later token. */
  readonly sinceUs: bigint;
  /** The newest number that the server had given out when it was certainly available. */
  readonly fromUs: bigint;
  /** The next delivery of it. */
  readonly delivered: Operation;
  readonly isReturned: boolean;
}

function availableFrom(messages: Messages): Available[] {
  const deliveries = messages.deliveries();
  const returns = messages.each("nack").flatMap((nack): Available[] => {
    const { id, delayMs = 0 } = settledOf(nack);
    const delivered = deliveries.get(id)?.find((one) => tokenOf(one) > tokenOf(nack));
    if (nack.type !== "ok" || delayMs > 0 || !delivered || nack.serverUs === undefined) return [];
    return [{ id, sinceUs: tokenOf(nack), fromUs: BigInt(nack.serverUs), delivered, isReturned: true }];
  });
  const pushes = [...messages.known.values()].flatMap(({ id, push }): Available[] => {
    const [delivered] = deliveries.get(id) ?? [];
    if (!delivered || !isFirst(delivered) || (pushedOf(push).delayMs ?? 0) > 0) return [];
    if (push.serverUs === undefined) return [];
    return [{ id, sinceUs: BigInt(id), fromUs: BigInt(push.serverUs), delivered, isReturned: false }];
  });
  return [...returns, ...pushes];
}

function isFirst(delivery: Operation): boolean {
  return handedOf(delivery).attempt === 1;
}

function isBefore(id: string, other: string, order: "fifo" | "lifo"): boolean {
  return order === "fifo" ? BigInt(id) < BigInt(other) : BigInt(id) > BigInt(other);
}

/** Redis counts the life of a key in whole ms, and the last of them is over when the next one has begun. */
const expiryMs = 2;

/** Q6: of two pushes with one dedupe id within its time, the second finds the message of the first. */
function checkDedupe(messages: Messages, facts: QueueFacts): Breach[] {
  const pushes = messages.each("push").filter((push) => pushedOf(push).dedupe !== undefined);
  for (const later of pushes) {
    const [sent] = pushedOf(later).messages;
    const { dedupe } = pushedOf(later);
    if (later.type !== "ok" || !sent || !dedupe) continue;
    const same = pushes.filter((one) => one !== later && pushedOf(one).dedupe?.id === dedupe.id);
    const isExcused = (from: Operation): boolean =>
      facts.wasLost(from.invMs, endOf(later)) || facts.wasClockSet(from.invMs, endOf(later));
    const breach = (message: string, operations: Operation[]): Breach[] => [
      { property: "Q6", key: later.key, operations, message, atMs: endOf(later) },
    ];
    if (sent.isNew) {
      const other = same.find((one) => {
        const [before] = pushedOf(one).messages;
        // Ids rise in the order in which the server carried the pushes out, unless the next server's clock is behind.
        const isFirst = one.type === "ok" && before?.isNew && BigInt(before.id ?? 0) < BigInt(sent.id ?? 0);
        return (
          isFirst && one.invMs < endOf(later) && endOf(later) - one.invMs < forMsOf(one) && !isExcused(one)
        );
      });
      if (other)
        return breach(`two pushes with the dedupe id ${dedupe.id} made a message each`, [other, later]);
      continue;
    }
    const ofIt = same.filter((one) => pushedOf(one).messages[0]?.id === sent.id);
    const first = ofIt.find((one) => pushedOf(one).messages[0]?.isNew) ?? ofIt[0];
    const doubtful = same.find(({ type, invMs }) => type === "info" && invMs < endOf(later));
    const isKnown = first !== undefined && pushedOf(first).messages[0]?.isNew !== false;
    if (!isKnown && !doubtful && !isExcused(later))
      return breach(
        `a push with the dedupe id ${dedupe.id} found the message ${sent.id}, which nobody pushed with it`,
        [later],
      );
    const isOver = first?.type === "ok" && later.invMs - endOf(first) > forMsOf(first) + expiryMs;
    if (first && isOver && isKnown && !isExcused(first))
      return breach(`a push found the dedupe id ${dedupe.id} after its time`, [first, later]);
  }
  return [];
}

/** The time of a dedupe id is that of the push which made the message. */
function forMsOf(push: Operation): number {
  return pushedOf(push).dedupe?.forMs ?? 0;
}

/** Q7 */
function checkResults(messages: Messages, facts: QueueFacts): Breach[] {
  for (const found of messages.each("result")) {
    if (found.type !== "ok") continue;
    const message = problemOf(found, messages, facts);
    if (message === null) continue;
    const operations = [...messages.of((found.value as Outcome).id).filter(({ f }) => f === "ack"), found];
    return [{ property: "Q7", key: found.key, operations, message, atMs: endOf(found) }];
  }
  return [];
}

function problemOf(found: Operation, messages: Messages, facts: QueueFacts): string | null {
  const { id, status, result, token } = found.value as Outcome;
  const fromMs = messages.known.get(id)?.push.invMs ?? 0;
  if (facts.wasLost(fromMs, endOf(found))) return null;
  const acks = messages
    .of(id)
    .filter((one) => one.f === "ack" && (one.type !== "fail" || isForgotten(one, messages, facts)));
  const counted = acks.find(({ type }) => type === "ok");
  if (status === "done") {
    const own = acks.find((ack) => String(ack.token) === token);
    if (!own) return `message ${id} has the result of ${token}, and no ack has this token`;
    if (settledOf(own).result !== result)
      return `message ${id} has the result ${result}, and its ack said ${settledOf(own).result}`;
    if (counted && counted !== own && !facts.wasLost(fromMs, endOf(counted)))
      return `message ${id} has the result of ${token}, and the ack of ${counted.token} counted`;
    const readyMs = Math.max(found.invMs, counted ? endOf(counted) : Number.POSITIVE_INFINITY);
    return facts.dueMs(readyMs, found.process) < endOf(found)
      ? `a wait for the result of message ${id} ended at ${ms(endOf(found))}, and its ack had counted at ${ms(readyMs)}`
      : null;
  }
  if (status === "cancelled") {
    const isAsked = messages
      .of(id)
      .some(({ f, value }) => f === "cancel" && (value as Cancelled).isCancelled !== false);
    return isAsked ? null : `message ${id} is cancelled, and nobody has cancelled it`;
  }
  // A server that fell back to older data may have delivered it again since.
  if (status === "dead")
    return counted && !facts.wasLost(fromMs, endOf(counted)) && !messages.wereRedriven(endOf(counted))
      ? `message ${id} is dead, and its ack counted`
      : null;
  // A store that forgets, or a clock that was set, may end a result.
  if (!counted || settledOf(counted).result === undefined || facts.wasClockSet(fromMs, endOf(found)))
    return null;
  if (facts.dueMs(endOf(counted), found.process) >= endOf(found)) return null;
  // It may have come and gone while nobody looked.
  if (endOf(found) - counted.invMs > (facts.keptMs ?? Number.POSITIVE_INFINITY)) return null;
  return `a wait for the result of message ${id} ran out, and its ack had counted`;
}
