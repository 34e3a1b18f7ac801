/** What the program says to the shell. */
export const EXIT = {
  ok: 0,
  /** The load run broke a promise, or the application could not be run. */
  broken: 1,
  /** As in sysexits.h: wrong arguments. */
  usage: 64,
  /** As in sysexits.h: Redis, PostgreSQL or the port is not available. */
  unavailable: 69,
} as const;
