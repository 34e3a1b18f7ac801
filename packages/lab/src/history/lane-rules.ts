/**
 * What a history of lanes must keep. The id of a message is its ticket, "<number>@<lane>". In the simulator and in the chaos the same
 * rules judge.
 */
import { checkAttempts, checkSeen } from "./dead-letters.js";
import {
  byToken,
  checkCancelled,
  checkLost,
  checkOneEach,
  checkSettledOnce,
  checkTokens,
  endOf,
  handedOf,
  type MessageFacts,
  Messages,
  settledOf,
  tokenOf,
} from "./messages.js";
import type { Operation } from "./operation.js";
import { type Breach, byKey } from "./violation.js";

export const laneRules = {
  N1: "the order within a lane is kept",
  N2: "a lane has no more in flight than it may",
  N3: "the number of messages ahead of a ticket never rises, and a watch ends with the message",
  N4: "a cancelled message is not delivered",
  N5: "no lane has many turns while another waits for one",
  N6: "no message is lost, or done twice",
  N9: "a lane is served no faster than its rate",
  N10: "a dead letter was seen by a program and failed, or its processes ended",
} as const;

export type WhenFailed = "park" | "skip" | "dead-letter";

export interface LaneRate {
  readonly max: number;
  readonly perMs: number;
}

export interface LaneFacts extends MessageFacts {
  readonly inFlight: number;
  readonly whenFailed: WhenFailed;
  readonly maxAttempts: number;
  readonly rate: LaneRate | null;
  /** Nothing was disturbed: turns are counted. */
  readonly isSteady: boolean;
}

/** What "position" has found. */
export interface PlaceSeen {
  readonly id: string;
  readonly state: "waiting" | "running" | "over";
  readonly ahead: number;
}

/** Turns that a lane may have while another one waits: its own, and one that was under way. */
const mostTurns = 2;

export function checkLanes(operations: Iterable<Operation>, facts: LaneFacts): Breach[] {
  const messages = new Messages(operations);
  // What became a dead letter at its first failure has had one attempt, and so has one that a script gave up.
  const dead = facts.whenFailed === "dead-letter" ? [] : checkAttempts("N6", messages, facts);
  return [
    ...checkLost("N6", messages, facts),
    ...checkSettledOnce("N6", messages, facts),
    ...checkTokens("N6", messages, facts),
    ...checkOneEach("N6", messages, facts),
    ...dead,
    ...checkOrder(messages, facts),
    ...checkAhead(messages, facts),
    ...checkCancelled("N4", messages, facts),
    ...checkRate(messages, facts),
    ...checkSeen("N10", messages, facts),
    ...(facts.isSteady ? checkTurns(messages, facts) : []),
  ];
}

/** "1764000000000000" of "1764000000000000@lane" */
function numberOf(ticket: string): bigint {
  return BigInt(ticket.slice(0, ticket.indexOf("@")));
}

export function laneOf(ticket: string): string {
  return decodeURIComponent(ticket.slice(ticket.indexOf("@") + 1));
}

/** Of each lane, by token. */
function turnsOf(messages: Messages): Map<string, Operation[]> {
  const turns = new Map<string, Operation[]>();
  for (const delivery of messages.each("deliver").sort(byToken)) {
    const lane = laneOf(handedOf(delivery).id);
    const list = turns.get(lane);
    if (list) list.push(delivery);
    else turns.set(lane, [delivery]);
  }
  return turns;
}

/**
 * N1. One at a time: a later message is delivered when the earlier ones are done with. Of several at a time: what was returned goes
 * before what nobody has seen.
 */
function checkOrder(messages: Messages, facts: LaneFacts): Breach[] {
  for (const [lane, all] of turnsOf(messages)) {
    // What is redriven comes again after others.
    const turns = all.filter(({ invMs }) => !messages.wereRedriven(invMs));
    const passed = facts.inFlight === 1 ? passedByOne(turns, facts) : passedByNew(turns, messages, facts);
    if (!passed) continue;
    const [before, after] = passed;
    const message = `message ${handedOf(after).id} was delivered after ${handedOf(before).id} of the same lane "${lane}"`;
    return [{ property: "N1", key: after.key, operations: [before, after], message, atMs: after.invMs }];
  }
  return [];
}

type Passed = readonly [before: Operation, after: Operation] | null;

function passedByOne(turns: readonly Operation[], facts: LaneFacts): Passed {
  let newest: Operation | null = null;
  for (const turn of turns) {
    const { id, attempt } = handedOf(turn);
    // Where failed messages are passed over, they come again after others.
    if (facts.whenFailed === "skip" && attempt > 1) continue;
    const isPassed = newest && numberOf(id) < numberOf(handedOf(newest).id);
    if (newest && isPassed && !facts.wasLost(0, Math.max(turn.invMs, newest.invMs))) return [newest, turn];
    if (!isPassed) newest = turn;
  }
  return null;
}

/** Judged where nothing is lost on its way: a delivery that never came takes the turn of the message along. */
function passedByNew(turns: readonly Operation[], messages: Messages, facts: LaneFacts): Passed {
  if (facts.whenFailed !== "park" || !facts.isSteady) return null;
  for (const nack of messages.each("nack")) {
    const { id } = settledOf(nack);
    const deliveries = messages.of(id).filter(({ f }) => f === "deliver");
    const failed = deliveries.find((one) => tokenOf(one) === tokenOf(nack));
    const again = deliveries.find((one) => tokenOf(one) > tokenOf(nack));
    if (nack.type !== "ok" || nack.serverUs === undefined || !failed || !again) continue;
    if (handedOf(again).attempt !== handedOf(failed).attempt + 1) continue;
    const since = BigInt(nack.serverUs);
    const before = turns.find(
      (turn) =>
        tokenOf(turn) > since && tokenOf(turn) < tokenOf(again) && numberOf(handedOf(turn).id) > numberOf(id),
    );
    if (
      before &&
      laneOf(id) === laneOf(handedOf(before).id) &&
      !facts.wasLost(0, Math.max(before.invMs, again.invMs))
    )
      return [before, again];
  }
  return null;
}

/** Tokens follow the clock in µs, and run ahead of it by 1 for each number that is given out. */
const aheadUs = 1_000;

/** N9: `max` at once, and from then on one in each of `max` parts of the time. By tokens: they follow a clock that was never set back. */
function checkRate(messages: Messages, { rate, wasLost, wasClockSet }: LaneFacts): Breach[] {
  // A reset forgets what was delivered.
  if (!rate || messages.each("clear").length > 0) return [];
  const { max, perMs } = rate;
  const leastUs = (perMs * 1_000) / max - aheadUs;
  for (const [lane, turns] of turnsOf(messages)) {
    for (const [place, turn] of turns.entries()) {
      const before = turns[place - max];
      // A server that fell back to an older copy gives tokens again: the last of these turns may be the one with the smallest.
      const untilMs = Math.max(...turns.slice(Math.max(0, place - max), place + 1).map(({ invMs }) => invMs));
      if (!before || wasLost(0, untilMs) || wasClockSet(0, untilMs)) continue;
      const gapUs = Number(tokenOf(turn) - tokenOf(before));
      if (gapUs >= leastUs) continue;
      const message = `lane "${lane}" had ${max + 1} deliveries in ${gapUs / 1_000} ms, with a rate of ${max} in ${perMs} ms`;
      return [{ property: "N9", key: turn.key, operations: [before, turn], message, atMs: turn.invMs }];
    }
  }
  return [];
}

/** N3: of two looks at one ticket, the later one sees no more ahead. A watch is compared with itself: what it yields is older. */
function checkAhead(messages: Messages, facts: LaneFacts): Breach[] {
  const looks = messages.operations.filter(
    ({ f, type }) => (f === "position" || f === "watched") && type === "ok",
  );
  const keyed = looks.map((look) => {
    const { id } = look.value as PlaceSeen;
    return { ...look, key: look.f === "watched" ? `${id} ${look.process}` : id };
  });
  for (const seen of byKey(keyed).values()) {
    const found = risen(seen.toSorted((a, b) => endOf(a) - endOf(b)));
    if (!found) continue;
    const [before, after] = found;
    if (facts.wasLost(0, endOf(after)) || messages.wereRedriven(endOf(after))) continue;
    const { id, ahead } = after.value as PlaceSeen;
    const message = `${ahead} messages were ahead of ${id}, after ${(before.value as PlaceSeen).ahead} were`;
    return [{ property: "N3", key: "lanes", operations: [before, after], message, atMs: endOf(after) }];
  }
  return [];
}

/** The first look that sees more than one that had ended before it began. */
function risen(looks: readonly Operation[]): Passed {
  let least: Operation | null = null;
  for (const look of looks) {
    const { ahead, state } = look.value as PlaceSeen;
    if (state !== "waiting") continue;
    const leastAhead = least ? (least.value as PlaceSeen).ahead : Number.POSITIVE_INFINITY;
    if (least && ahead > leastAhead && endOf(least) <= look.invMs) return [least, look];
    if (ahead < leastAhead) least = look;
  }
  return null;
}

/** N5: from the push into an empty lane to the delivery, no other lane has more than its turn. */
function checkTurns(messages: Messages, { inFlight }: LaneFacts): Breach[] {
  const lanes = turnsOf(messages);
  for (const { id, push } of messages.known.values()) {
    if (push.serverUs === undefined || !isFirstOfLane(id, messages, push)) continue;
    const [own] = (lanes.get(laneOf(id)) ?? []).filter((turn) => handedOf(turn).id === id);
    if (!own) continue;
    const since = BigInt(push.serverUs);
    for (const [lane, turns] of lanes) {
      const between = turns.filter((turn) => tokenOf(turn) > since && tokenOf(turn) < tokenOf(own));
      if (lane === laneOf(id) || between.length <= mostTurns * inFlight) continue;
      const message = `lane "${lane}" had ${between.length} turns while message ${id}, the next of its own lane, waited for one`;
      return [{ property: "N5", key: own.key, operations: [...between, own], message, atMs: own.invMs }];
    }
  }
  return [];
}

/** Whether all earlier messages of its lane were done before it was pushed. */
function isFirstOfLane(id: string, messages: Messages, push: Operation): boolean {
  const earlier = [...messages.known.keys()].filter(
    (other) => laneOf(other) === laneOf(id) && numberOf(other) < numberOf(id),
  );
  return earlier.every((other) =>
    messages
      .of(other)
      .some(({ f, type, retMs }) => f === "ack" && type === "ok" && (retMs ?? 0) < push.invMs),
  );
}
