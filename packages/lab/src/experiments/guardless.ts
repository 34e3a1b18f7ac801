/** holdfast without one of its guards: a line of a script that is marked with `-- guard: …`, and left out. */
import { Holdfast, type HoldfastOptions, type RedisClientLike } from "holdfast";
import type { SimClient } from "../sim/sim-client.js";

export interface Guardless {
  readonly library: typeof Holdfast;
  /** The line that was left out; null while no script with it was sent. */
  readonly removed: () => string | null;
}

/** @param guard what the mark says, "token rises"; every script that has the line loses it */
export function holdfastWithout(guard: string): Guardless {
  const marked = new RegExp(`^(.*) -- guard: ${guard}$`, "m");
  let removed: string | null = null;
  const changed = (words: readonly string[]): string[] => {
    const [command = "", source = "", ...rest] = words;
    const line = command.toLowerCase() === "eval" ? marked.exec(source)?.[1] : undefined;
    if (line === undefined) return [...words];
    removed = line.trim();
    return [command, source.replace(marked, ""), ...rest];
  };
  class Unguarded extends Holdfast {
    constructor(client: RedisClientLike | string, options?: HoldfastOptions) {
      super(changedClient(client as unknown as SimClient, changed) as unknown as RedisClientLike, options);
    }
  }
  return { library: Unguarded, removed: () => removed };
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
