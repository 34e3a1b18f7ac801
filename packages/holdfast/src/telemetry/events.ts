/**
 * The events of holdfast, on channels of node:diagnostics_channel. A channel without a subscriber costs a
 * property read. Payloads are plain data, without handles and secrets.
 */
import { AsyncResource } from "node:async_hooks";
import { type Channel, channel } from "node:diagnostics_channel";
import type { CircleStep, DeliveryLossReason, LossReason, NodeMembership } from "../errors.js";

interface LockEvent {
  /** Name of the lock, as the caller gave it. */
  readonly lock: string;
}

interface LeaseEvent extends LockEvent {
  readonly fence: bigint;
}

/** The kinds of locks. A name is another lock for each of them. */
export type LockNoun = "mutex" | "semaphore" | "rwlock";

interface NounEvent {
  readonly noun: LockNoun;
}

interface ElectionEvent {
  /** Name of the election, as the caller gave it. */
  readonly election: string;
  readonly term: bigint;
}

interface OnceEvent {
  /** The key, as the caller gave it. */
  readonly key: string;
}

interface QueueEvent {
  /** Name of the queue, or of the lanes, as the caller gave it. */
  readonly queue: string;
}

interface DeliveryEvent extends QueueEvent {
  /** The lane of the message; null: it is of a queue without lanes. */
  readonly lane: string | null;
  /** The id of the message. */
  readonly id: string;
  readonly token: bigint;
  readonly attempt: number;
}

/** Channel name -> payload. Subscribe with `diagnostics_channel.subscribe("holdfast:lock:acquired", …)`. */
export interface HoldfastEvents {
  /** A caller got the lock, `waitedMs` after its call. `local`: another caller of this process passed it on. */
  "holdfast:lock:acquired": LeaseEvent & NounEvent & { readonly waitedMs: number; readonly local: boolean };
  /** The lock was not free: this process waits in line behind `ahead` others, not counting the holder. */
  "holdfast:lock:waiting": LockEvent & NounEvent & { readonly ahead: number };
  /** One renewal request was answered after `tookMs`; `lost` of the `leases` that nobody had given back by then were lost. */
  "holdfast:lock:renewed": { readonly leases: number; readonly lost: number; readonly tookMs: number };
  /** A renewal had no reply. The leases go on until their deadlines, and the renewal is retried. */
  "holdfast:lock:renewal-unknown": { readonly leases: number; readonly error: Error };
  /** A lease ended before its release. The process noticed it `lateMs` after the end. */
  "holdfast:lock:lost": LeaseEvent &
    NounEvent & { readonly reason: LossReason; readonly lateMs: number; readonly heldMs: number };
  /** A holder released its live lease, `heldMs` after it got it. */
  "holdfast:lock:released": LeaseEvent & NounEvent & { readonly heldMs: number };
  /** A holder handed its lease over, `heldMs` after it got it. Nobody may have adopted it yet. */
  "holdfast:lock:handed-out": LeaseEvent & NounEvent & { readonly heldMs: number };
  /** This process adopted a lease that another holder had handed over. */
  "holdfast:lock:adopted": LeaseEvent & NounEvent & { readonly from: bigint };
  /** A wait could never end, and rejected with DeadlockError, `waitedMs` after its call. `circle`: as in the error. */
  "holdfast:lock:deadlock": LockEvent &
    NounEvent & { readonly waitedMs: number; readonly circle: readonly CircleStep[] };
  /** A release handed the lock to the next process in line. */
  "holdfast:lock:handed-over": LockEvent;
  /**
   * A grant has a token that is more than a second ahead of the server's clock, for example because the clock was set back,
   * or a `floor` was ahead of it. Tokens go on rising, unless the server loses its data before its clock has caught up.
   */
  "holdfast:lock:token-ahead": LeaseEvent & { readonly aheadMs: number };
  /**
   * A grant has a token that is not above a token that this process had before: the server lost its data, and its clock is
   * behind. No caller gets that token. The process acquires again, above `seen`.
   */
  "holdfast:lock:token-regression": LeaseEvent & { readonly seen: bigint };
  /**
   * The server lost data that it had: it restarted, another server replaced it, or somebody deleted the data. `scripts` alone
   * does not prove that locks were lost. `lock` means that this lock was lost, and that the lease on it is over.
   */
  "holdfast:server:forgot": { readonly what: "scripts" } | { readonly what: "lock"; readonly lock: string };
  /** A barrier's generation tripped with a party of this process, which had waited for `waitedMs`. */
  "holdfast:barrier:passed": {
    readonly barrier: string;
    readonly generation: bigint;
    readonly index: number;
    readonly waitedMs: number;
  };
  /** The lease of an arrival of this process expired, and its generation is over without it. */
  "holdfast:barrier:lapsed": { readonly barrier: string; readonly generation: bigint };
  /** This process set an event. */
  "holdfast:event:set": { readonly event: string; readonly version: bigint };
  /** This process cleared an event. Where the event was not set, the version is that of its last change. */
  "holdfast:event:cleared": { readonly event: string; readonly version: bigint };
  /** This process counted a latch down to `count`; 0: it opened it. `by`: the party that counted; null: nobody in particular. */
  "holdfast:latch:counted": { readonly latch: string; readonly count: number; readonly by: string | null };
  /** This process leads, `waitedMs` after it began to campaign. `announced`: others can read its value already. */
  "holdfast:election:elected": ElectionEvent & { readonly waitedMs: number; readonly announced: boolean };
  /** A leader gave up its leadership, `ledMs` after it was elected. */
  "holdfast:election:resigned": ElectionEvent & { readonly ledMs: number };
  /** A leadership ended before its leader gave it up. The process noticed it `lateMs` after the end. */
  "holdfast:election:lost": ElectionEvent & {
    readonly reason: LossReason;
    readonly lateMs: number;
    readonly ledMs: number;
  };
  /** A leader handed over to the candidate with the id `to`, who leads with `nextTerm`. */
  "holdfast:election:transferred": ElectionEvent & {
    readonly to: string;
    readonly label: string;
    readonly nextTerm: bigint;
    readonly ledMs: number;
  };
  /** An update of a record was overtaken by another writer, for the `conflicts`th time, and goes on from the newer value. */
  "holdfast:record:conflict": { readonly record: string; readonly conflicts: number };
  /** Redis could not be reached for a charge, and the limit's `outage` decided. */
  "holdfast:limit:outage": {
    readonly limit: string;
    readonly outage: "error" | "open" | "closed" | "local";
    readonly error: Error;
  };
  /** A hit exceeded the guard's limit, and its subject got a penalty. */
  "holdfast:guard:punished": {
    readonly guard: string;
    readonly subject: string;
    readonly route: string;
    readonly strikes: number;
    readonly kind: string;
    readonly forMs: number;
  };
  /** Redis could not be reached for a hit, and the guard's `outage` decided. */
  "holdfast:guard:outage": {
    readonly guard: string;
    readonly outage: "error" | "open" | "closed" | "local";
    readonly error: Error;
  };
  /** A list of a guard could not be loaded. The guard uses the list that it loaded before, or none. */
  "holdfast:guard:list-failed": {
    readonly guard: string;
    readonly list: "allow" | "deny";
    readonly error: unknown;
  };
  /** Redis knows that a caller waits: it hears every later `emit`, and `emitOne` can choose it. Names and patterns. */
  "holdfast:signal:waiting": { readonly signals: readonly string[] };
  /** The subscription to a signal, or a pattern, was down for `forMs`. Signals of that time were not heard here. */
  "holdfast:signal:interrupted": { readonly signal: string; readonly forMs: number };
  /** A signal of `emitOne` came to this process, where nobody waited any more, and went to another process. */
  "holdfast:signal:passed-on": { readonly signal: string };
  /**
   * A signal may be lost. `unanswered`: nobody waited in this process, which `emitOne` had chosen, and the request that passes the
   * signal on had no answer. `unreadable`: another program published something on the channel.
   */
  "holdfast:signal:dropped": { readonly signal: string; readonly reason: "unanswered" | "unreadable" };
  /** A message on a channel of holdfast could not be read, and nothing of it is believed. Another program published it. */
  "holdfast:message:dropped": { readonly error: Error };
  /**
   * Messages came from another server than requests go to, as after a failover. This process makes another connection for them. The
   * last `connections` led elsewhere.
   */
  "holdfast:inbox:elsewhere": { readonly connections: number };
  /** The work of `hf.once` ran for `tookMs`, and its result is stored for `keepMs`. */
  "holdfast:once:ran": OnceEvent & {
    readonly fence: bigint;
    readonly tookMs: number;
    readonly keepMs: number;
  };
  /** A stored outcome answered a call of `hf.once`, after `waitedMs`. */
  "holdfast:once:skipped": OnceEvent & { readonly waitedMs: number };
  /** The work of `hf.once` failed, or its result could not be stored. `stored`: its error is the outcome for other callers. */
  "holdfast:once:failed": OnceEvent & {
    readonly fence: bigint;
    readonly error: unknown;
    readonly stored: boolean;
  };
  /** A handler of `consume` returned after `tookMs`, and its delivery was acknowledged. */
  "holdfast:queue:done": DeliveryEvent & { readonly tookMs: number };
  /** A handler of `consume` threw, or timed out, after `tookMs`. The message goes back, or becomes a dead letter after its last attempt. */
  "holdfast:queue:failed": DeliveryEvent & {
    readonly error: unknown;
    readonly tookMs: number;
    /** Whether it was the last attempt. Null: these are lanes without options here, and other processes decide. */
    readonly isLast: boolean | null;
  };
  /**
   * A consumer takes nothing more, because `handlers` handlers still run after their `timeout`: as many as its `concurrency`. It goes on
   * when one of them ends.
   */
  "holdfast:queue:stuck": QueueEvent & { readonly handlers: number };
  /** A consumer has ended, because Redis refuses its requests and will refuse them again. */
  "holdfast:queue:ended": QueueEvent & { readonly error: Error };
  /** A delivery ended before it was settled, so its message may be with another process. */
  "holdfast:queue:lost": DeliveryEvent & { readonly reason: DeliveryLossReason };
  /** A handler returned what cannot be stored: its message is done, and has no result. */
  "holdfast:queue:unstored": DeliveryEvent & { readonly error: unknown };
  /** A settlement of `consume` had no answer: nobody knows whether the message is done. Redis delivers it again if it is not. */
  "holdfast:queue:unsettled": DeliveryEvent & { readonly error: Error };
  /** A request failed, and consumers of this process get nothing: told once, until one is answered. They go on by themselves. */
  "holdfast:queue:outage": QueueEvent & { readonly error: Error };
  /** This process found `count` deliveries whose process is dead or whose deadline passed, or messages that were due, and put them in line. */
  "holdfast:queue:returned": QueueEvent & { readonly count: number };
  /** A push displaced the `count` oldest messages, because the queue was full. */
  "holdfast:queue:dropped": QueueEvent & { readonly count: number };
  /** A middleware is set up in a way that is probably a mistake. Each middleware reports a problem once. */
  "holdfast:middleware:misuse": {
    readonly problem: "forwarded-ignored" | "forwarded-missing" | "charged-twice";
    readonly limit: string | null;
    readonly remedy: string;
  };
  /** After a response, a refund or a hit of its request failed. */
  "holdfast:middleware:unsettled": { readonly error: unknown };
  /** A node of a Redlock votes, or votes no more. `reason` is null for a node that votes. */
  "holdfast:redlock:node": {
    readonly node: string;
    readonly membership: NodeMembership;
    readonly reason: string | null;
  };
  /** A claim without a quorum gave its seat at this node to a claim that came before it. */
  "holdfast:redlock:yielded": LockEvent & { readonly node: string };
  /** A held lock got its seat at this node back, which it had lost while the quorum held. */
  "holdfast:redlock:returned": LockEvent & { readonly node: string };
  /** The server's clock moved by `jumpMs` against this process's clock: it was set, or another server answers. */
  "holdfast:server:clock-jump": { readonly jumpMs: number };
}

/** Shared with other copies of holdfast in the process. */
const CHANNELS = Symbol.for("holdfast.channels");

/** In whose async context an event is: that of the call, the lease, the delivery or the consumer that it is about, or nobody's. */
const NAMES: { readonly [Name in keyof HoldfastEvents]: "own" | "none" } = {
  "holdfast:lock:acquired": "own",
  "holdfast:lock:waiting": "own",
  "holdfast:lock:renewed": "none",
  "holdfast:lock:renewal-unknown": "none",
  "holdfast:lock:lost": "own",
  "holdfast:lock:released": "own",
  "holdfast:lock:handed-out": "own",
  "holdfast:lock:adopted": "own",
  "holdfast:lock:deadlock": "own",
  "holdfast:lock:handed-over": "none",
  "holdfast:lock:token-ahead": "none",
  "holdfast:lock:token-regression": "none",
  "holdfast:server:forgot": "none",
  "holdfast:barrier:passed": "own",
  "holdfast:barrier:lapsed": "own",
  "holdfast:event:set": "own",
  "holdfast:event:cleared": "own",
  "holdfast:latch:counted": "own",
  "holdfast:election:elected": "own",
  "holdfast:election:resigned": "own",
  "holdfast:election:lost": "own",
  "holdfast:election:transferred": "own",
  "holdfast:record:conflict": "own",
  "holdfast:limit:outage": "own",
  "holdfast:guard:punished": "own",
  "holdfast:guard:outage": "own",
  "holdfast:guard:list-failed": "none",
  "holdfast:signal:waiting": "own",
  "holdfast:signal:interrupted": "none",
  "holdfast:signal:passed-on": "none",
  "holdfast:signal:dropped": "none",
  "holdfast:message:dropped": "none",
  "holdfast:inbox:elsewhere": "none",
  "holdfast:once:ran": "own",
  "holdfast:once:skipped": "own",
  "holdfast:once:failed": "own",
  "holdfast:queue:done": "own",
  "holdfast:queue:failed": "own",
  "holdfast:queue:stuck": "own",
  "holdfast:queue:ended": "own",
  "holdfast:queue:lost": "own",
  "holdfast:queue:unstored": "own",
  "holdfast:queue:unsettled": "own",
  "holdfast:queue:outage": "none",
  "holdfast:queue:returned": "none",
  "holdfast:queue:dropped": "none",
  "holdfast:middleware:misuse": "own",
  "holdfast:middleware:unsettled": "own",
  "holdfast:redlock:node": "none",
  "holdfast:redlock:yielded": "none",
  "holdfast:redlock:returned": "none",
  "holdfast:server:clock-jump": "none",
};

/**
 * All channels, for the life of the process. Node 20 loses a channel that nobody refers to, also when it was made anew meanwhile: who
 * subscribes after that would hear nothing.
 */
const channels = channelsOfProcess();

const nobody = new AsyncResource("holdfast");

function channelsOfProcess(): Record<keyof HoldfastEvents, Channel> {
  const shared: Record<symbol, Record<string, Channel> | undefined> = globalThis as object as Record<
    symbol,
    never
  >;
  shared[CHANNELS] ??= {};
  const all = shared[CHANNELS];
  for (const name of Object.keys(NAMES)) all[name] ??= channel(name);
  return all as Record<keyof HoldfastEvents, Channel>;
}

export function isHeard(name: keyof HoldfastEvents): boolean {
  return channels[name].hasSubscribers;
}

/** The async context of a caller, for events about it that are found in that of somebody else. Null: nobody's. */
export type CallerContext = { runInAsyncScope(call: () => void): unknown } | null;

/** Null where nobody hears the event, so that it costs nothing then. */
export function callerContext(name: keyof HoldfastEvents): CallerContext {
  return isHeard(name) ? new AsyncResource("holdfast") : null;
}

/** @param context of the caller, where this is not its own code */
export function publish<Name extends keyof HoldfastEvents>(
  name: Name,
  payload: () => HoldfastEvents[Name],
  context?: CallerContext,
): void {
  const target = channels[name];
  if (!target.hasSubscribers) return;
  if (context === undefined && NAMES[name] === "own") target.publish(payload());
  else (context ?? nobody).runInAsyncScope(() => target.publish(payload()));
}
