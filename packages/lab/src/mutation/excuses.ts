/** Mutants that nobody needs to kill in a simulation, each with the reason. */
import type { Mutant } from "./mutant.js";

export interface Excuse {
  /**
   * - equivalent: no run of the program can be told from another
   * - cost: only slower, or more calls
   * - people: only what people are told
   * - unit: a test of the library sees it, where the simulator cannot; `why` names it
   */
  readonly kind: "equivalent" | "cost" | "people" | "unit";
  readonly why: string;
}

/** By the key of the mutant, or by its beginning. */
const excuses: readonly (readonly [key: string, kind: Excuse["kind"], why: string])[] = [
  ["locks/backends/redis/server-clock.ts: ", "people", "what it knows is only told: clock-jump, token-ahead"],
];

export function excuseOf({ key }: Mutant): Excuse | undefined {
  const found = excuses.find(([begin]) => key.startsWith(begin));
  return found && { kind: found[1], why: found[2] };
}
