/** Values that PostgreSQL refuses: it answered, so nothing is unknown, and a repeat is refused again. */

/** Classes of SQLSTATE: 22, data that does not fit its column; 23, a constraint. */
const REFUSALS = /^2[23]/;

/** The constraint, or else the SQLSTATE. Null: some other error. */
export function brokenConstraint(error: unknown): string | null {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return null;
  if (error.code.length !== 5 || !REFUSALS.test(error.code)) return null;
  return "constraint" in error && typeof error.constraint === "string" ? error.constraint : error.code;
}
