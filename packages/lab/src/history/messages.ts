/**
 * Messages of a queue or of lanes, as a history has them. What the operations are, and what became of each message.
 *
 * "push": `value` is what was sent (`Pushed`). "deliver": a program has the message; `token`, and `Handed` as `value`. "ack", "nack":
 * what a program did with a delivery; `token`, `Settled` as `value`. "pop": `Handed` as `value`. "left" and "dead": the messages that
 * the server had in the end (`Left`, `Dead`). "cancel": `Cancelled`. "drop": the messages that somebody deleted (`Left`). "clear": all
 * that waited were deleted, or more. "redrive": dead letters came back, with all their attempts.
 */
import type { Operation } from "./operation.js";
import { type Breach, ms } from "./violation.js";

/** One message of a push. */
export interface Sent {
  readonly body: string;
  /** null: no answer came. */
  readonly id: string | null;
  /** Whether it is a message of its own; null: no answer came. */
  readonly isNew: boolean | null;
}

export interface Pushed {
  readonly messages: readonly Sent[];
  readonly delayMs?: number;
  readonly dedupe?: { readonly id: string; readonly forMs: number };
}

export interface Handed {
  readonly id: string;
  readonly body: string;
  /** 0: by pop, which counts none. */
  readonly attempt: number;
  readonly lane?: string;
}

export interface Settled {
  readonly id: string;
  readonly lane?: string;
  /** Stored by the ack. */
  readonly result?: string;
  /** Of a nack: for how long the message stays away. */
  readonly delayMs?: number;
  /** Whether the delivery had certainly time left. */
  readonly isInTime?: boolean;
}

export interface Left {
  readonly ids: readonly string[];
}

export interface Dead {
  readonly letters: readonly {
    readonly id: string;
    readonly body: string;
    readonly attempts: number;
    readonly reason: string;
  }[];
}

export interface Cancelled {
  readonly id: string;
  readonly isCancelled: boolean | null;
}

/** What surrounded the operations. */
export interface MessageFacts {
  /** Whether the server may have lost data in this time. */
  wasLost(fromMs: number, toMs: number): boolean;
  /** Whether its clock was set in this time. */
  wasClockSet(fromMs: number, toMs: number): boolean;
  readonly endMs: number;
  /** How many messages may have been deleted because there were too many. @default none */
  readonly dropped?: number;
  /** Whether what is dead was seen is judged. @default false */
  readonly judgesSeen?: boolean;
  /** How many dead letters are kept. @default all */
  readonly keptDead?: number;
}

/** A message whose push was answered. */
export interface Message {
  readonly id: string;
  readonly body: string;
  readonly push: Operation;
}

/** The operations on one queue, in order, and by message. */
export class Messages {
  readonly operations: readonly Operation[];
  /** Those of which a push has said the id, and that they are new. */
  readonly known = new Map<string, Message>();
  /** What happened to each message, by its id. */
  readonly #byId = new Map<string, Operation[]>();

  constructor(operations: Iterable<Operation>) {
    this.operations = [...operations];
    for (const operation of this.operations) {
      if (operation.f === "push") this.#know(operation);
      else for (const id of idsOf(operation)) this.#note(id, operation);
    }
  }

  /** Everything but its push. */
  of(id: string): readonly Operation[] {
    return this.#byId.get(id) ?? [];
  }

  /** Whether all may have been deleted, and forgotten, after this operation began. */
  wereCleared({ invMs }: Operation, untilMs = Number.POSITIVE_INFINITY): boolean {
    return this.each("clear").some(
      (clear) =>
        clear.type !== "fail" && clear.invMs < untilMs && (clear.type !== "ok" || invMs < endOf(clear)),
    );
  }

  /** Whether dead letters may have come back by then. */
  wereRedriven(atMs: number): boolean {
    return this.each("redrive").some(({ type, invMs }) => type !== "fail" && invMs < atMs);
  }

  each(f: string): Operation[] {
    return this.operations.filter((operation) => operation.f === f);
  }

  /** Of each message, those with a token, the smallest first. */
  deliveries(): ReadonlyMap<string, readonly Operation[]> {
    const deliveries = new Map<string, readonly Operation[]>();
    for (const [id, all] of this.#byId) {
      const handed = all.filter(({ f }) => f === "deliver").sort(byToken);
      if (handed.length > 0) deliveries.set(id, handed);
    }
    return deliveries;
  }

  #know(push: Operation): void {
    if (push.type !== "ok") return;
    // Where data was lost, a number may be given once more: the first push says since when.
    for (const { id, body, isNew } of pushedOf(push).messages)
      if (id !== null && isNew && !this.known.has(id)) this.known.set(id, { id, body, push });
  }

  #note(id: string, operation: Operation): void {
    const list = this.#byId.get(id);
    if (list) list.push(operation);
    else this.#byId.set(id, [operation]);
  }
}

function idsOf({ f, value }: Operation): readonly string[] {
  if (value === undefined || value === null) return [];
  if (f === "left" || f === "drop") return (value as Left).ids;
  if (f === "dead") return (value as Dead).letters.map(({ id }) => id);
  const { id } = value as { readonly id?: string };
  return id === undefined ? [] : [id];
}

export function pushedOf({ value }: Operation): Pushed {
  return (value as Pushed | undefined) ?? { messages: [] };
}

export function handedOf({ value }: Operation): Handed {
  return value as Handed;
}

export function settledOf({ value }: Operation): Settled {
  return value as Settled;
}

export function tokenOf({ token = 0n }: Operation): bigint {
  return token;
}

export function byToken(a: Operation, b: Operation): number {
  if (tokenOf(a) === tokenOf(b)) return 0;
  return tokenOf(a) < tokenOf(b) ? -1 : 1;
}

export function endOf({ retMs }: Operation): number {
  return retMs ?? Number.POSITIVE_INFINITY;
}

/** Every message whose push was answered was acknowledged, is dead, was taken off on purpose, or is still there. */
export function checkLost(property: string, messages: Messages, facts: MessageFacts): Breach[] {
  // A pop of a process that died may have taken any message along.
  let doubtful =
    messages.operations.filter(({ f, retMs }) => f === "pop" && retMs === null).length + (facts.dropped ?? 0);
  const lost: Message[] = [];
  // What is left is known as of the last look.
  const left = messages.each("left").at(-1);
  for (const message of messages.known.values()) {
    if (left && endOf(message.push) > left.invMs) continue;
    const ends = messages.of(message.id).filter((one) => isEnd(one) || isForgotten(one, messages, facts));
    if (ends.some((one) => one.f !== "left" || one === left)) continue;
    if (facts.wasLost(message.push.invMs, facts.endMs) || messages.wereCleared(message.push)) continue;
    // Only the newest dead letters are kept, and what nobody has seen may be dead.
    if (facts.keptDead !== undefined) continue;
    if (doubtful-- > 0) continue;
    lost.push(message);
  }
  return lost.slice(0, 1).map(({ id, body, push }) => {
    const what = `${body} (message ${id}), pushed until ${ms(push.retMs)}, is gone, and nobody acknowledged it`;
    const message = lost.length > 1 ? `${what}; so are ${lost.length - 1} more` : what;
    return { property, key: push.key, operations: [push, ...messages.of(id)], message, atMs: facts.endMs };
  });
}

/** A copy of an ack that counted is late where the server has forgotten the first one: its clock was set forward, or all was deleted meanwhile. */
export function isForgotten(ack: Operation, messages: Messages, { wasClockSet }: MessageFacts): boolean {
  const { f, type, invMs } = ack;
  return (
    f === "ack" &&
    type === "fail" &&
    (wasClockSet(invMs, endOf(ack)) || messages.wereCleared(ack, endOf(ack)))
  );
}

function isEnd({ f, type, value }: Operation): boolean {
  // An ack whose answer is missing may have counted.
  if (f === "ack" || f === "cancel") {
    const isRefused = (value as Partial<Cancelled>).isCancelled === false;
    return type !== "fail" && !isRefused;
  }
  return (f === "pop" && type === "ok") || ["left", "dead", "drop"].includes(f);
}

/** Of the acks, pops and cancels of one message, one is answered as done, and nobody is given the message after an ack. */
export function checkSettledOnce(property: string, messages: Messages, facts: MessageFacts): Breach[] {
  const done = new Map<string, Operation>();
  const breach = (message: string, operations: readonly Operation[], atMs: number): Breach[] => [
    { property, key: operations[0]?.key ?? "", operations, message, atMs },
  ];
  for (const operation of messages.operations.filter(isDone)) {
    const { id } = settledOf(operation);
    const pushedMs = messages.known.get(id)?.push.invMs ?? 0;
    const before = done.get(id);
    done.set(id, operation);
    // A cancel may be repeated.
    const isRepeat = before?.f === "cancel" && operation.f === "cancel";
    if (before && !isRepeat && !facts.wasLost(pushedMs, endOf(operation))) {
      const message = `message ${id} was done twice: ${before.f} by ${before.process}, ${operation.f} by ${operation.process}`;
      return breach(message, [before, operation], endOf(operation));
    }
    if (operation.f !== "ack") continue;
    const again = messages.of(id).find((one) => one.f === "deliver" && tokenOf(one) > tokenOf(operation));
    if (!again || facts.wasLost(pushedMs, Math.max(endOf(operation), again.invMs))) continue;
    const message = `message ${id} was delivered with ${again.token}, and the ack of ${operation.token} counted`;
    return breach(message, [operation, again], again.invMs);
  }
  return [];
}

/** Nobody is given a message after its cancel was answered. */
export function checkCancelled(property: string, messages: Messages, facts: MessageFacts): Breach[] {
  for (const cancel of messages.each("cancel")) {
    const { id, isCancelled } = cancel.value as Cancelled;
    if (cancel.type !== "ok" || !isCancelled || cancel.serverUs === undefined) continue;
    const since = BigInt(cancel.serverUs);
    const delivery = messages.of(id).find((one) => one.f === "deliver" && tokenOf(one) > since);
    // A failover between the two may have brought the message back, and an older clock with it.
    const untilMs = Math.max(delivery?.invMs ?? 0, cancel.invMs);
    if (!delivery || facts.wasLost(messages.known.get(id)?.push.invMs ?? 0, untilMs)) continue;
    const message = `${delivery.process} has message ${id}, which ${cancel.process} had cancelled`;
    return [{ property, key: cancel.key, operations: [cancel, delivery], message, atMs: delivery.invMs }];
  }
  return [];
}

/** Certainly the end of its message. */
export function isDone({ f, type, value }: Operation): boolean {
  // A pop without a value has found nothing.
  if (type !== "ok" || value === undefined) return false;
  if (f === "cancel") return (value as Cancelled).isCancelled === true;
  return f === "ack" || f === "pop";
}

/** A later delivery has a larger token, each token is of one delivery, and an ack counts only with the newest. */
export function checkTokens(property: string, messages: Messages, facts: MessageFacts): Breach[] {
  const seen = new Map<bigint, Operation>();
  const breach = (message: string, operations: readonly Operation[]): Breach[] => [
    {
      property,
      key: operations[0]?.key ?? "",
      operations,
      message,
      atMs: Math.max(...operations.map(({ invMs }) => invMs)),
    },
  ];
  for (const [id, deliveries] of messages.deliveries()) {
    const fromMs = messages.known.get(id)?.push.invMs ?? 0;
    for (const [place, delivery] of deliveries.entries()) {
      const same = seen.get(tokenOf(delivery));
      seen.set(tokenOf(delivery), delivery);
      if (same && !facts.wasLost(Math.min(same.invMs, fromMs), Math.max(same.invMs, delivery.invMs)))
        return breach(`${same.process} and ${delivery.process} have the token ${delivery.token}`, [
          same,
          delivery,
        ]);
      const before = deliveries[place - 1];
      if (!before || handedOf(before).attempt <= handedOf(delivery).attempt) continue;
      const lastMs = Math.max(before.invMs, delivery.invMs);
      if (facts.wasLost(fromMs, lastMs) || messages.wereRedriven(lastMs)) continue;
      const attempts = `attempt ${handedOf(before).attempt} of message ${id} has the token ${before.token}, and attempt ${handedOf(delivery).attempt} has ${delivery.token}`;
      return breach(attempts, [before, delivery]);
    }
  }
  for (const ack of messages.each("ack")) {
    const { id, isInTime } = settledOf(ack);
    const newer = messages
      .of(id)
      .find((one) => one.f === "deliver" && tokenOf(one) > tokenOf(ack) && one.invMs < ack.invMs);
    if (ack.type === "ok" && newer && !facts.wasLost(newer.invMs, endOf(ack)))
      return breach(`an ack of message ${id} with ${ack.token} counted after ${newer.token} was delivered`, [
        newer,
        ack,
      ]);
    const isRefused = ack.type === "fail" && isInTime && messages.each("clear").length === 0;
    if (isRefused) return breach(`an ack of message ${id} was refused in time`, [ack]);
  }
  return [];
}

/** A push makes one message of each body; and one that found its dedupe id makes none. */
export function checkOneEach(property: string, messages: Messages, facts: MessageFacts): Breach[] {
  const ids = new Map<string, string>();
  const pushes = new Map<string, Operation>();
  for (const push of messages.each("push"))
    for (const { id, body, isNew } of pushedOf(push).messages) {
      pushes.set(body, push);
      if (isNew === false) ids.set(body, "none");
      else if (id !== null) ids.set(body, id);
    }
  for (const handed of messages.operations.filter(
    ({ f, type }) => f === "deliver" || (f === "pop" && type === "ok"),
  )) {
    const { id, body } = (handed.value ?? {}) as Partial<Handed>;
    if (id === undefined || body === undefined) continue;
    const push = pushes.get(body);
    const known = ids.get(body) ?? id;
    ids.set(body, known);
    if (push && known === id) continue;
    // A push that is sent again after data was lost or deleted makes its message once more, and the first may have been delivered by then.
    const untilMs = Math.max(handed.invMs, push?.type === "ok" ? endOf(push) : 0);
    if (push && (facts.wasLost(push.invMs, untilMs) || facts.wasClockSet(push.invMs, untilMs))) continue;
    if (push && messages.wereCleared(push, endOf(push))) continue;
    const message = push
      ? `${body} was delivered as message ${id}, and its push made ${known === "none" ? "no message" : known}`
      : `${body} was delivered as message ${id}, and nobody pushed it`;
    return [
      {
        property,
        key: handed.key,
        operations: push ? [push, handed] : [handed],
        message,
        atMs: handed.invMs,
      },
    ];
  }
  return [];
}
