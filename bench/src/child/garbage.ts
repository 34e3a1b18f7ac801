/**
 * Collects what came before, so that a slice does not pay for it. Only the young: a full collection takes the shapes of objects along
 * of which none is alive, and with them the optimised code that knows them. The slice would then measure how V8 makes it again.
 */
export function collectYoung(): void {
  globalThis.gc?.({ type: "minor" });
}
