/**
 * Every key and channel that holdfast uses. The keys of one object share a hash tag, so that a cluster
 * keeps them in one slot.
 */

/** The five keys of a lock, in the order in which its scripts take them. */
export function lockKeys(prefix: string, name: string): string[] {
  const stem = `${prefix}:{${name}}:`;
  return [`${stem}lock`, `${stem}fence`, `${stem}line`, `${stem}waiters`, `${stem}gone`];
}

/** The key of a fenced record. */
export function recordKey(prefix: string, name: string): string {
  return `${prefix}:{${name}}:record`;
}

/** The channel on which one process hears what was granted to it. */
export function inboxChannel(prefix: string, processId: string): string {
  return `${prefix}:inbox:${processId}`;
}
