/** What the program says to the shell. */
export const EXIT = {
  ok: 0,
  /** A guarded variant oversold, or the sale could not be held. */
  broken: 1,
  /** As in sysexits.h: wrong arguments. */
  usage: 64,
  /** As in sysexits.h: Redis or nginx is not there. */
  unavailable: 69,
} as const;

/** Something that the sale needs is not there: the user's to mend, so it is told without a stack. */
export class Unavailable extends Error {
  override readonly name = "Unavailable";
}
