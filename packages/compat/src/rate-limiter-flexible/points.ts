/** Points as callers give them: whole numbers, also as text. */

/** @throws {Error} they are no whole number, in the words of the original */
export function wholePoints(points: unknown): number {
  if (typeof points === "string") {
    if (/^[1-9][0-9]*$/.test(points)) return Number(points);
    throw new Error("Consuming string different than integer values is not supported by this package");
  }
  if (Number.isInteger(points)) return points as number;
  throw new Error("Consuming decimal number of points is not supported by this package");
}
