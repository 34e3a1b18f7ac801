/** Milliseconds since 1970 with a fraction: one time line for every process of this machine. */
export function epochMs(): number {
  return performance.timeOrigin + performance.now();
}
