/** The real time that a run took: for people, never for what happens in it. */

/** Returns how many ms have passed since. */
export function stopwatch(): () => number {
  const sinceMs = performance.now();
  return () => performance.now() - sinceMs;
}
