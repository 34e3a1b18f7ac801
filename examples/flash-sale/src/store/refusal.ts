/** The ledger refused a holder because a later one has been there. Known by its code, to load no variant for it. */
export function isStaleRefusal(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "STALE_TOKEN";
}
