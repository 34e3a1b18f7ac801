/** Tests of hazards: each title ends with the hazards that it shows, `[H21]`, or `[breaks H21]` for a naive recipe. */
import { test } from "vitest";

/** @throws {RangeError} the title names no hazard, so that docs/hazards.md would not show the test */
export function hazardTest(title: string, run: () => Promise<void> | void): void {
  if (!/\[(?:breaks )?H\d\d(?:, H\d\d)*\]$/.test(title)) throw new RangeError(`which hazard? ${title}`);
  test(title, run);
}
