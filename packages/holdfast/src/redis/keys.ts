/**
 * Every key and channel that holdfast uses. The keys of one object share a hash tag, so that a cluster
 * keeps them in one slot.
 */
import { escapePattern } from "./pattern.js";

/** The state of a lock: its lease and its last token. */
export function lockKey(prefix: string, name: string): string {
  return `${prefix}:{${name}}:lock`;
}

/** The four keys of a lock, in the order in which its scripts take them. */
export function lockKeys(prefix: string, name: string): string[] {
  const stem = `${prefix}:{${name}}:`;
  return [`${stem}lock`, `${stem}line`, `${stem}waiters`, `${stem}banned`];
}

/** Returns the name in the key of a lock, null for any other key. The client may have put a prefix of its own before it. */
export function lockNameOf(prefix: string, key: string): string | null {
  const before = `${prefix}:{`;
  const after = "}:lock";
  const start = key.indexOf(before);
  if (start < 0 || !key.endsWith(after)) return null;
  return key.slice(start + before.length, -after.length);
}

/** The four keys of a semaphore or a read-write lock, in the order in which their scripts take them. */
export function permitKeys(prefix: string, noun: "semaphore" | "rwlock", name: string): string[] {
  const stem = `${prefix}:{${name}}:${noun}`;
  return [stem, `${stem}:line`, `${stem}:waiters`, `${stem}:banned`];
}

/** The record of what the holder of a lease waits for. */
export function waitsKey(prefix: string, leaseId: string): string {
  return `${prefix}:{${leaseId}}:waits`;
}

/** The state of a limit for a target. All limits of one target are in one slot of a cluster. */
export function limitKey(prefix: string, type: string, name: string, target: string): string {
  return `${prefix}:{${target}}:limit:${type}:${name}`;
}

/** The key that marks a refund as done, so that a copy of it refunds nothing. */
export function refundKey(prefix: string, target: string, id: string): string {
  return `${prefix}:{${target}}:refund:${id}`;
}

/** Returns what the key of a limit names, null for any other key. The client may have put a prefix of its own before it. */
export function parseLimitKey(
  prefix: string,
  key: string,
): { readonly type: string; readonly name: string; readonly target: string } | null {
  const before = `${prefix}:{`;
  const start = key.indexOf(before);
  if (start < 0) return null;
  // Names are the program's own, targets may be anybody's: the last that reads so is the separator.
  const [, target, type, name] = /^(.+)\}:limit:([a-z]+):(.+)$/s.exec(key.slice(start + before.length)) ?? [];
  return target && type && name ? { type, name, target } : null;
}

/**
 * The keys of a subject's penalty and of its hits on a route. A stranger may choose both names: the lengths before them
 * keep the two apart from each other, and from every other key.
 */
export function guardKeys(prefix: string, name: string, subject: string, route: string): [string, string] {
  const of = `${subject.length}:{${subject}}:${name}`;
  // The length keeps ("a:b", "c") apart from ("a", "b:c").
  return [`${prefix}:strikes:${of}`, `${prefix}:hits:${name.length}:${of}:${route}`];
}

/** The state of an event, a latch or a barrier. Its channel has the same text. */
export function synchronizerKey(prefix: string, noun: "event" | "latch" | "barrier", name: string): string {
  return `${prefix}:{${name}}:${noun}`;
}

/** The five keys of a barrier, in the order in which its scripts take them. */
export function barrierKeys(prefix: string, name: string): string[] {
  const stem = synchronizerKey(prefix, "barrier", name);
  return [stem, `${stem}:leases`, `${stem}:arrivals`, `${stem}:tripped`, `${stem}:data`];
}

/** The key that marks a request as carried out, so that a copy of it changes nothing. */
export function requestKey(prefix: string, name: string, id: string): string {
  return `${prefix}:{${name}}:request:${id}`;
}

/** Returns the name in the key of a synchronizer, null for any other key. The client may have put a prefix of its own before it. */
export function synchronizerNameOf(prefix: string, noun: string, key: string): string | null {
  const before = `${prefix}:{`;
  const after = `}:${noun}`;
  const start = key.indexOf(before);
  if (start < 0 || !key.endsWith(after)) return null;
  return key.slice(start + before.length, -after.length);
}

/** The list of limits of which something may be used: see limits/limit-index.ts. */
export function limitIndexKey(prefix: string, name: string): string {
  return `${prefix}:{${name}}:limits`;
}

/** The key of a record. It is the channel of its changes as well. Records of one tag are in one slot of a cluster. */
export function recordKey(prefix: string, tag: string, name: string): string {
  return `${prefix}:{${tag}}:record:${name}`;
}

/** Nouns whose messages are delivered. */
export type DeliveryKind = "queue" | "lanes";

/** The keys of a queue, in the order in which its scripts take them; some take the first few only. queues/lua/_queue.lua says what they hold. */
export const QUEUE_KEYS = [
  "about",
  "line",
  "off",
  "away",
  "idle",
  "later",
  "again",
  "dead",
  "letters",
] as const;

/**
 * The keys of the lanes of a name, in the order in which their scripts take them; some take the first few only. lanes/lua/_lanes.lua
 * says what they hold.
 */
export const LANES_KEYS = [
  "about",
  "rec",
  "ready",
  "off",
  "away",
  "idle",
  "later",
  "again",
  "cancelled",
  "held",
  "dead",
  "letters",
] as const;

export function deliveryKey(prefix: string, kind: DeliveryKind, name: string, key: string): string {
  return key === "about" ? `${prefix}:{${name}}:${kind}` : `${prefix}:{${name}}:${kind}:${key}`;
}

/** The outcome of a message, and the channel that tells it. @param id in lanes its ticket */
export function outcomeKey(prefix: string, kind: DeliveryKind, name: string, id: string): string {
  return `${prefix}:{${name}}:${kind}:result:${id}`;
}

/** The key that keeps the dedupe id of a push. */
export function dedupeKey(prefix: string, name: string, id: string): string {
  return `${prefix}:{${name}}:queue:dedupe:${id}`;
}

/** The seats of a signal and the mail of its `emitOne`, in the order in which its scripts take them. */
export function signalKeys(prefix: string, name: string): [string, string] {
  return [`${prefix}:{${name}}:signal`, `${prefix}:{${name}}:mail`];
}

/** The key that keeps the outcome of one request of `emitOne`, so that a copy of it reaches nobody else. */
export function emittedKey(prefix: string, name: string, id: string): string {
  return `${prefix}:{${name}}:emitted:${id}`;
}

/** The key that keeps the id of the place: see place.ts. */
export function placeKey(prefix: string): string {
  return `${prefix}:place`;
}

/** The channel of a signal. */
export function signalChannel(prefix: string, name: string): string {
  return `${prefix}:signal:${name}`;
}

/** The pattern for the channels of all signals whose names match `pattern`. */
export function signalPattern(prefix: string, pattern: string): string {
  return `${escapePattern(prefix)}:signal:${pattern}`;
}

/** Returns what the key of a record names, null for any other key. The client may have put a prefix of its own before it. */
export function parseRecordKey(
  prefix: string,
  key: string,
): { readonly tag: string; readonly name: string } | null {
  const before = `${prefix}:{`;
  const start = key.indexOf(before);
  if (start < 0) return null;
  // No name of a record has the separator.
  const [, tag, name] = /^(.+)\}:record:(.+)$/s.exec(key.slice(start + before.length)) ?? [];
  return tag && name ? { tag, name } : null;
}

/** The channel that carries grants and other messages to one process. */
export function inboxChannel(prefix: string, processId: string): string {
  return `${prefix}:inbox:${processId}`;
}
