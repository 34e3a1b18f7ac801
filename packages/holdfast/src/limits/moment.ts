/** Moments: when a caller says that something happened. */
import { InvalidArgumentError } from "../errors.js";
import { show } from "../time/duration.js";
import type { Terms } from "./terms.js";
import { namesOfTypes, types } from "./types.js";

/** In ms a time of 1973: whoever says less means seconds. */
const IN_SECONDS = 1e11;

/** In us. @throws {InvalidArgumentError} */
export function momentUs(atMs: number | null): number | null {
  if (atMs === null) return null;
  if (Number.isFinite(atMs) && atMs >= IN_SECONDS) return Math.round(atMs * 1_000);
  throw new InvalidArgumentError(
    "atMs",
    `must be milliseconds since 1970, and not seconds, not ${show(atMs)}`,
  );
}

/** What happened earlier counts for less only where that regenerates evenly. @throws {InvalidArgumentError} */
export function checkLate({ policy: { type } }: Terms, { atMs }: { readonly atMs: number | null }): void {
  if (atMs === null || types[type].frees === "evenly") return;
  const suitable = namesOfTypes(({ frees }) => frees === "evenly");
  throw new InvalidArgumentError("atMs", `is for ${suitable}, and for refunds: leave it out for ${type}`);
}
