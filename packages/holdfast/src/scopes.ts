/**
 * Scopes: what the code runs within, told by its async context. One storage for all nouns, because each that was ever used costs every
 * promise of the process.
 */
import { AsyncLocalStorage } from "node:async_hooks";

/** What code can run within, and outlive. */
export interface Enclosing {
  readonly isLive: boolean;
}

const scopes = new AsyncLocalStorage<Scope>();

export class Scope {
  readonly what: Enclosing;
  #around: Scope | null = scopes.getStore() ?? null;

  /** Within all that this code runs within. */
  constructor(what: Enclosing) {
    this.what = what;
    // Code that starts each run within the one before would keep them all.
    for (let scope: Scope | null = this; scope; scope = scope.around);
  }

  /** The nearest one around this one that has not ended. */
  get around(): Scope | null {
    while (this.#around && !this.#around.what.isLive) this.#around = this.#around.#around;
    return this.#around;
  }

  run<Value>(work: () => Value): Value {
    return scopes.run(this, work);
  }
}

/** The first one that `find` knows, from this one outwards. */
export function innermost<Found>(
  find: (what: Enclosing) => Found | null,
  from = scopes.getStore() ?? null,
): Found | null {
  for (let scope = from; scope; scope = scope.around) {
    const found = scope.what.isLive ? find(scope.what) : null;
    if (found) return found;
  }
  return null;
}
