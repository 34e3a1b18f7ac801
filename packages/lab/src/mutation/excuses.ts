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
  [
    "locks/backends/redis/release.lua: mine == ' ' .. id .. ' ' → false",
    "cost",
    "the short way where nobody waits; the long one below does the same",
  ],
  [
    "locks/backends/redis/release.lua: mine == '+' .. id .. ' ' and not barging → false",
    "cost",
    "the short way of a hand-over; the long one below does the same",
  ],
  [
    "locks/backends/redis/release.lua: entry and keep_ms and expiry_ms > tonumber(keep_ms) → false",
    "cost",
    "the short way of a hand-over; the long one below does the same",
  ],
  [
    "locks/backends/redis/release.lua: lives and floor == '0' and string.sub(held, 1, 16) < now → false",
    "cost",
    "the short way of a hand-over; the long one below does the same",
  ],
  [
    "locks/backends/redis/release.lua: not freed.err → false",
    "cost",
    "it is freed once more, by the long way, in the same script",
  ],
  [
    "locks/backends/redis/take.lua: not state or (#state == 17 and string.find(state, '^%d+ $') and string.sub(state, 1, 16) < now) → false",
    "cost",
    "what `take` leaves, `acquire` takes",
  ],
  [
    "locks/backends/redis/acquire.lua: state.left_ms == 0 and state.flag == ' ' → false",
    "cost",
    "the short way of a free lock; the long one below does the same",
  ],
  [
    "locks/backends/redis/_line.lua: state.flag == '+' → false",
    "cost",
    "a flag that is up is written once more",
  ],
  [
    "lease/keeper.ts: !this.#holds.has(hold) → false",
    "cost",
    "the first visit of the rounds looks again, and a hold that is over has no time left",
  ],
  [
    "lease/keeper.ts: this.#renewals.value → true",
    "unit",
    "in a world all code is loaded; packages/holdfast/test/parts.test.ts lets it load late",
  ],
  [
    "lease/keeper.ts: this.#holds.has(hold) → ",
    "unit",
    "in a world all code is loaded; packages/holdfast/test/parts.test.ts lets it load late",
  ],
];

export function excuseOf({ key }: Mutant): Excuse | undefined {
  const found = excuses.find(([begin]) => key.startsWith(begin));
  return found && { kind: found[1], why: found[2] };
}
