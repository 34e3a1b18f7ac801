/** What the program says to the shell. */
export const EXIT = {
  ok: 0,
  /** A guarded variant oversold, or the sale could not be held. */
  broken: 1,
  /** As in sysexits.h: wrong arguments. */
  usage: 64,
  /** As in sysexits.h: Redis, nginx or the port is not to be had. */
  unavailable: 69,
} as const;
