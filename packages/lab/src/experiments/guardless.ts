/** holdfast with one line of one of its scripts changed, as a mistake would change it. */
import { Holdfast, type HoldfastOptions, type RedisClientLike } from "holdfast";
import type { SimClient } from "../sim/sim-client.js";

export interface Guard {
  /** What it does, for people. */
  readonly name: string;
  /** The line with the guard, and without it. Every script that has the line loses it. */
  readonly line: string;
  readonly without: string;
}

/** The class, and how often a script lost the guard: never means that it was not where it was thought to be. */
export function holdfastWithout(guard: Guard): {
  readonly library: typeof Holdfast;
  readonly changes: () => number;
} {
  let changes = 0;
  const changed = (words: readonly string[]): string[] => {
    const [command = "", source = "", ...rest] = words;
    if (command !== "EVAL" || !source.includes(guard.line)) return [...words];
    changes += 1;
    return [command, source.replace(guard.line, guard.without), ...rest];
  };
  class Guardless extends Holdfast {
    constructor(client: RedisClientLike | string, options?: HoldfastOptions) {
      super(changedClient(client as unknown as SimClient, changed) as unknown as RedisClientLike, options);
    }
  }
  return { library: Guardless, changes: () => changes };
}

/** The client as it is, but for the text of the scripts that it sends. */
function changedClient(client: SimClient, changed: (words: readonly string[]) => string[]): SimClient {
  return new Proxy(client, {
    get(target, name) {
      if (name === "call") return (...words: string[]) => target.call(...changed(words));
      if (name === "pipeline")
        return (commands: [string, ...string[]][]) =>
          target.pipeline(commands.map(([call, ...words]) => [call, ...changed(words)]));
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
