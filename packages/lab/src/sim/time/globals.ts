/**
 * The clock, the timers and the chance that a client library finds in its surroundings. While a world with real clients
 * runs they are those of the process whose code runs; afterwards they are what they were.
 */
import { createRequire, syncBuiltinESMExports } from "node:module";

type Callback = (...args: unknown[]) => void;

/** What a process of a world offers in their place. */
export interface Surroundings {
  readonly monoMs: number;
  readonly wallMs: number;
  fraction(): number;
  after(delayMs: number, callback: () => void): () => void;
}

const require = createRequire(import.meta.url);
const timersPromises = require("node:timers/promises") as { setTimeout: unknown };
const timers = require("node:timers") as Record<string, unknown>;

/** A timer as Node's: an object with methods, and a number where one is needed. */
class Timer {
  #cancel: () => void;
  readonly #surroundings: Surroundings;
  readonly #run: () => void;
  readonly #delayMs: number;
  readonly #repeats: boolean;

  constructor(surroundings: Surroundings, run: () => void, delayMs: number, repeats: boolean) {
    this.#surroundings = surroundings;
    this.#run = run;
    this.#delayMs = delayMs;
    this.#repeats = repeats;
    this.#cancel = this.#set();
  }

  #set(): () => void {
    return this.#surroundings.after(this.#delayMs, () => {
      if (this.#repeats) this.#cancel = this.#set();
      this.#run();
    });
  }

  refresh(): this {
    this.#cancel();
    this.#cancel = this.#set();
    return this;
  }

  close(): void {
    this.#cancel();
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }
}

/** @param current whose code runs; asked at every call. Returns how to give everything back. */
export function takeGlobals(current: () => Surroundings): () => void {
  const realDate = globalThis.Date;
  const set =
    (repeats: boolean) =>
    (callback: Callback, delayMs = 1, ...args: unknown[]): Timer =>
      new Timer(current(), () => callback(...args), delayMs, repeats);
  const clear = (timer: unknown): void => {
    if (timer instanceof Timer) timer.close();
  };
  class WorldDate extends realDate {
    constructor(...args: number[]) {
      // As many arguments as Date has: none means now.
      super(...((args.length === 0 ? [current().wallMs] : args) as [number]));
    }

    static override now(): number {
      return current().wallMs;
    }
  }
  const sleep = (delayMs: number, value: unknown): Promise<unknown> =>
    new Promise((resolve) => void current().after(delayMs, () => resolve(value)));
  const ours = { setTimeout: set(false), setInterval: set(true), clearTimeout: clear, clearInterval: clear };
  const giveBack = [
    replace(globalThis, { ...ours, Date: WorldDate }),
    replace(timers, ours),
    replace(timersPromises, { setTimeout: sleep }),
    replace(Math, { random: () => current().fraction() }),
    replace(performance, { now: () => current().monoMs }),
  ];
  syncBuiltinESMExports();
  return () => {
    for (const give of giveBack) give();
    syncBuiltinESMExports();
  };
}

/** Puts `values` in the place of what `object` has. Returns how to give it back. */
export function replace(object: object, values: Record<string, unknown>): () => void {
  const before = Object.keys(values).map(
    (name) => [name, Object.getOwnPropertyDescriptor(object, name)] as const,
  );
  for (const [name, value] of Object.entries(values))
    Object.defineProperty(object, name, { value, writable: true, configurable: true });
  return () => {
    for (const [name, descriptor] of before) {
      if (descriptor) Object.defineProperty(object, name, descriptor);
      else delete (object as Record<string, unknown>)[name];
    }
  };
}
