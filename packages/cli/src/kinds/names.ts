/** The names of the kinds alone: the command loads what it knows of a kind only when it is used. */
export const KIND_NAMES = [
  "lock",
  "semaphore",
  "rwlock",
  "election",
  "once",
  "event",
  "latch",
  "barrier",
  "signal",
  "queue",
  "lanes",
] as const;
export type KindName = (typeof KIND_NAMES)[number];
