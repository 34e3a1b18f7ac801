/**
 * Every key and channel that holdfast uses. The keys of one object share a hash tag, so that a cluster
 * keeps them in one slot.
 */

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

/** The list of limits of which something may be used: see limits/limit-index.ts. */
export function limitIndexKey(prefix: string, name: string): string {
  return `${prefix}:{${name}}:limits`;
}

/** The key of a fenced record. */
export function fencedKey(prefix: string, name: string): string {
  return `${prefix}:{${name}}:fenced`;
}

/** The channel that carries grants and other messages to one process. */
export function inboxChannel(prefix: string, processId: string): string {
  return `${prefix}:inbox:${processId}`;
}
