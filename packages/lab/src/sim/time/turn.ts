/**
 * A turn of the event loop, made by hand: what promises, nextTick and setImmediate have queued runs at once, before
 * the world moves on.
 */

type Callback = (...args: unknown[]) => void;

interface Immediate {
  run: (() => void) | null;
}

/** Taken before anybody could replace them. */
const { setImmediate: realSetImmediate, clearImmediate: realClearImmediate } = globalThis;

/**
 * Node calls this itself between two callbacks of one phase. It is not documented, but has been there since the first
 * versions (checked: 20, 22, 24, 26). A turn of the real event loop instead costs five times as much, and lets code
 * in that is none of the simulation.
 */
const runQueues = (process as unknown as { _tickCallback?: () => void })._tickCallback;

let immediates: Immediate[] = [];

/** Calls back in a turn of the real event loop, where `endTurn` works. */
export function inNewTurn(run: () => void): void {
  if (runQueues === undefined) throw new Error("this version of Node has no process._tickCallback");
  realSetImmediate(run);
}

/** Runs everything that is queued, and what it queues, until nothing is left. */
export function endTurn(): void {
  runQueues?.();
  while (immediates.length > 0) {
    const now = immediates;
    immediates = [];
    for (const { run } of now) {
      run?.();
      runQueues?.();
    }
  }
}

/** Runs after all that is queued now, as setImmediate does, while a world runs. */
export function soon(run: () => void): void {
  immediates.push({ run });
}

/** From now on setImmediate is ours. Returns how to give it back. */
export function takeImmediates(): () => void {
  immediates = [];
  globalThis.setImmediate = ((callback: Callback, ...args: unknown[]) => {
    const immediate: Immediate = { run: () => callback(...args) };
    immediates.push(immediate);
    return immediate;
  }) as unknown as typeof setImmediate;
  globalThis.clearImmediate = ((immediate: Immediate | undefined) => {
    if (immediate) immediate.run = null;
  }) as unknown as typeof clearImmediate;
  return () => {
    globalThis.setImmediate = realSetImmediate;
    globalThis.clearImmediate = realClearImmediate;
  };
}
