/** What went wrong, for the person in front of the terminal. */

/** Something that the application needs is missing: the user's to mend. */
export class Unavailable extends Error {
  override readonly name = "Unavailable";
}

/** JavaScript's own errors are a defect of the program: only then does a stack help anybody. */
const DEFECTS = [TypeError, ReferenceError, RangeError, SyntaxError] as const;

/** The message; with the stack if the program itself is at fault. */
export function toldOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isDefect = DEFECTS.some((defect) => error instanceof defect);
  return isDefect ? (error.stack ?? error.message) : error.message || error.name;
}
